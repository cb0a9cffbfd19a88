//! The context of a path. Messages are spliced in as they are stored, never decoded and encoded again.

use ramus_engine::{EngineError, Resumed};
use ramus_model::blob::Restore;
use ramus_model::context::{Item, provider, render};
use ramus_model::json::quote;
use ramus_model::{Seq, tokens};
use serde_json::json;

use crate::SCHEMA_VERSION;

/// How messages are spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// As version 3 of the format has them.
    #[default]
    V3,
    /// As a provider is sent them: calls and results in order, each with its other half.
    Provider,
}

/// The messages of a context, and which entry each of them is of.
#[derive(Clone, Debug)]
pub struct Messages {
    /// A JSON array.
    pub bytes: Vec<u8>,
    /// The entries, in the same order.
    pub entries: Vec<Option<Seq>>,
}

impl Messages {
    /// Spells the messages of a turn.
    pub fn of(turn: &Resumed, dialect: Dialect) -> Result<Self, EngineError> {
        let mut bytes = Vec::new();
        let context = turn.context();
        let lines = turn.restored_lines(Restore::Everything);
        let entries = match dialect {
            Dialect::V3 => {
                render::messages(turn.log(), context, &lines, &mut bytes)?;
                context.items.iter().map(|item: &Item| Some(item.seq())).collect()
            }
            Dialect::Provider => {
                let outgoing = provider::messages(turn.log(), context, &lines)?;
                provider::write(&outgoing, &mut bytes);
                outgoing.iter().map(|message| message.entry).collect()
            }
        };
        // Stored bytes that are not UTF-8 would make the whole answer unreadable.
        if std::str::from_utf8(&bytes).is_err() {
            bytes = String::from_utf8_lossy(&bytes).into_owned().into_bytes();
        }
        Ok(Self { bytes, entries })
    }
}

/// Counts the tokens of a context.
pub fn tokens_of(turn: &Resumed) -> Result<u64, EngineError> {
    Ok(tokens::of_context(turn.log(), turn.context(), &turn.restored_lines(Restore::Texts))?)
}

/// Builds the answer around the messages, whose bytes stay as they are.
pub fn object(turn: &Resumed, messages: &Messages, tokens: u64) -> Vec<u8> {
    let context = turn.context();
    let id = |seq: Seq| turn.log().id(seq).to_owned();
    let state = &context.state;
    let rest = json!({
        "models": state.models,
        "thinking_level": state.thinking_level,
        "mode": state.mode,
        "mode_data": state.mode_data,
        "rules": state.rules,
        "tokens": tokens,
        "entries": messages.entries.iter().map(|entry| entry.map(id)).collect::<Vec<_>>(),
        "compacted_by": context.compacted_by.map(id),
    });
    let mut line = format!("{{\"schema_version\":{SCHEMA_VERSION},\"session\":").into_bytes();
    quote(turn.id().as_str(), &mut line);
    line.extend_from_slice(b",\"messages\":");
    line.extend_from_slice(&messages.bytes);
    line.push(b',');
    // The members of the rest follow ours in the same object.
    line.extend_from_slice(rest.to_string().strip_prefix('{').unwrap_or("}").as_bytes());
    line
}
