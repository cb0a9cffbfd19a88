//! The provider dialect: a history every provider accepts.
//!
//! Postconditions, whatever the log holds: system messages first; no two calls with one id; every call has exactly one
//! result, directly behind its message and in call order (missing ones are closed with an error result); no result without
//! its call; no empty message, and no part that its speaker cannot have; no entry twice. Parts are passed on as they are
//! stored. Making a history of such a history changes nothing.

mod parts;
mod repair;

pub use repair::repair;

use super::{Context, Item, body, render};
use crate::id::Seq;
use crate::json::{Node, Raw, Tape, quote};
use crate::kind::Role;
use crate::log::{Lines, Log};
use crate::message::ToolResult;
use crate::usage::ModelName;
use parts::Pictures;

/// What a call without a result is answered with.
pub const MISSING_RESULT: &str = "[Error: tool result missing]";

/// What a tool that said nothing is taken to have said.
pub const NO_OUTPUT: &str = "(no output)";

const SUMMARY_INTRO: &str = "What happened earlier in this conversation, summarised:\n\n<summary>\n";
const BRANCH_INTRO: &str = "Another line of work was followed from here and left again. Its summary:\n\n<summary>\n";
const SUMMARY_END: &str = "\n</summary>";

/// One message as a provider is sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The entry it comes from; none for a result that was made up.
    pub entry: Option<Seq>,
    /// Who speaks.
    pub speaker: Speaker,
    /// The parts, each as JSON.
    pub parts: Vec<Vec<u8>>,
    /// The model that made it: what it sealed means something to that model only.
    pub by: Option<ModelName>,
}

/// Who speaks in an outgoing message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// Instructions.
    System,
    /// A person, or what is presented as one.
    User,
    /// The model, with the calls it makes.
    Assistant(Vec<Call>),
    /// A tool.
    Tool(ToolResult),
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
}

/// Makes the messages that a provider is sent.
pub fn messages<L: Lines + ?Sized>(log: &Log, context: &Context, lines: &L) -> Result<Vec<Outgoing>, L::Error> {
    let mut raw = Vec::with_capacity(context.items.len());
    for item in &context.items {
        raw.extend(outgoing(log, *item, lines)?);
    }
    Ok(repair(raw))
}

fn outgoing<L: Lines + ?Sized>(log: &Log, item: Item, lines: &L) -> Result<Option<Outgoing>, L::Error> {
    let entry = Some(item.seq());
    let user = |parts| Some(Outgoing { entry, speaker: Speaker::User, parts, by: None });
    Ok(match item {
        Item::CompactionSummary(seq) | Item::BranchSummary(seq) => {
            let line = body(log, seq, lines)?;
            let summary =
                Raw::parse(&line).and_then(|raw| raw.field("summary")).and_then(Raw::text).unwrap_or_default();
            let intro = if matches!(item, Item::BranchSummary(_)) { BRANCH_INTRO } else { SUMMARY_INTRO };
            if summary.is_empty() { None } else { user(vec![text_part(&format!("{intro}{summary}{SUMMARY_END}"))]) }
        }
        Item::Message(seq) => {
            let line = body(log, seq, lines)?;
            let tape = Tape::read(&line);
            let message = tape.as_ref().and_then(|tape| tape.root().field("message"));
            match message.filter(|message| reads_as_stored(*message)) {
                Some(message) => speak(message, entry),
                None => rendered(log, item, lines)?,
            }
        }
        _ => rendered(log, item, lines)?,
    })
}

/// Says whether a message needs no change to be shown: all but old ones, and those without content.
fn reads_as_stored(message: Node<'_, '_>) -> bool {
    let has_content = message.field("content").is_some_and(|content| !content.raw().is_null());
    has_content && message.field("role").is_some_and(|role| !role.raw().spells("hookMessage"))
}

/// A message that does not read as it is stored.
fn rendered<L: Lines + ?Sized>(log: &Log, item: Item, lines: &L) -> Result<Option<Outgoing>, L::Error> {
    let mut bytes = Vec::new();
    render::message(log, item, lines, &mut bytes)?;
    Ok(Tape::read(&bytes).and_then(|tape| speak(tape.root(), Some(item.seq()))))
}

/// Turns a version 3 message into an outgoing one; none when it is not for the model.
fn speak(node: Node<'_, '_>, entry: Option<Seq>) -> Option<Outgoing> {
    let message = node.object()?;
    let text = |name| message.text(name).unwrap_or_default();
    let role = text("role");
    if message.field("excludeFromContext").and_then(Raw::flag) == Some(true) {
        return None;
    }
    let content = node.field("content");
    let (speaker, parts) = match Role::from_wire(role.as_bytes()) {
        Role::System => (Speaker::System, parts::shown(content, Pictures::Described)),
        Role::Assistant => {
            let (parts, calls) = parts::answered(content);
            (Speaker::Assistant(calls), parts)
        }
        Role::ToolResult => (Speaker::Tool(ToolResult::read(&message)), parts::shown(content, Pictures::Shown)),
        Role::BashExecution => {
            let ran = format!("Ran `{}`\n```\n{}\n```", text("command"), text("output"));
            (Speaker::User, vec![text_part(&ran)])
        }
        Role::User | Role::Custom => (Speaker::User, parts::shown(content, Pictures::Shown)),
        Role::Other => return None,
    };
    let by = matches!(speaker, Speaker::Assistant(_))
        .then(|| ModelName { provider: text("provider").into_owned(), model: text("model").into_owned() });
    Some(Outgoing { entry, speaker, parts, by })
}

/// Returns a part that says a text.
pub fn text_part(text: &str) -> Vec<u8> {
    let mut part = b"{\"type\":\"text\",\"text\":".to_vec();
    quote(text, &mut part);
    part.push(b'}');
    part
}

/// Writes outgoing messages as a JSON array.
pub fn write(messages: &[Outgoing], out: &mut Vec<u8>) {
    out.push(b'[');
    for (at, message) in messages.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        message.write(out);
    }
    out.push(b']');
}

impl Outgoing {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"role\":");
        match &self.speaker {
            Speaker::System => quote("system", out),
            Speaker::User => quote("user", out),
            Speaker::Assistant(_) => quote("assistant", out),
            Speaker::Tool(result) => {
                quote("toolResult", out);
                out.extend_from_slice(b",\"toolCallId\":");
                quote(&result.call, out);
                out.extend_from_slice(b",\"toolName\":");
                quote(&result.name, out);
                out.extend_from_slice(if result.is_error { b",\"isError\":true" } else { b",\"isError\":false" });
            }
        }
        out.extend_from_slice(b",\"content\":[");
        for (at, part) in self.parts.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(part);
        }
        out.extend_from_slice(b"]}");
    }
}
