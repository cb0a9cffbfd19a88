//! What readers hand on to whoever writes: sessions line by line, and how reading them ended.

use ramus_interchange::Loss;
use ramus_model::{Blob, Header};

use super::print::Print;
use super::source::Looked;
use crate::error::EngineError;

/// What is handed on.
pub(super) enum Message {
    /// A session that is not here begins.
    Session(Box<Header>),
    /// Whole lines of it.
    Lines(Vec<u8>),
    /// What its lines refer to.
    Blob(Blob),
    /// It is complete.
    Complete(Summary),
    /// A session that was here is as it should be now.
    Settled(Summary, Change),
    /// A session is left alone, and why.
    Skipped(String, &'static str),
    /// The source was read to its end, or as far as it could be.
    Ended(Box<Outcome>),
}

impl Message {
    /// How much memory it holds, where that may be much.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Lines(lines) => lines.capacity(),
            Self::Blob(blob) => blob.bytes().len(),
            _ => 0,
        }
    }
}

/// How reading a source ended.
pub(super) struct Outcome {
    pub(super) result: Result<(), Failed>,
    pub(super) looked: Looked,
    /// When it was begun.
    pub(super) began: i64,
}

/// Why a source could not be read.
pub(super) enum Failed {
    /// It must be read once more, when what is on its way has come.
    Again,
    /// Nobody reads on.
    Ended,
    /// It is no session, and nobody said that it is one.
    Unknown,
    /// What is wrong with it.
    Reason(String),
    /// What is wrong with the home, which concerns all that come after.
    Home(EngineError),
}

/// What became of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) id: String,
    pub(super) agent: &'static str,
    pub(super) entries: usize,
    pub(super) branches: usize,
    pub(super) added: usize,
    pub(super) changed: usize,
    pub(super) losses: Vec<Loss>,
    /// What its copies are known by.
    pub(super) print: Print,
}

/// Whether a session that was here is another now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Grown,
}

/// Why a source must be read once more.
#[derive(Debug, thiserror::Error)]
pub(super) enum Again {
    /// Another source gives the same session, which is not there yet.
    #[error("another file holds the same session")]
    Coming,
    /// Nobody reads on.
    #[error("the import has ended")]
    Ended,
}
