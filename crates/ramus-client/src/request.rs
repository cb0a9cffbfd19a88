//! One request, and what its answer means.

use std::error::Error as _;
use std::fs::File;

use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_MATCH};
use reqwest::{Method, Response, Url};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::client::Client;
use crate::error::{Error, Refusal};
use crate::upload::Upload;

/// The version of the shapes that are understood.
const VERSION: u64 = 1;

/// How much of an answer that is none of ours is looked at.
const SHOWN: usize = 80;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const SURFACE: HeaderName = HeaderName::from_static("ramus-client");
const LAST: HeaderName = HeaderName::from_static("last-event-id");

/// A request that was not sent yet.
#[derive(Debug)]
pub struct Request<'c> {
    client: &'c Client,
    method: Method,
    url: Url,
    body: Body,
    headers: Vec<(HeaderName, String)>,
}

/// What is sent.
#[derive(Debug)]
enum Body {
    Whole(Vec<u8>),
    File(Upload),
}

impl<'c> Request<'c> {
    pub(crate) fn new(client: &'c Client, method: Method, parts: &[&str]) -> Self {
        let mut url = client.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.clear().extend(["api", "v1"]).extend(parts);
        }
        Self { client, method, url, body: Body::Whole(Vec::new()), headers: Vec::new() }
    }

    pub(crate) fn at(client: &'c Client, method: Method, path: &str) -> Self {
        let mut url = client.base.clone();
        url.set_path(path);
        Self { client, method, url, body: Body::Whole(Vec::new()), headers: Vec::new() }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn query(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.url.query_pairs_mut().append_pair(name, value.as_ref());
        self
    }

    /// Adds a parameter, if there is one.
    #[must_use]
    pub fn maybe(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Adds a parameter that is true or not there.
    #[must_use]
    pub fn flag(self, name: &str, is_set: bool) -> Self {
        if is_set { self.query(name, "true") } else { self }
    }

    /// Brings a body. What is no JSON is sent as an empty one, which the server refuses where it needs one.
    #[must_use]
    pub fn json(self, body: &impl Serialize) -> Self {
        self.body(serde_json::to_vec(body).unwrap_or_default())
    }

    /// Brings a body that is JSON already.
    #[must_use]
    pub fn body(mut self, body: Vec<u8>) -> Self {
        self.body = Body::Whole(body);
        self
    }

    /// Brings a body that is JSON in a file, from where that stands to its end. It is sent as it is read.
    pub fn file(mut self, file: File) -> Result<Self, Error> {
        let unread = |error: std::io::Error| Error::Setup(format!("cannot read what shall be sent: {error}"));
        self.body = Body::File(Upload::of(file).map_err(unread)?);
        Ok(self)
    }

    /// Has a write made only when the log has exactly so many entries.
    #[must_use]
    pub fn expecting(mut self, position: Option<u64>) -> Self {
        self.headers.extend(position.map(|position| (IF_MATCH, format!("\"{position}\""))));
        self
    }

    /// Has it done once, however often it is sent.
    #[must_use]
    pub fn once(mut self, key: &str) -> Self {
        self.headers.push((KEY, key.to_owned()));
        self
    }

    pub(crate) fn after(mut self, event: Option<&str>) -> Self {
        self.headers.extend(event.map(|event| (LAST, event.to_owned())));
        self
    }

    /// Sends it and reads the answer.
    pub async fn answer(self) -> Result<Answer, Error> {
        let client = self.client;
        let response = self.send("application/json").await?;
        let position = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok());
        let position = position.and_then(|tag| tag.trim_matches('"').parse().ok());
        let bytes = response.bytes().await.map_err(|error| broken(&client.name, &error))?;
        let mut members: Map<String, Value> =
            serde_json::from_slice(&bytes).map_err(|_| stranger(&client.name, &bytes))?;
        match members.shift_remove("schema_version").as_ref().and_then(Value::as_u64) {
            Some(VERSION) => Ok(Answer::new(members, position, &client.name)),
            Some(found) => Err(Error::Version { server: client.name.clone(), found }),
            None => Err(stranger(&client.name, &bytes)),
        }
    }

    /// Sends it and reads an answer that is no object of ours: a file, or a line as it is stored.
    pub async fn bytes(self) -> Result<Bytes, Error> {
        let client = self.client;
        let response = self.send("*/*").await?;
        response.bytes().await.map_err(|error| broken(&client.name, &error))
    }

    /// Sends it and hands the answer on piece by piece as it comes.
    pub async fn pieces(self, take: &mut (dyn FnMut(&[u8]) -> std::io::Result<()> + Send)) -> Result<(), Error> {
        let name = self.client.name.clone();
        let mut response = self.send("*/*").await?;
        while let Some(piece) = response.chunk().await.map_err(|error| broken(&name, &error))? {
            take(&piece).map_err(|error| Error::Broken { server: name.clone(), reason: error.to_string() })?;
        }
        Ok(())
    }

    /// Sends it; what is refused is an error.
    pub(crate) async fn send(self, accept: &'static str) -> Result<Response, Error> {
        let name = &self.client.name;
        let has_body = matches!(self.method, Method::POST | Method::PUT | Method::PATCH);
        let http = match &self.body {
            Body::Whole(_) => self.client.http.clone(),
            Body::File(_) => self.client.uploading()?,
        };
        let mut request = http.request(self.method, self.url).header(ACCEPT, accept);
        if let Some(token) = &self.client.token {
            let wrong = |_| Error::Setup("the token has characters that cannot be sent".into());
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.reveal())).map_err(wrong)?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        if let Some(surface) = self.client.surface() {
            request = request.header(SURFACE, surface);
        }
        for (header, value) in self.headers {
            request = request.header(header, value);
        }
        if has_body {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let sent = match self.body {
            Body::Whole(body) if has_body => request.body(body).send().await,
            Body::Whole(_) => request.send().await,
            Body::File(upload) => {
                let (progress, length) = (upload.progress(), upload.length());
                let sending = request.header(CONTENT_LENGTH, length).body(upload.into_body()).send();
                let late = || Error::Late { server: name.clone() };
                progress.wait(self.client.patience(), sending).await.ok_or_else(late)?
            }
        };
        let response = sent.map_err(|error| unsent(name, &error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() {
            let reason = "it sends elsewhere, and the token goes nowhere else".to_owned();
            return Err(Error::Stranger { server: name.clone(), reason });
        }
        let bytes = response.bytes().await.map_err(|error| broken(name, &error))?;
        Err(refusal(name, status.as_u16(), &bytes))
    }
}

/// Reads `{"error":{"kind","message","hint"}}`.
fn refusal(server: &str, status: u16, bytes: &[u8]) -> Error {
    let body: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let text = |name: &str| body.get("error")?.get(name)?.as_str().map(str::to_owned);
    let (Some(kind), Some(message)) = (text("kind"), text("message")) else {
        return Error::Stranger { server: server.to_owned(), reason: format!("it answers with status {status}") };
    };
    Error::Refused(Refusal { status, kind, message, hint: text("hint") })
}

fn stranger(server: &str, bytes: &[u8]) -> Error {
    let shown: String = String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control()).take(SHOWN).collect();
    Error::Stranger { server: server.to_owned(), reason: format!("it answers with {shown:?}") }
}

/// The innermost reason says most, and no layer of it holds the token.
fn reason(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    if error.source().is_some() { inner.to_string() } else { "the request failed".to_owned() }
}

fn unsent(server: &str, error: &reqwest::Error) -> Error {
    let server = server.to_owned();
    match error {
        error if error.is_connect() => Error::Unreachable { server, reason: reason(error) },
        error if error.is_timeout() => Error::Late { server },
        error => Error::Broken { server, reason: reason(error) },
    }
}

pub(crate) fn broken(server: &str, error: &reqwest::Error) -> Error {
    let server = server.to_owned();
    if error.is_timeout() { Error::Late { server } } else { Error::Broken { server, reason: reason(error) } }
}
