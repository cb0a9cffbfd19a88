//! `history`: the prompts of people, beside the sessions they became part of.
//!
//! Every verb that takes a prompt records it with [`Engine::record_prompt`] before it does its work, so that what was typed
//! can be had again when the work fails. The history never makes a verb fail: what goes wrong with it is told by
//! [`Engine::close_history`].

use std::time::Duration;

use ramus_catalogue::{CatalogueError, HistoryQuery, Prompt};
use ramus_model::Role;

use crate::engine::{DEFAULT_OWNER, Engine};
use crate::error::EngineError;
use crate::session::Session;

impl Engine {
    /// Remembers what a person asked in a session. Waits for nothing. The history is that of the home's user, so what others
    /// ask in theirs is not for it.
    pub(crate) fn record_prompt(&self, session: &Session, text: &str) {
        let is_ours = !self.is_confined || session.owner() == self.owner.as_deref().unwrap_or(DEFAULT_OWNER);
        if let Some(history) = self.history.as_ref().filter(|_| is_ours) {
            history.record(Prompt { text: text.to_owned(), created: self.now(), cwd: session.cwd().to_owned() });
        }
    }

    /// Finds prompts, newest first.
    pub fn prompts(&self, query: &HistoryQuery) -> Result<Vec<Prompt>, EngineError> {
        let found = self.history.as_ref().map(|history| history.search(query));
        Ok(found.transpose()?.unwrap_or_default())
    }

    /// Collects what people asked in a session: the texts of its user messages, each with the session's directory.
    pub fn prompts_of(&self, session: &Session) -> Result<Vec<(String, String)>, EngineError> {
        let mut prompts = Vec::new();
        let asked = |seq: &ramus_model::Seq| session.log().record(*seq).is_some_and(|record| record.role == Role::User);
        for seq in session.log().visible().filter(asked) {
            let message = session.message(seq)?;
            prompts.extend(message.map(|message| (message.text(), session.cwd().to_owned())));
        }
        Ok(prompts)
    }

    /// Removes prompts from the history by text and directory, and returns how many there were; with `dry_run`, how many
    /// there are.
    pub fn forget_prompts(&self, prompts: &[(String, String)], dry_run: bool) -> Result<usize, EngineError> {
        let Some(history) = &self.history else { return Ok(0) };
        Ok(if dry_run { history.count(prompts)? } else { history.forget(prompts)? })
    }

    /// Waits until what was recorded is stored, for as long as `patience` lasts, and returns what should be told.
    pub fn close_history(&self, patience: Duration) -> Vec<String> {
        let Some(history) = &self.history else { return Vec::new() };
        let unstored = history.close(patience).err();
        let mut told = history.take_notices();
        told.extend(unstored.map(|unstored| match unstored.cause.as_ref().map(causes) {
            Some(causes) => format!("{unstored}: {causes}"),
            None => unstored.to_string(),
        }));
        told
    }
}

/// An error and what caused it, in one line.
fn causes(error: &CatalogueError) -> String {
    let chain = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
