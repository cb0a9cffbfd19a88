//! `context`: what a model would be sent.

use clap::{Args, ValueEnum};
use ramus_engine::Resumed;
use ramus_model::json::Raw;
use ramus_model::message::Message;
use ramus_model::{Seq, tokens};
use ramus_wire::context::{self as shape, Messages};

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

impl Dialect {
    fn shape(self) -> shape::Dialect {
        match self {
            Self::V3 => shape::Dialect::V3,
            Self::Provider => shape::Dialect::Provider,
        }
    }
}

impl Context {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let turn = invocation.turn(&self.target)?;
        let messages = Messages::of(&turn, self.dialect.shape())?;
        let tokens = shape::tokens_of(&turn)?;
        invocation.mention_damage(turn.log(), &self.target)?;
        invocation.mention_missing_blobs(&turn.missing_blobs(), &self.target)?;
        if invocation.screen.wants_json() {
            let mut line = shape::object(&turn, &messages, tokens);
            line.push(b'\n');
            invocation.screen.data(&line)?;
        } else {
            let text = to_text(&turn, &messages, tokens, invocation.screen.width());
            invocation.screen.text(&text)?;
        }
        Ok(Exit::Done)
    }
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
            preview: preview::of_message(&message, &glyphs::of_terminal().signs()),
        }
    };
    items.zip(&messages.entries).map(row).collect()
}
