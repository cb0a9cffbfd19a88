//! Keys: which are asked for, and how each format is given one.

use crate::model_server::format::Format;
use crate::model_server::http::Request;
use crate::model_server::illegal::{Illegal, Rule};

/// Which keys are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Any, but there must be one.
    Any,
    /// This one.
    Only(String),
    /// None is needed, as with servers on one's own machine.
    Unneeded,
}

impl Keys {
    /// Checks the key of a request.
    pub(in crate::model_server) fn admit(&self, request: &Request, format: Format) -> Result<(), Illegal> {
        let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let given = match format {
            Format::Chat | Format::Responses => bearer,
            Format::Anthropic => request.header("x-api-key").or(bearer),
            Format::Gemini => request.header("x-goog-api-key").or_else(|| request.query("key")).or(bearer),
        };
        let given = given.map(str::trim).filter(|key| !key.is_empty());
        match (self, given) {
            (Self::Unneeded, _) | (Self::Any, Some(_)) => Ok(()),
            (Self::Only(key), Some(given)) if key == given => Ok(()),
            (_, None) => Err(missing(format)),
            (_, Some(_)) => Err(wrong(format)),
        }
    }
}

fn missing(format: Format) -> Illegal {
    let (status, message) = match format {
        Format::Chat | Format::Responses => (
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. \
             Authorization: Bearer YOUR_KEY).",
        ),
        Format::Anthropic => (401, "x-api-key header is required"),
        Format::Gemini => (
            403,
            "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form \
             of API consumer identity to call this API.",
        ),
    };
    Illegal::new(format, Rule::Key, message).with_status(status)
}

fn wrong(format: Format) -> Illegal {
    let (status, message) = match format {
        Format::Chat | Format::Responses => (401, "Incorrect API key provided."),
        Format::Anthropic => (401, "invalid x-api-key"),
        Format::Gemini => (400, "API key not valid. Please pass a valid API key."),
    };
    Illegal::new(format, Rule::Key, message).with_status(status)
}
