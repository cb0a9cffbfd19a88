//! Which of an owner's clients asks.

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use ramus_engine::Session;
use ramus_model::SessionId;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use utoipa::IntoParams;

use crate::access::Owner;
use crate::error::ApiError;

/// The client of requests that name none, and of sessions that other surfaces made.
const DEFAULT: &str = "default";

/// The free metadata that says which client a session belongs to.
pub(super) const CLIENT: &str = "client_id";

/// The longest name of a client.
const LONGEST: usize = 128;

/// How clients say who they are.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Whose {
    /// The client; otherwise the header `X-OKC-Client-ID`, the cookie `okc_client_id`, or `default`.
    #[serde(default)]
    client_id: Option<String>,
}

/// One of an owner's clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Client(String);

impl Client {
    #[cfg(test)]
    pub(super) fn called(name: &str) -> Self {
        Self(name.to_owned())
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }

    /// Says whether a session is this client's, by its free metadata.
    pub(crate) fn has(&self, metadata: &serde_json::Map<String, Value>) -> bool {
        metadata.get(CLIENT).and_then(Value::as_str).unwrap_or(DEFAULT) == self.0
    }

    /// The same, of an open session.
    pub(crate) fn has_session(&self, session: &Session) -> bool {
        self.has(&session.metadata())
    }

    /// Returns the id of the session that a client has. What deleted sessions left may take some of them.
    pub(super) fn session_id(&self, owner: &Owner, number: usize) -> SessionId {
        let digest = Sha256::new().chain_update(owner.name()).chain_update([0]).chain_update(&self.0).finalize();
        let mut name = hex::encode(digest);
        name.truncate(24);
        SessionId::new(if number == 0 { format!("client-{name}") } else { format!("client-{name}-{number}") })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let asked: Query<Whose> = Query::try_from_uri(&parts.uri)
            .map_err(|error| ApiError::usage(format!("the query makes no sense: {}", error.body_text())))?;
        let header = parts.headers.get("x-okc-client-id");
        let header = header
            .map(|value| value.to_str().map(str::to_owned).map_err(|_| ApiError::usage("a client id is plain text")))
            .transpose()?;
        let given = [asked.0.client_id, header, cookie(&parts.headers)];
        let named = given.into_iter().flatten().map(|name| name.trim().to_owned()).find(|name| !name.is_empty());
        let name = named.unwrap_or_else(|| DEFAULT.to_owned());
        if name.chars().count() > LONGEST || name.chars().any(char::is_control) {
            return Err(ApiError::usage(format!(
                "a client id has at most {LONGEST} characters, none of them invisible"
            )));
        }
        Ok(Self(name))
    }
}

fn cookie(headers: &HeaderMap) -> Option<String> {
    let mut lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.find_map(|line| {
        let mut pairs = line.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(name, _)| *name == "okc_client_id").map(|(_, value)| value.to_owned())
    })
}
