//! Where a provider is, and how it is spoken to there.

use std::fmt::Write as _;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName};

use crate::http::Post;
use crate::secret::Secret;
use crate::wire::{Api, Dialect};

/// A provider's address, language and key.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) name: String,
    pub(crate) api: Api,
    /// Without a slash at its end.
    pub(crate) base: Url,
    pub(crate) key: Option<Secret>,
    pub(crate) headers: Vec<(HeaderName, Secret)>,
}

impl Endpoint {
    /// Only OpenAI's own server knows everything that OpenAI documents.
    pub(crate) fn dialect(&self) -> Dialect {
        let host = self.base.host_str().unwrap_or_default();
        let is_original = host == "api.openai.com" || host.ends_with(".openai.azure.com");
        if is_original { Dialect::Original } else { Dialect::Compatible }
    }

    /// Makes the request that asks `model`.
    pub(crate) fn post(&self, model: &str, body: Vec<u8>) -> Post {
        let secret = |name, prefix: &str| {
            let key = self.key.as_ref().filter(|key| !key.is_empty())?;
            Some((name, Secret::new(format!("{prefix}{}", key.reveal()))))
        };
        let key = match self.api {
            Api::Completions | Api::Responses => secret(AUTHORIZATION, "Bearer "),
            Api::Anthropic => secret(HeaderName::from_static("x-api-key"), ""),
            Api::Gemini => secret(HeaderName::from_static("x-goog-api-key"), ""),
        };
        let version = (self.api == Api::Anthropic)
            .then(|| (HeaderName::from_static("anthropic-version"), Secret::new("2023-06-01")));
        // What the settings say comes last and wins.
        let headers = key.into_iter().chain(version).chain(self.headers.iter().cloned()).collect();
        Post { url: self.url(model), headers, bare_key: self.key.clone(), body }
    }

    fn url(&self, model: &str) -> Url {
        let mut url = self.base.clone();
        let path = url.path().trim_end_matches('/').to_owned();
        match self.api {
            Api::Completions => url.set_path(&format!("{path}/chat/completions")),
            Api::Responses => url.set_path(&format!("{path}/responses")),
            Api::Anthropic => url.set_path(&format!("{path}/v1/messages")),
            Api::Gemini => {
                let model = segment(model.strip_prefix("models/").unwrap_or(model));
                url.set_path(&format!("{path}/v1beta/models/{model}:streamGenerateContent"));
                url.set_query(Some("alt=sse"));
            }
        }
        url
    }
}

/// A name as one segment of a path, whatever it is.
fn segment(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Reads a base URL. `host:port` will do for a server on this machine, as Ollama's variable has it.
pub(crate) fn base_url(text: &str) -> Result<Url, String> {
    let text = text.trim();
    let spelled = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let mut url = Url::parse(&spelled).map_err(|error| format!("is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("must begin with http:// or https://".to_owned());
    }
    // The address to listen on everywhere is not one to talk to.
    if url.host_str() == Some("0.0.0.0") {
        url.set_host(Some("127.0.0.1")).map_err(|error| error.to_string())?;
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(api: Api, base: &str, model: &str) -> String {
        let base = base_url(base).unwrap();
        Endpoint { name: String::new(), api, base, key: None, headers: Vec::new() }.url(model).to_string()
    }

    #[test]
    fn addresses_follow_from_the_base() {
        assert_eq!(
            url(Api::Completions, "http://127.0.0.1:18181/v1", "m"),
            "http://127.0.0.1:18181/v1/chat/completions"
        );
        assert_eq!(url(Api::Responses, "https://api.openai.com/v1/", "m"), "https://api.openai.com/v1/responses");
        assert_eq!(url(Api::Anthropic, "https://api.anthropic.com", "m"), "https://api.anthropic.com/v1/messages");
        assert_eq!(
            url(Api::Gemini, "http://localhost:1/", "models/gemini-2.5-pro"),
            "http://localhost:1/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
        );
        assert_eq!(
            url(Api::Gemini, "http://h", "../../x?y#z/ä"),
            "http://h/v1beta/models/..%2F..%2Fx%3Fy%23z%2F%C3%A4:streamGenerateContent?alt=sse"
        );
        assert_eq!(url(Api::Completions, "0.0.0.0:11434", "m"), "http://127.0.0.1:11434/chat/completions");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for wrong in ["", "ftp://host", "http://", "file:///etc/passwd", "http://[::1"] {
            assert!(base_url(wrong).is_err(), "{wrong}");
        }
    }
}
