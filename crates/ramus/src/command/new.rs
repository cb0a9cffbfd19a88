//! `new`: starts a session.

use std::path::PathBuf;

use clap::Args;
use ramus_engine::{Engine, NewSession};
use serde_json::{Map, Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, json};
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
        // One that ends with this command needs no server.
        if let Some(remote) = invocation.remote().filter(|_| !self.ephemeral) {
            return self.ask(invocation, &remote);
        }
        let parent = self.parent.as_deref().map(|parent| invocation.session(parent)).transpose()?;
        let new = NewSession {
            cwd: match &self.cwd {
                Some(cwd) => invocation.directory(cwd)?,
                None => invocation.cwd.clone(),
            },
            title: self.title.clone(),
            model: self.model.clone(),
            parent: parent.map(|parent| parent.id().clone()),
            owner: self.owner.clone(),
            permission: rule::read_all(&self.permission)?,
        };
        let session = if self.ephemeral {
            let session = Engine::in_memory().with_owner(invocation.home.settings().get("owner")?.0).create(new)?;
            invocation.screen.warn("the session is kept in memory only and ends with this command")?;
            session
        } else {
            let session = invocation.engine.create(new)?;
            invocation.remember(session.location())?;
            session
        };
        tell(invocation, json::members(json!({"session": json::brief_session(&session)})))?;
        Ok(Exit::Done)
    }

    /// Has a server start it.
    fn ask(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let cwd = match &self.cwd {
            Some(cwd) => invocation.directory(cwd)?,
            None => invocation.cwd.clone(),
        };
        let parent = self.parent.as_deref().map(|parent| remote.id(parent)).transpose()?;
        let answer = remote.post(
            &["sessions"],
            &json!({
                "cwd": cwd, "title": self.title, "model": self.model, "parent": parent,
                "owner": self.owner, "permission": self.permission,
            }),
        )?;
        tell(invocation, answer)?;
        Ok(Exit::Done)
    }
}

fn tell(invocation: &mut Invocation<'_>, answer: Map<String, Value>) -> anyhow::Result<()> {
    if invocation.screen.wants_json() {
        return invocation.screen.json(answer);
    }
    let mut text = Text::new();
    let id = answer.get("session").map(|session| session.word("id")).unwrap_or_default();
    invocation.screen.text(text.plain(id).end())
}
