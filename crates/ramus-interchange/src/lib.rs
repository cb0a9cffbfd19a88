//! Sessions of other agents: read into the entries of our log, and written back so that the agent itself resumes them.
//!
//! A [`Codec`] turns a foreign file into entries of version 3, which a [`Sink`] takes, and a [`Passage`] of such entries
//! into a file of that agent. What an entry cannot say is kept with it, verbatim, and put back when the session is written
//! for the agent it came from. Nothing here knows the engine, and nothing that is read becomes a permission.
//!
//! ```
//! use ramus_interchange::{Format, Jsonl, MemorySource, detect};
//!
//! let file = br#"{"type":"user","uuid":"9ef40646-dd60-4ed0-9166-ee4ecd4f3a92","parentUuid":null,"sessionId":"aaaaaaaa-0000-4000-8000-000000000001","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/home/ada","message":{"role":"user","content":"hi"}}"#;
//! assert_eq!(detect("a.jsonl", file), Some(Format::Claude));
//! let source = MemorySource::new("aaaaaaaa-0000-4000-8000-000000000001.jsonl", file);
//! let mut sessions = Jsonl::default();
//! let report = Format::Claude.codec().read(&source, &mut sessions)?;
//! assert_eq!((report.records, report.entries), (1, 1));
//! # Ok::<(), ramus_interchange::Error>(())
//! ```

mod arrange;
mod atif;
mod claude;
mod codec;
mod codex;
mod compose;
mod directory;
mod emit;
mod error;
mod expand;
mod format;
mod front;
pub mod fuzz;
mod gemini;
mod goose;
mod jsonl;
mod limits;
mod lines;
mod losses;
mod mapping;
mod okcvm;
mod opal;
mod opencode;
mod order;
mod origin;
mod passage;
mod pi;
pub mod place;
mod record;
mod shepherd;
mod sink;
mod source;
mod sqlite;
mod step;
mod surrogates;
mod target;
mod todo;

pub use codec::{Codec, Place, TAKEN_ID, taken_id};
pub use error::Error;
pub use format::{Format, detect};
pub use jsonl::{Jsonl, JsonlSession};
pub use limits::Limits;
pub use losses::LABELS;
pub use origin::{MEMBER, without_origin};
pub use passage::{LogPassage, Passage};
pub use sink::{Entry, ForkPoint, Loss, Report, Sink, Start};
pub use source::{MemorySource, Source, Wanted};
pub use target::{MemoryTarget, Target};
