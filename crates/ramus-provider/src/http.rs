//! One request over HTTP, and its answer as it comes in.
//!
//! The invariants: status and headers are judged before anything is streamed; a stream ends with the end of a complete
//! answer or with exactly one error; nothing limits how long an answer may take, only how long nothing may come; dropping
//! the stream closes the connection; the key goes to the host it was given for and nowhere else.

mod answer;
mod events;
mod retry_after;

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use ramus_model::delta::Delta;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url};

use crate::error::ProviderError;
use crate::fault::Fault;
use crate::secret::Secret;
use crate::wire::{Api, Decoder, excerpt};
use answer::Answer;

/// The most of a body that is read when it is not an answer.
const MOST_OF_FAULT: usize = 64 * 1024;

/// How long is waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the next piece of an answer, the first one included. Local models read long prompts for minutes before they
    /// say anything.
    pub idle: Duration,
    /// For the usage of an answer that is complete otherwise.
    pub straggler: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { connect: Duration::from_secs(15), idle: Duration::from_secs(300), straggler: Duration::from_secs(5) }
    }
}

/// Makes connections. Proxies of the system are used, but not to reach this machine.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    far: Client,
    near: Client,
    pub(crate) patience: Patience,
}

impl Http {
    pub(crate) fn new(patience: Patience) -> Result<Self, String> {
        let client = || {
            Client::builder()
                .user_agent(concat!("ramus/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(patience.connect)
                .tcp_keepalive(Duration::from_secs(30))
                // A redirect would carry the key to whoever is named there.
                .redirect(reqwest::redirect::Policy::none())
        };
        let built = |builder: reqwest::ClientBuilder| builder.build().map_err(|error| error.to_string());
        Ok(Self { far: built(client())?, near: built(client().no_proxy())?, patience })
    }

    pub(crate) fn client(&self, url: &Url) -> &Client {
        if is_loopback(url) { &self.near } else { &self.far }
    }
}

/// Says whether an address is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
            address.is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// A request that is ready to be sent.
pub(crate) struct Post {
    pub(crate) url: Url,
    /// Headers, all of which are kept secret: some hold keys, and nobody needs to see the others.
    pub(crate) headers: Vec<(HeaderName, Secret)>,
    /// The key, without what stands around it in a header.
    pub(crate) bare_key: Option<Secret>,
    pub(crate) body: Vec<u8>,
}

impl Post {
    fn host(&self) -> String {
        let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", self.url.host_str().unwrap_or_default())
    }

    /// Everything that must not come back in a message.
    fn secrets(&self) -> Secrets {
        let headers = self.headers.iter().map(|(_, secret)| secret.clone());
        headers.chain(self.bare_key.clone()).collect()
    }

    /// Takes everything secret out of a text.
    fn scrub(&self, text: String) -> String {
        self.secrets().iter().fold(text, |text, secret| secret.scrub(text))
    }
}

/// Sends a request and streams its answer. Nothing is sent before the stream is polled.
pub(crate) fn stream(
    http: Http,
    post: Post,
    decoder: Box<dyn Decoder>,
) -> BoxStream<'static, Result<Delta, ProviderError>> {
    let asked = async move {
        let (response, secrets) = send(&http, post).await?;
        Ok(Answer::new(response, decoder, http.patience, secrets))
    };
    let answered = stream::once(asked).flat_map(|asked| match asked {
        Ok(answer) => answer.deltas().left_stream(),
        Err(error) => stream::once(std::future::ready(Err(error))).right_stream(),
    });
    answered.boxed()
}

/// Reads an answer from the chunks of a body as they would come over a connection: for recorded answers.
pub fn read_answer(
    api: Api,
    asked: &str,
    chunks: BoxStream<'static, Result<Bytes, String>>,
    patience: Patience,
) -> BoxStream<'static, Result<Delta, ProviderError>> {
    Answer::of_chunks(chunks, api.decoder(asked), patience, Secrets::new()).deltas().boxed()
}

/// The headers of a request, for taking them out of what comes back.
pub(crate) type Secrets = Vec<Secret>;

async fn send(http: &Http, mut post: Post) -> Result<(Response, Secrets), ProviderError> {
    let idle = http.patience.idle;
    let body = Bytes::from(std::mem::take(&mut post.body));
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(reqwest::header::ACCEPT, HeaderValue::from_static("text/event-stream"));
    for (name, secret) in &post.headers {
        let mut value = HeaderValue::from_str(secret.reveal()).map_err(|_| ProviderError::Denied {
            message: format!("the value of the header {name} has characters that no header can have"),
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let sent = http.client(&post.url).post(post.url.clone()).headers(headers).body(body).send();
    let response = match tokio::time::timeout(idle, sent).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(unsent(&post, error)),
        Err(_) => return Err(ProviderError::Stalled { after: idle }),
    };
    let response = check(response, &post, idle).await?;
    Ok((response, post.secrets()))
}

/// A request that got no answer.
fn unsent(post: &Post, error: reqwest::Error) -> ProviderError {
    let is_connect = error.is_connect() || error.is_timeout();
    let message = post.scrub(causes(&error.without_url()));
    if is_connect {
        ProviderError::Unreachable { host: post.host(), message }
    } else {
        ProviderError::Broken { message }
    }
}

/// An error with everything that caused it: the outermost says the least.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !told.contains(&text) {
            told = format!("{told}: {text}");
        }
        cause = error.source();
    }
    told
}

/// Judges an answer by its status and by what it says it is.
async fn check(response: Response, post: &Post, idle: Duration) -> Result<Response, ProviderError> {
    let status = response.status();
    if status.is_redirection() {
        let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("somewhere else");
        let to = post.url.join(to).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or(to.to_owned());
        let message = format!("{} sends us to {to}; set the base URL to where the provider is", post.host());
        return Err(ProviderError::NotFound { message: post.scrub(message) });
    }
    if !status.is_success() {
        let after = retry_after::read(response.headers(), std::time::SystemTime::now());
        let body = post.scrub(beginning(response, idle).await);
        return Err(Fault::in_answer(status.as_u16(), after, &body).judge());
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_ascii_lowercase();
    // Some servers do not say what they send, or only that it is text.
    let is_stream = content_type.contains("event-stream") || content_type.is_empty();
    if is_stream || content_type.starts_with("text/plain") || content_type.starts_with("application/octet-stream") {
        return Ok(response);
    }
    let body = post.scrub(beginning(response, idle).await);
    Err(match Fault::in_good_answer(&body) {
        Some(fault) => fault.judge(),
        None => ProviderError::NotSse { content_type, message: excerpt(&body, 200) },
    })
}

/// Reads the beginning of a body. What cannot be read of it is not missed.
async fn beginning(mut response: Response, idle: Duration) -> String {
    let mut body = Vec::new();
    while body.len() < MOST_OF_FAULT {
        match tokio::time::timeout(idle, response.chunk()).await {
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            _ => break,
        }
    }
    body.truncate(MOST_OF_FAULT);
    String::from_utf8_lossy(&body).into_owned()
}
