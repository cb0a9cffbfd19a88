//! Events: what happens to sessions, as it happens, and what happened, from any position on.
//!
//! What is durable is told from the log itself, in its order and with its `seq`, whoever wrote it: this process, another
//! one, or another program. So everything durable can be had again by asking from an earlier position, and nothing is
//! missed or told twice. What is not durable (words as they come, questions, retries) comes through a bus of this process.
//!
//! The invariant: nobody who listens slows anybody down who writes. Queues are bounded; who falls behind is told how much
//! was missed of what is not durable, and reads the rest from the log.

mod bus;
mod log;
mod stream;

use ramus_agent::Event;
use ramus_model::{Seq, SessionId};
use serde_json::{Map, Value, json};

use crate::error::EngineError;
use crate::session::Session;
pub(crate) use bus::Bus;
pub use stream::{Changes, Stream};

/// Something that happened to a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The session.
    pub session: SessionId,
    /// Where it is in the log, when it is durable.
    pub seq: Option<Seq>,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A session was made; this is what it is.
    Created(Value),
    /// Something that holds for the whole session changed; this is what it is now.
    Updated(Value),
    /// A session was deleted; this is what is known of what it was.
    Deleted(Value),
    /// The log was replaced by another one: positions that were told mean nothing any more.
    Reset {
        /// How many entries it holds now; what they tell is not told.
        entries: u32,
        /// What tells its positions from those before.
        epoch: Option<String>,
    },
    /// A turn went wrong.
    Error(String),
    /// So many events that are not durable were missed.
    Lagged(u64),
    /// Something of a turn or of its log.
    Event(Event),
}

impl Session {
    /// Returns what an entry of the session tells: the same whenever it is asked, so many events and in this order. An entry
    /// that belongs to another session tells nothing here.
    pub fn events_of(&self, seq: Seq) -> Result<Vec<Told>, EngineError> {
        if self.log().belongs(seq) { log::of_entry(self, seq) } else { Ok(Vec::new()) }
    }
}

impl Told {
    /// Tells that a session was deleted of which only the id is known.
    pub fn deleted(session: SessionId) -> Self {
        let info = json!({"id": session.as_str()});
        Self { session, seq: None, what: What::Deleted(info) }
    }

    /// Returns the name that every surface uses.
    pub fn name(&self) -> &'static str {
        match &self.what {
            What::Created(_) => "session.created",
            What::Updated(_) => "session.updated",
            What::Deleted(_) => "session.deleted",
            What::Reset { .. } => "reset",
            What::Error(_) => "session.error",
            What::Lagged(_) => "lagged",
            What::Event(event) => event.name(),
        }
    }

    /// Says whether it is a piece of an answer, in the words of this session or of one below it.
    pub fn is_piece(&self) -> bool {
        matches!(&self.what, What::Event(event) if event.is_piece())
    }

    /// Returns about how many bytes it has beside its names.
    pub fn weight(&self) -> usize {
        match &self.what {
            What::Event(event) => event.weight(),
            What::Error(error) => error.len(),
            What::Created(_) | What::Updated(_) | What::Deleted(_) | What::Reset { .. } | What::Lagged(_) => 0,
        }
    }

    /// Returns it as programs are told.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut object = Map::from_iter([("type".to_owned(), Value::from(self.name()))]);
        object.insert("session".to_owned(), self.session.as_str().into());
        match &self.what {
            What::Created(info) | What::Updated(info) | What::Deleted(info) => {
                drop(object.insert("info".to_owned(), info.clone()));
            }
            What::Reset { entries, .. } => drop(object.insert("seq".to_owned(), (*entries).into())),
            What::Error(error) => drop(object.insert("error".to_owned(), error.as_str().into())),
            What::Lagged(missed) => drop(object.insert("missed".to_owned(), (*missed).into())),
            What::Event(event) => {
                if let Value::Object(members) = event.to_json() {
                    object.extend(members.into_iter().filter(|(name, _)| name != "type"));
                }
            }
        }
        object.extend(self.seq.map(|seq| ("seq".to_owned(), Value::from(seq.number()))));
        object
    }
}
