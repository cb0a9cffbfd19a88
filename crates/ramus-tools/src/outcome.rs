//! Outcomes: what comes of a call, as content for the model and details for programs.

use std::fs::File;

use ramus_witness::Reach;
use serde_json::{Value, json};

/// What came of a call.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The content of the result, as version 3 parts.
    pub content: Vec<Value>,
    /// Whether it failed.
    pub is_error: bool,
    /// Whether it was cancelled before it was done.
    pub is_cancelled: bool,
    /// What programs may want to know about it.
    pub details: Option<Value>,
    /// All of the output, when the content holds only part of it.
    pub spill: Option<Spill>,
    /// What the call can have changed; none when nobody knows.
    pub reach: Option<Reach>,
}

/// Output that is too long for a result, in a file without a name.
#[derive(Debug)]
pub struct Spill {
    /// The file, at its start.
    pub file: File,
    /// How many bytes it holds.
    pub length: u64,
    /// Whether there was more than may be kept.
    pub is_cut: bool,
}

impl Outcome {
    /// A result in words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![json!({"type": "text", "text": text.into()})], ..Self::default() }
    }

    /// A failure in words.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// The result of a call that was cancelled before it began to change anything.
    pub fn cancelled() -> Self {
        Self { is_error: true, is_cancelled: true, ..Self::text("Cancelled.") }
    }

    /// Adds details.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Returns the text of the content.
    pub fn as_text(&self) -> String {
        self.content.iter().filter_map(|part| part.get("text")?.as_str()).collect()
    }
}
