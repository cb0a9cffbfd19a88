//! Forks of a tree, made by the engine in a home that is in memory.

use std::sync::Arc;

use ramus_engine::{Engine, EngineError, ForkOptions};
use ramus_model::Seq;
use ramus_model::context::provider::{self, Outgoing};
use ramus_store::{LogStore as _, MemoryStore, NewLog};

/// What a fork of the tree at an entry sends; none when there is nothing to fork from there.
pub(super) fn sent(file: &[u8], entry: Seq) -> Result<Option<Vec<Outgoing>>, EngineError> {
    let store = MemoryStore::default();
    store.create(&NewLog::draft("origin".into(), "/", ""), file)?;
    let engine = Engine::new(Arc::new(store), "trial");
    let origin = engine.open("origin", "/")?;
    let forked = match engine.fork(&origin, entry, &ForkOptions::default()) {
        Ok(forked) => forked,
        // Some entries belong to no tree.
        Err(EngineError::Invalid(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let fork = engine.open_fork(&forked)?;
    let context = fork.context(fork.log().leaf())?;
    Ok(Some(provider::messages(fork.log(), &context, &fork.lines())?))
}

/// Compares what is sent, whatever entries it comes from: a fork that was made by copying has entries of its own.
pub(super) fn is_same(fork: &[Outgoing], origin: &[Outgoing]) -> bool {
    let said = |message: &Outgoing| (message.speaker.clone(), message.parts.clone(), message.by.clone());
    fork.iter().map(said).eq(origin.iter().map(said))
}
