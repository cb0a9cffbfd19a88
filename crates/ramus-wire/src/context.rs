//! The context of a path. Messages are spliced in as they are stored, never decoded and encoded again.

use std::collections::HashMap;

use ramus_engine::{EngineError, Resumed};
use ramus_model::blob::Restore;
use ramus_model::context::provider::{Outgoing, Speaker};
use ramus_model::context::{Item, provider, render};
use ramus_model::json::quote;
use ramus_model::tokens::Heuristic;
use ramus_model::{Log, Role, Seq, tokens};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::state::PathState;
use crate::{SCHEMA_VERSION, object_of};

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
    /// What each of them is part of and its tokens as they are counted, in the same order.
    sizes: Vec<(Part, u64)>,
    /// What all entries count for.
    counted: u64,
}

/// A part of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    System,
    Summary,
    Prompts,
    Answers,
    ToolOutput,
    Other,
}

impl Part {
    fn of(log: &Log, item: Item) -> Self {
        let role = || log.record(item.seq()).map_or(Role::Other, |record| record.role);
        match item {
            Item::CompactionSystem(_) => Self::System,
            Item::CompactionSummary(_) | Item::BranchSummary(_) => Self::Summary,
            Item::CustomMessage(_) => Self::Other,
            Item::Message(_) | Item::Edited { .. } => match role() {
                Role::System => Self::System,
                Role::User => Self::Prompts,
                Role::Assistant => Self::Answers,
                Role::ToolResult | Role::BashExecution => Self::ToolOutput,
                _ => Self::Other,
            },
        }
    }
}

impl Messages {
    /// Spells the messages of a turn.
    pub fn of(turn: &Resumed, dialect: Dialect) -> Result<Self, EngineError> {
        let mut bytes = Vec::new();
        let context = turn.context();
        let lines = turn.restored_lines(Restore::Everything);
        let texts = turn.restored_lines(Restore::Texts);
        let count = |item: &Item| tokens::of_item(turn.log(), *item, &texts, &Heuristic);
        let items = context.items.iter();
        let mut sizes = items
            .clone()
            .map(|item| Ok((Part::of(turn.log(), *item), count(item)?)))
            .collect::<Result<Vec<_>, EngineError>>()?;
        let counted = sizes.iter().map(|(_, tokens)| tokens).sum();
        let entries = match dialect {
            Dialect::V3 => {
                render::messages(turn.log(), context, &lines, &mut bytes)?;
                context.items.iter().map(|item: &Item| Some(item.seq())).collect()
            }
            Dialect::Provider => {
                let outgoing = provider::messages(turn.log(), context, &lines)?;
                provider::write(&outgoing, &mut bytes);
                let parts: HashMap<Seq, Part> = items.map(|item| (item.seq(), Part::of(turn.log(), *item))).collect();
                let size = |message: &Outgoing| {
                    let part = match message.speaker {
                        Speaker::System => Part::System,
                        // A result that was made up comes from no entry.
                        _ => message
                            .entry
                            .map_or(Part::ToolOutput, |seq| parts.get(&seq).copied().unwrap_or(Part::Other)),
                    };
                    (part, tokens::of_parts(&message.parts, &Heuristic))
                };
                sizes = outgoing.iter().map(size).collect();
                outgoing.iter().map(|message| message.entry).collect()
            }
        };
        // Stored bytes that are not UTF-8 would make the whole answer unreadable.
        if std::str::from_utf8(&bytes).is_err() {
            bytes = String::from_utf8_lossy(&bytes).into_owned().into_bytes();
        }
        Ok(Self { bytes, entries, sizes, counted })
    }

    /// How many tokens each part has as they are counted, and how many more the provider reported: instructions and tools,
    /// which go out besides.
    fn parts(&self, tokens: u64) -> ContextParts {
        let sum = |part| self.sizes.iter().filter(|(of, _)| *of == part).map(|(_, tokens)| tokens).sum::<u64>();
        ContextParts {
            system: sum(Part::System),
            summary: sum(Part::Summary),
            prompts: sum(Part::Prompts),
            answers: sum(Part::Answers),
            tool_output: sum(Part::ToolOutput),
            other: sum(Part::Other),
            besides: tokens.saturating_sub(self.counted),
        }
    }
}

/// Counts the tokens of a context.
pub fn tokens_of(turn: &Resumed) -> Result<u64, EngineError> {
    Ok(tokens::of_context(turn.log(), turn.context(), &turn.restored_lines(Restore::Texts))?)
}

/// The context at an entry.
#[derive(ToSchema)]
pub struct SessionContext<'c> {
    /// The session.
    pub session: String,
    /// The messages, as they are stored or as a provider is sent them.
    pub messages: Vec<Value>,
    /// What is told of them.
    #[serde(flatten)]
    pub rest: ContextRest<'c>,
}

/// What is told of the messages of a context.
#[derive(Serialize, ToSchema)]
pub struct ContextRest<'c> {
    #[serde(flatten)]
    state: PathState<'c>,
    /// How many tokens there are in all.
    tokens: u64,
    parts: ContextParts,
    /// How many tokens each message has.
    message_tokens: Vec<u64>,
    /// The entry that each message is of; null for a result that was made up.
    entries: Vec<Option<&'c str>>,
    /// The compaction that stands in front.
    #[schema(required)]
    compacted_by: Option<&'c str>,
}

/// How many tokens each part of a context has.
#[derive(Serialize, ToSchema)]
struct ContextParts {
    system: u64,
    summary: u64,
    prompts: u64,
    answers: u64,
    tool_output: u64,
    other: u64,
    /// How many more a provider reported: instructions and tools.
    besides: u64,
}

/// Builds the answer around the messages, whose bytes stay as they are.
pub fn object(turn: &Resumed, messages: &Messages, tokens: u64) -> Vec<u8> {
    let context = turn.context();
    let id = |seq: Seq| turn.log().id(seq);
    let rest = Value::Object(object_of(&ContextRest {
        state: (&context.state).into(),
        tokens,
        parts: messages.parts(tokens),
        message_tokens: messages.sizes.iter().map(|(_, tokens)| *tokens).collect(),
        entries: messages.entries.iter().map(|entry| entry.map(id)).collect(),
        compacted_by: context.compacted_by.map(id),
    }));
    let mut line = format!("{{\"schema_version\":{SCHEMA_VERSION},\"session\":").into_bytes();
    quote(turn.id().as_str(), &mut line);
    line.extend_from_slice(b",\"messages\":");
    line.extend_from_slice(&messages.bytes);
    line.push(b',');
    // The members of the rest follow ours in the same object.
    line.extend_from_slice(rest.to_string().strip_prefix('{').unwrap_or("}").as_bytes());
    line
}
