//! A provider that plays a script: what models do, at will and without one.
//!
//! A script is a list of answers, as TOML or JSON. The first request gets the first answer, the second the second, and one
//! more request than there are answers is an error. An answer is a list of steps, each with exactly one of these members:
//!
//! | step | what comes |
//! | --- | --- |
//! | `text = "…"` or `["…", "…"]` | text, in one piece or in several |
//! | `thinking = "…"` or `["…", "…"]` | a thought; `seal = "…"` beside it seals it |
//! | `call = { name = "…", arguments = { … } }` | a call; `id` and `seal` are optional, and `arguments` may be a string, or a list of strings that come one by one and need not be JSON |
//! | `usage = { input = 1, output = 2, cache_read = 3, cache_write = 4 }` | what was used |
//! | `delay_ms = 20` | nothing, for so long |
//! | `finish = "stop"` | the end: `stop`, `calls`, `length`, or `refused` with the reason in `message` |
//! | `error = "busy"` | a failure: `busy` (with `retry_after_ms`), `overflow` (with `needed` and `available`), `denied`, `history`, `invalid`, `not-found`, `failed`, `broken`, `truncated`, `stalled`; `message` is optional |
//! | `hang = true` | nothing, for ever |
//!
//! `title = "…"` beside the answers is the title that a session gets which is asked for one; without it none is asked for, so
//! a script is asked exactly as often as it has answers.
//!
//! An answer that does not say how it ends is complete: it ends with `calls` when it makes any, else with `stop`.
//!
//! ```toml
//! [[answers]]
//! steps = [
//!     { thinking = "Let me look.", seal = "s1" },
//!     { text = ["I will ", "read it."] },
//!     { call = { name = "read", arguments = { path = "a.txt" } } },
//!     { usage = { input = 100, output = 20 } },
//! ]
//!
//! [[answers]]
//! steps = [{ delay_ms = 20 }, { text = "Done." }]
//! ```

mod play;
mod script;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::stream::{self, StreamExt as _};
use ramus_model::delta::{Delta, Finish};
use ramus_model::request::Request;
use thiserror::Error;

use crate::error::ProviderError;
use crate::provider::{Deltas, Provider};
use script::Script;

/// Why a script cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name}: {message}")]
pub struct ScriptError {
    name: String,
    message: String,
}

/// Plays a script.
#[derive(Debug)]
pub struct Scripted {
    script: Arc<Script>,
    /// Tells the answers of this play from those of all others, as the names that real providers give do.
    play: String,
    asked: AtomicUsize,
}

impl Scripted {
    /// Reads a script. JSON begins with a brace; everything else is TOML. `name` is what errors call it.
    pub fn new(text: &str, name: &str) -> Result<Self, ScriptError> {
        let script = Script::read(text).map_err(|message| ScriptError { name: name.to_owned(), message })?;
        // Every hasher that is made so is keyed otherwise.
        let play = format!("{:016x}", RandomState::new().build_hasher().finish());
        Ok(Self { script: Arc::new(script), play, asked: AtomicUsize::new(0) })
    }

    /// Returns how often it was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn api(&self) -> &'static str {
        "scripted"
    }

    fn title(&self, _: Request) -> Option<Deltas> {
        let title = self.script.title.clone()?;
        Some(stream::iter([Ok(Delta::Text(title)), Ok(Delta::Finished(Finish::Stop))]).boxed())
    }

    fn stream(&self, _: Request) -> Deltas {
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        match self.script.answers.get(number) {
            Some(answer) => play::play(answer, (&self.play, number)).boxed(),
            None => {
                let count = self.script.answers.len();
                let message = format!("it has {count} answers, and this is request {}", number + 1);
                stream::once(std::future::ready(Err(ProviderError::Script { message }))).boxed()
            }
        }
    }
}
