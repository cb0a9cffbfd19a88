//! `children`: the sessions that a session had do part of its work.

use clap::Args;
use ramus_engine::{Filter, WhichDirectory};
use serde_json::{Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json, quantity, style};

const EXAMPLES: &str = "\
A child has a session of its own: `ramus show CHILD` shows what it did, `ramus run -s CHILD` goes on with it.

Examples:
  ramus children last
  ramus children last --json | jq -r '.children[].id'";

/// List the sessions that a session had do part of its work
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Children {
    /// The session
    session: String,
}

impl Children {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let parent = invocation.session(&self.session)?;
        let filter = Filter {
            directory: WhichDirectory::All,
            parent: Some(parent.id().clone()),
            drafts: true,
            archived: true,
            ..Filter::default()
        };
        let listing = invocation.engine.list(&filter)?;
        if invocation.screen.wants_json() {
            let prices = invocation.prices()?;
            let children: Vec<Value> =
                listing.sessions.iter().map(|info| Value::Object(json::session(info, &prices))).collect();
            invocation.screen.json(json::members(json!({"children": children})))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        for info in &listing.sessions {
            text.styled(style::ID, info.id.as_str()).spaces(2).plain(&info.title);
            let messages = quantity::count(info.messages, "message", "messages");
            text.spaces(2).styled(style::DIM, &messages).end();
        }
        if listing.sessions.is_empty() {
            text.styled(style::DIM, "no children").end();
        }
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }
}
