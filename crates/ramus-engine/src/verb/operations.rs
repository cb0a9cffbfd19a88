//! `operations`: what was done to a session, when and by whom, newest first.

use std::collections::HashSet;

use ramus_model::operation::{self, Operation};
use ramus_model::{EntryId, Seq};

use crate::error::EngineError;
use crate::session::Session;

/// One operation of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Performed {
    /// What was done.
    pub operation: Operation,
    /// The ids of its entries, in their order.
    pub entries: Vec<EntryId>,
    /// Whether it was taken back, and not done again.
    pub is_undone: bool,
}

/// Some operations of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// The operations, the one that began last first.
    pub operations: Vec<Performed>,
    /// Where the next page starts, when there is one.
    pub next_cursor: Option<String>,
}

impl Session {
    /// Lists what was done, at most `limit` operations behind `cursor`. A fork has what was done since it was forked.
    pub fn operations(&self, limit: Option<usize>, cursor: Option<&str>) -> Result<Operations, EngineError> {
        let lines = self.lines();
        let mut walk = operation::Operations::of(self.log(), &lines);
        let (mut undone, mut page, mut is_behind) = (HashSet::new(), Operations::default(), cursor.is_none());
        while let Some(operation) = walk.next_operation()? {
            let is_undone = undone.contains(&operation.id);
            if let (false, Some(other)) = (is_undone, &operation.takes_back) {
                undone.insert(other.clone());
            }
            if !is_behind {
                is_behind = cursor == Some(operation.id.as_str());
                continue;
            }
            if limit.is_some_and(|limit| page.operations.len() >= limit) {
                page.next_cursor = page.operations.last().map(|last| last.operation.id.clone());
                return Ok(page);
            }
            let entries = operation.entries.iter().map(|seq: &Seq| self.entry_id(*seq)).collect();
            page.operations.push(Performed { operation, entries, is_undone });
        }
        match cursor.filter(|_| !is_behind) {
            Some(cursor) => Err(EngineError::Invalid(format!("{cursor:?} is not an operation of this session"))),
            None => Ok(page),
        }
    }
}
