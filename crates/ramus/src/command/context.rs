//! `context`: what a model would be sent.

use clap::{Args, ValueEnum};
use ramus_engine::Resumed;
use ramus_model::blob::Restore;
use ramus_model::context::{Item, provider, render};
use ramus_model::json::{Raw, quote};
use ramus_model::message::Message;
use ramus_model::{Seq, tokens};
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, context, glyphs, preview, quantity, style};

const EXAMPLES: &str = "\
The context is the path from the root to the leaf, or to the entry that is named, after compactions. `v3` shows the \
messages as they are stored; `provider` shows what a provider is sent: summaries as text, every tool call with exactly \
one result.

Examples:
  ramus context last
  ramus context 0190@start --json | jq '.messages[].role'
  ramus context 0190 --dialect provider --json";

/// Show what a model would be sent
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Context {
    /// The session, and where its path ends; the leaf when no entry is named
    #[arg(value_name = "SESSION[@ENTRY]")]
    target: String,
    /// The form of the messages
    #[arg(long, value_enum, default_value_t)]
    dialect: Dialect,
}

/// The form of the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Dialect {
    /// As they are stored
    #[default]
    V3,
    /// As a provider is sent them
    Provider,
}

/// The messages of a context in one dialect.
struct Messages {
    /// A JSON array.
    bytes: Vec<u8>,
    /// The entry each comes from; none for one that was made up.
    entries: Vec<Option<Seq>>,
}

impl Context {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let turn = invocation.turn(&self.target)?;
        let messages = self.messages(&turn)?;
        let tokens = tokens::of_context(turn.log(), turn.context(), &turn.restored_lines(Restore::Texts))?;
        invocation.mention_damage(turn.log(), &self.target)?;
        invocation.mention_missing_blobs(&turn.missing_blobs(), &self.target)?;
        if invocation.screen.wants_json() {
            let line = to_json(&turn, &messages, tokens);
            invocation.screen.data(&line)?;
        } else {
            let text = to_text(&turn, &messages, tokens, invocation.screen.width());
            invocation.screen.text(&text)?;
        }
        Ok(Exit::Done)
    }

    fn messages(&self, turn: &Resumed) -> anyhow::Result<Messages> {
        let mut bytes = Vec::new();
        let context = turn.context();
        let lines = turn.restored_lines(Restore::Everything);
        let entries = match self.dialect {
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
        Ok(Messages { bytes, entries })
    }
}

/// Builds the answer around the messages, whose bytes stay as they are.
fn to_json(turn: &Resumed, messages: &Messages, tokens: u64) -> Vec<u8> {
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
    let mut line = b"{\"schema_version\":1,\"session\":".to_vec();
    quote(turn.id().as_str(), &mut line);
    line.extend_from_slice(b",\"messages\":");
    line.extend_from_slice(&messages.bytes);
    line.push(b',');
    // The members of the rest follow ours in the same object.
    line.extend_from_slice(rest.to_string().strip_prefix('{').unwrap_or("}").as_bytes());
    line.push(b'\n');
    line
}

fn to_text(turn: &Resumed, messages: &Messages, tokens: u64, width: usize) -> Text {
    let context = turn.context();
    let mut text = Text::new();
    let rows = rows(turn, messages);
    match turn.leaf() {
        Some(leaf) => text.plain("context at ").styled(style::ID, leaf.as_str()),
        None => text.plain("empty context"),
    };
    let count = quantity::count(rows.len(), "message", "messages");
    let separator = glyphs::of_terminal().separator;
    text.plain(&format!("{separator}{count}{separator}about {} tokens", quantity::grouped(tokens))).end();
    context::state(&mut text, &context.state);
    if let Some(compaction) = context.compacted_by {
        text.styled(style::SUMMARY, "compacted by ").styled(style::ID, turn.log().id(compaction)).end();
    }
    if !rows.is_empty() {
        text.end();
    }
    context::rows(&mut text, &rows, width);
    text
}

fn rows(turn: &Resumed, messages: &Messages) -> Vec<context::Row> {
    let items = Raw::parse(&messages.bytes).into_iter().flat_map(Raw::items);
    let row = |(raw, entry): (Raw<'_>, &Option<Seq>)| {
        let mut message = Message::read(raw);
        // Summaries have their words elsewhere.
        if let Some(summary) = raw.field("summary").and_then(Raw::text).filter(|_| message.parts.is_empty()) {
            message.parts.push(ramus_model::message::Part::Text(summary.into_owned()));
        }
        let kind = entry.and_then(|seq| turn.log().record(seq)).map(|record| record.kind);
        context::Row {
            speaker: preview::of_role(&message),
            style: style::speaker(kind.unwrap_or(ramus_model::Kind::Message), message.role),
            tokens: tokens::estimate(&message),
            preview: preview::of_message(&message),
        }
    };
    items.zip(&messages.entries).map(row).collect()
}
