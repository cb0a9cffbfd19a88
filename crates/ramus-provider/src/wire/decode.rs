//! What all decoders have in common.

use ramus_model::delta::Delta;
use ramus_model::json::Object;

use super::names::is_dated;
use crate::error::ProviderError;

/// One event of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// What it says it is, outside of its data.
    pub name: Option<&'a str>,
    /// Its data.
    pub data: &'a str,
}

/// Understands one answer, event by event.
pub trait Decoder: Send {
    /// Takes in an event and returns what it says. After an error nothing more must be taken in.
    fn take(&mut self, event: Event<'_>) -> Result<Vec<Delta>, ProviderError>;

    /// Judges an answer of which nothing more comes: what is left to say when it is complete,
    /// [`ProviderError::Truncated`] when it is not.
    fn end(&mut self) -> Result<Vec<Delta>, ProviderError>;

    /// Says whether the answer is complete but for its usage: who waits, waits no longer than for a straggler.
    fn is_finished(&self) -> bool;

    /// Says whether nothing can come any more. What is left to say was said.
    fn is_over(&self) -> bool;
}

/// Reads the data of an event.
pub(crate) fn object(data: &str) -> Result<Object<'_>, ProviderError> {
    Object::parse(data.as_bytes()).ok_or_else(|| ProviderError::BadAnswer {
        message: format!("an event is no JSON object: {}", excerpt(data, 120)),
    })
}

/// Returns the beginning of a text, for people.
pub(crate) fn excerpt(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// Returns the start of an answer. The model is named only when it is the one that was asked for, more precisely: sealed
/// thoughts are given back to the model they are stored under, and that must be the one that is asked for next time too.
pub(crate) fn started(asked: &str, response: Option<String>, model: Option<&str>) -> Delta {
    let precise = model.filter(|model| is_dated(asked, model)).map(str::to_owned);
    Delta::Started { response: response.filter(|id| !id.is_empty()), model: precise }
}
