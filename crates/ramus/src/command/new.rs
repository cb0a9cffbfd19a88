//! `new`: starts a session.

use std::path::PathBuf;

use clap::Args;
use ramus_engine::{Engine, NewSession};
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json};
use crate::rule;

const EXAMPLES: &str = "\
A new session is a draft: it is kept, but lists show it only with --drafts until a model has answered in it.

Examples:
  ramus new
  ramus new --permission bash=ask --permission \"bash:cargo *=allow\"
  ramus new --title \"Fix the parser\" --model anthropic/claude-sonnet-5
  id=$(ramus new) && ramus say \"$id\" \"hello\"";

/// Start a session and print its id
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct New {
    /// The working directory [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The title
    #[arg(long, allow_hyphen_values = true)]
    title: Option<String>,
    /// The model, as PROVIDER/NAME
    #[arg(long, value_name = "P/M")]
    model: Option<String>,
    /// The session that spawns this one
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
    /// Whom the session belongs to [default: the setting `owner`]
    #[arg(long)]
    owner: Option<String>,
    /// Allow, ask for or deny something in this session: NAME=ACTION or NAME:PATTERN=ACTION
    #[arg(long, value_name = "RULE")]
    permission: Vec<String>,
    /// Keep it in memory only; it ends with this command
    #[arg(long)]
    ephemeral: bool,
}

impl New {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let parent = self.parent.as_deref().map(|parent| invocation.session(parent)).transpose()?;
        let owner = match &self.owner {
            Some(owner) => owner.clone(),
            None => invocation.home.settings().get("owner")?.0.to_owned(),
        };
        let new = NewSession {
            cwd: match &self.cwd {
                Some(cwd) => invocation.directory(cwd)?,
                None => invocation.cwd.clone(),
            },
            title: self.title.clone(),
            model: self.model.clone(),
            parent: parent.map(|parent| parent.id().clone()),
            owner: (owner != "default").then_some(owner),
            permission: rule::read_all(&self.permission)?,
        };
        let session = if self.ephemeral {
            let session = Engine::in_memory().create(new)?;
            invocation.screen.warn("the session is kept in memory only and ends with this command")?;
            session
        } else {
            let session = invocation.engine.create(new)?;
            invocation.remember(session.location())?;
            session
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(json::members(json!({"session": json::brief_session(&session)})))?;
        } else {
            let mut text = Text::new();
            text.plain(session.id().as_str()).end();
            invocation.screen.text(&text)?;
        }
        Ok(Exit::Done)
    }
}
