//! `delete`: removes a session for good.

use clap::Args;
use ramus_client::Method;
use ramus_engine::Children;
use serde_json::{Map, Value};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, quantity, style};

const EXAMPLES: &str = "\
Only sessions of the home can be deleted. What sessions that were forked from it show of it is kept for them, and goes \
with the last of them; everything else is gone: its files, the pictures and snapshots that only it names, and the \
workspace that was made for it. Nothing in a directory of yours is touched. What was asked in it stays in the prompt \
history unless --history is given; that forgets prompts of the same text and directory, also when they were asked \
elsewhere. Sessions that it spawned stay unless --cascade is given. On a terminal you are asked; everywhere else --yes is \
needed.

Examples:
  ramus delete 0190 --dry-run
  ramus delete 0190 --yes";

/// Remove a session for good
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Delete {
    /// The session
    session: String,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Remove the sessions that it spawned too, and theirs
    #[arg(long)]
    cascade: bool,
    /// Keep the sessions that it spawned; this is what happens anyway
    #[arg(long, conflicts_with = "cascade")]
    orphan: bool,
    /// Forget what was asked in it too
    #[arg(long)]
    history: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl Delete {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let id = remote.id(&self.session)?;
                if !self.dry_run && !self.yes {
                    let title = remote.describe(&id)?.word("title").to_owned();
                    confirm(invocation, &title, &id)?;
                }
                let request = remote.client().ask(Method::DELETE, &["sessions", &id]).flag("dry_run", self.dry_run);
                remote.answer(request.flag("cascade", self.cascade).flag("history", self.history))?
            }
            None => {
                let session = invocation.session(&self.session)?;
                if !self.dry_run && !self.yes {
                    confirm(invocation, &session.title(), session.id().as_str())?;
                }
                let prompts = if self.history { invocation.engine.prompts_of(&session)? } else { Vec::new() };
                let deleted = invocation.engine.delete(&session, self.children(), self.dry_run)?;
                // Last: a session that could not be deleted keeps its prompts.
                let forgotten = invocation.engine.forget_prompts(&prompts, self.dry_run)?;
                ramus_wire::removal::deleted(&deleted, forgotten, self.dry_run)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            self.tell(invocation, &answer)?;
        }
        Ok(Exit::Done)
    }

    fn children(&self) -> Children {
        if self.cascade && !self.orphan { Children::Cascade } else { Children::Orphan }
    }

    fn tell(&self, invocation: &mut Invocation<'_>, answer: &Map<String, Value>) -> anyhow::Result<()> {
        let nothing = Value::Null;
        let removed = answer.get("removed").unwrap_or(&nothing);
        let mut text = Text::new();
        for file in removed.words("files") {
            text.plain(file).end();
        }
        invocation.screen.text(&text)?;
        text.clear();
        let verb = if self.dry_run { "would remove" } else { "removed" };
        text.plain(&format!("{verb} session ")).styled(style::ID, removed.word("session"));
        text.plain(&format!(", {}", quantity::size(removed.number("bytes")))).end();
        for base in answer.items("kept") {
            let forks = base.items("forks").len();
            let forks = quantity::count(forks, "session was forked from it", "sessions were forked from it");
            let keep = if self.dry_run { "would keep" } else { "kept" };
            text.plain(&format!("{forks}: {keep} {} that they show", quantity::size(base.number("bytes")))).end();
        }
        if self.history {
            let prompts = quantity::count(removed.count("prompts"), "prompt", "prompts");
            text.plain(&format!("{} {prompts}", if self.dry_run { "would forget" } else { "forgot" })).end();
        }
        for path in answer.words("workspaces") {
            text.plain(&format!("{verb} its workspace {path}")).end();
        }
        for kept in answer.items("workspaces_in_use") {
            let others = quantity::count(kept.count("sessions"), "session works in", "sessions work in");
            text.plain(&format!("{others} its workspace {}, which stays", kept.word("path"))).end();
        }
        for (number, one, many) in [
            (removed.count("blobs"), "blob that only it referred to", "blobs that only it referred to"),
            (removed.count("snapshots"), "snapshot that only it named", "snapshots that only it named"),
        ] {
            if number > 0 {
                text.plain(&format!("{verb} {}", quantity::count(number, one, many))).end();
            }
        }
        let left = answer.count("snapshots_left");
        if left > 0 {
            let left = quantity::count(left, "snapshot stays", "snapshots stay");
            text.plain(&format!("{left} until `ramus gc`: their directory is in use")).end();
        }
        if !answer.items("children").is_empty() {
            let (one, many) = match self.children() {
                Children::Orphan => ("session that it spawned stays", "sessions that it spawned stay"),
                Children::Cascade if !self.dry_run => {
                    ("session that it spawned went too", "sessions that it spawned went too")
                }
                Children::Cascade => ("session that it spawned goes too", "sessions that it spawned go too"),
            };
            text.plain(&quantity::count(answer.items("children").len(), one, many)).end();
        }
        invocation.screen.note(&text)
    }
}

/// Asks, when there is someone to ask.
fn confirm(invocation: &mut Invocation<'_>, title: &str, id: &str) -> anyhow::Result<()> {
    let mut text = Text::new();
    text.plain("Delete ").styled(style::BOLD, title).plain(" (").styled(style::ID, id);
    let answer = invocation.screen.ask(text.plain(") for good?"))?;
    let refusal = || Refusal::usage("deleting needs --yes when nobody can be asked");
    match answer.ok_or_else(|| refusal().hint("--dry-run says what would be removed"))? {
        true => Ok(()),
        false => Err(Refusal::invalid("nothing was deleted").into()),
    }
}
