//! `evict`: messages are left out of what a model is sent until enough tokens are free. They stay in the log: an entry says
//! that they are left out, and going back to before it undoes it.

use ramus_model::blob::Restore;
use ramus_model::budget;
use ramus_model::context::provider;
use ramus_model::{Body, Draft, EntryId, Seq};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;

/// What was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evicted {
    /// The messages, oldest first.
    pub entries: Vec<EntryId>,
    /// How many tokens they are estimated to have.
    pub freed: u64,
    /// How many were to be freed.
    pub needed: u64,
}

impl Evicted {
    /// Says whether as much was freed as was needed.
    pub fn is_enough(&self) -> bool {
        self.freed >= self.needed
    }
}

impl Engine {
    /// Leaves messages out of the context of the leaf until `needed` tokens are free. What can be left out may be less; when
    /// it is nothing, that is an error.
    pub fn evict(&self, session: &mut Session, needed: u64, dry_run: bool) -> Result<Evicted, EngineError> {
        let context = session.context(session.log().leaf())?;
        let messages = provider::messages(session.log(), &context, &session.restored_lines(Restore::Texts))?;
        let weights = budget::weights(session.log(), &messages, &*self.counter);
        let eviction = budget::evict(&weights.iter().map(|(_, weight)| *weight).collect::<Vec<_>>(), needed);
        let seqs: Vec<Seq> =
            eviction.removed.iter().filter_map(|at| weights.get(*at).and_then(|(seq, _)| *seq)).collect();
        let entries: Vec<EntryId> = seqs.iter().map(|seq| session.entry_id(*seq)).collect();
        if entries.is_empty() && needed > 0 {
            return Err(EngineError::ContextFull { needed, available: 0 });
        }
        if !dry_run {
            let edit = |id: &EntryId| {
                let members = [("targetId", Value::from(id.as_str())), ("replacement", Value::Null)];
                Draft::new(Body::new("context_edit", members))
            };
            let mut doing = Doing::several("evict", self, session);
            self.record(session, &mut doing, entries.iter().map(edit).collect())?;
        }
        Ok(Evicted { entries, freed: eviction.freed, needed })
    }
}
