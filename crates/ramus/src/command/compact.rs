//! `compact`: the older part of a session becomes a summary.

use clap::Args;
use ramus_engine::{Compact as How, Compacted, Session};
use ramus_model::budget::Keep;
use ramus_model::tokens;
use serde_json::{Map, Value};

use crate::counter;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, quantity, style};

const EXAMPLES: &str = "\
The summary stands for everything before the first message that is kept; calls of tools stay with their results. It is an \
entry like any other: `ramus branch SESSION@-` goes back to before it, and every message is still there. Other branches do \
not change. A summary that would not make the context shorter is refused.

Examples:
  ramus compact last
  ramus compact last --keep-messages 20
  ramus compact last --keep-tokens 20000 --dry-run --json";

/// Replace the older part of what a model is sent by a summary
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Compact {
    /// The session
    session: String,
    /// Keep the last two messages when nothing else would be summarised
    #[arg(long)]
    force: bool,
    /// Keep the newest messages with about so many tokens
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    keep_tokens: u64,
    /// Keep so many of the newest messages
    #[arg(long, value_name = "N", conflicts_with = "keep_tokens")]
    keep_messages: Option<usize>,
    /// Say what would be summarised, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Compact {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let keep_tokens = self.keep_messages.is_none().then_some(self.keep_tokens);
                let how = serde_json::json!({
                    "force": self.force, "keep_tokens": keep_tokens, "keep_messages": self.keep_messages,
                    "dry_run": self.dry_run,
                });
                remote.act(&remote.id(&self.session)?, "compact", &how)?
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let compacted = self.compact(invocation, &mut session)?;
                if !self.dry_run {
                    invocation.finish(&mut session)?;
                }
                ramus_wire::room::compacted(&compacted)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            invocation.screen.text(&self.to_text(&answer))?;
        }
        Ok(Exit::Done)
    }

    fn compact(&self, invocation: &Invocation<'_>, session: &mut Session) -> anyhow::Result<Compacted> {
        let keep = self.keep_messages.map_or(Keep::Tokens(self.keep_tokens), Keep::Messages);
        let how = How { keep, force: self.force };
        let engine = counter::engine_of(invocation, session)?;
        let Some(prepared) = engine.prepare_compaction(session, how)? else {
            let context = session.context(session.log().leaf())?;
            let tokens = tokens::of_context(session.log(), &context, &session.lines())?;
            return Ok(Compacted::nothing(tokens, context.items.len()));
        };
        let summary = prepared.plain_summary(session)?;
        Ok(match self.dry_run {
            true => prepared.outcome(session, summary)?,
            false => engine.compact(session, &prepared, &summary)?,
        })
    }

    fn to_text(&self, compacted: &Map<String, Value>) -> Text {
        let mut text = Text::new();
        let Some(first_kept) = compacted.maybe("first_kept") else {
            text.plain("there is nothing to summarise").end();
            return text;
        };
        let verb = if self.dry_run { "would be" } else { "are now" };
        let (before, after) = (compacted.count("messages_before"), compacted.count("messages_after"));
        text.plain(&format!(
            "{} {verb} {}, about {} tokens instead of {}",
            quantity::count(before, "message", "messages"),
            quantity::count(after, "message", "messages"),
            compacted.number("tokens_after"),
            compacted.number("tokens_before"),
        ))
        .end();
        text.plain("kept from ").styled(style::BOLD, first_kept).plain(" on").end();
        text
    }
}
