//! What requests say: bodies, queries and headers, and why they cannot be understood.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::header;
use axum::http::request::Parts;
use axum::response::IntoResponse as _;
use ramus_model::json::{self, Raw, Spelled};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::access::Owner;
use crate::error::{ApiError, Kind};

impl<S: Send + Sync> FromRequestParts<S> for Owner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // The guard put it there.
        let missing = || ApiError::new(Kind::Unauthenticated, "a token is needed");
        parts.extensions.get::<Self>().cloned().ok_or_else(missing)
    }
}

/// A JSON object as body. An empty one counts as an empty object.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        object(&received(request, state).await?).map(Self)
    }
}

/// A JSON object as body, as it is spelled.
pub(crate) struct Verbatim(pub(crate) Spelled);

impl<S: Send + Sync> FromRequest<S> for Verbatim {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let raw: Box<RawValue> = object(&received(request, state).await?)?;
        Ok(Self(Raw::parse(raw.get().as_bytes()).map(Spelled::of).unwrap_or_default()))
    }
}

impl Verbatim {
    /// Understands those of these members that there are. What is not named may be whatever it likes.
    pub(crate) fn members(&self, names: &[&str]) -> Result<Map<String, Value>, ApiError> {
        let named = names.iter().filter_map(|name| Some((*name, self.0.member(name)?)));
        named.map(|(name, raw)| Ok((name.to_owned(), understood(raw.bytes())?))).collect()
    }
}

/// Takes in a body. One that is empty counts as an empty object.
async fn received<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    let bytes = Bytes::from_request(request, state).await.map_err(unread)?;
    let is_empty = bytes.iter().all(u8::is_ascii_whitespace);
    Ok(if is_empty { Bytes::from_static(b"{}") } else { bytes })
}

/// Reads an object. What is no object means nothing here, also where its parts would fit in their order.
fn object<T: DeserializeOwned>(text: &[u8]) -> Result<T, ApiError> {
    if text.trim_ascii_start().first() == Some(&b'{') {
        return understood(text);
    }
    understood::<IgnoredAny>(text)?;
    Err(ApiError::invalid("the body is not what is expected here: it is no object"))
}

/// Reads JSON. What was cut in the middle of a character is JSON too, and is read as what can be shown of it.
fn understood<T: DeserializeOwned>(text: &[u8]) -> Result<T, ApiError> {
    let read = |text: &[u8]| serde_json::from_slice::<T>(text);
    let mended = |error: serde_json::Error| match json::mended(text).filter(|_| error.classify() != Category::Data) {
        Some(mended) => read(&mended),
        None => Err(error),
    };
    read(text).or_else(mended).map_err(|error| {
        // Where the first word is wrong already, readers do not look at the rest.
        match serde_json::from_slice::<IgnoredAny>(text).is_ok() {
            true => ApiError::invalid(format!("the body is not what is expected here: {error}")),
            false => ApiError::usage(format!("the body is not JSON: {error}")),
        }
    })
}

fn unread(rejection: BytesRejection) -> ApiError {
    match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(Kind::TooLarge, "the body is too large"),
        _ => ApiError::usage("the body did not come in whole"),
    }
}

/// A body that says nothing.
#[derive(Debug, Default, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// What stands behind the `?`.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let read = Query::try_from_uri(&parts.uri);
        read.map(|Query(value)| Self(value))
            .map_err(|error| ApiError::usage(format!("the query makes no sense: {}", error.body_text())))
    }
}

/// What stands in the path. Names are compared, never made into paths of files.
pub(crate) struct Named<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let read = axum::extract::Path::from_request_parts(parts, state).await;
        read.map(|axum::extract::Path(value)| Self(value))
            .map_err(|_| ApiError::usage("the path holds something that is no text"))
    }
}

/// How many entries the log must hold for a write to be made: `If-Match: "12"`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected(pub(crate) Option<u64>, IsThere);

/// Whether it must be there at all, however long it is: `If-Match: *`.
type IsThere = bool;

impl Expected {
    /// Says whether something must be there.
    pub(crate) fn is_something(self) -> bool {
        self.1
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Expected {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get(header::IF_MATCH) else { return Ok(Self::default()) };
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Ok(Self(None, true));
        }
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
        let wrong = || ApiError::usage("`If-Match` holds a position: the `ETag` of an answer about the session");
        inner.parse().map(|position| Self(Some(position), true)).map_err(|_| wrong())
    }
}

/// What makes two requests the same: `Idempotency-Key`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Key(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Some(value) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        let text = value.to_str().map(str::trim).unwrap_or_default();
        if text.is_empty() || text.len() > 255 {
            return Err(ApiError::usage("an idempotency key has 1 to 255 visible characters"));
        }
        Ok(Self(Some(text.to_owned())))
    }
}

/// Refuses what cannot be the working directory of a session.
pub(crate) fn check_directory(cwd: &str) -> Result<(), ApiError> {
    if std::path::Path::new(cwd).is_absolute() && !cwd.contains('\0') {
        return Ok(());
    }
    Err(ApiError::invalid("a working directory is an absolute path"))
}
