//! `run`: one turn. A person says something, a model answers, tools act, and everything is stored.

pub(crate) mod afar;
mod delegates;
pub(crate) mod drive;
pub(crate) mod equipment;
mod heard;
pub(crate) mod options;
pub(crate) mod person;
pub(crate) mod report;
pub(crate) mod said;
mod servers;
pub(crate) mod watcher;

use std::path::PathBuf;

use clap::Args;
use ramus_engine::{ForkOptions, NewSession, Session};
use serde_json::json;

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Text, style};
use drive::Driver;
pub(crate) use equipment::SANDBOX;
use equipment::{Kept, equip};
use options::Options;
use said::Said;

const EXAMPLES: &str = "\
Without --session or --continue a new session is started. The model is the one that is named, the one the session used last, \
the one its agent names, or the default_model of the settings. Keys come from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY; \
OPENAI_BASE_URL and its like say where to ask instead. Ollama needs no key.

What a tool may do is decided by rules: looking around is allowed, the rest is asked. When nobody can be asked, what would \
be asked is denied; --permission NAME=allow says otherwise (bash, edit, write, …, or all). The agent `plan` looks and changes \
nothing. `ramus permissions SESSION` shows the rules and what was approved.

Ctrl-C stops the turn and keeps what was said; pressed twice it ends the program.

--edit says something in other words and --regenerate has the last thing answered again; both make a branch beside what \
was there, which stays.

Examples:
  ramus run \"what does this project do?\" --model anthropic/claude-sonnet-5
  ramus run -c \"now write a test for it\" --permission edit=allow
  ramus run --agent plan \"how would you add a cache here?\"
  git diff | ramus run \"review this\" --json
  ramus run \"what is wrong here?\" --image screenshot.png
  ramus run -c --edit @- \"the same, but in Rust\"
  ramus run -c --regenerate --model openai/gpt-5";

/// Say something to a model and let it act
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Run {
    /// What to say; what comes in through a pipe is added to it
    #[arg(allow_hyphen_values = true)]
    prompt: Option<String>,
    /// The session to go on with
    #[arg(long, short, conflicts_with = "continue_")]
    session: Option<String>,
    /// Go on with the session this terminal was last in
    #[arg(long = "continue", short = 'c')]
    continue_: bool,
    /// Fork the session first, and go on with the fork
    #[arg(long)]
    fork: bool,
    /// Show this picture too; may be given several times
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// Give it this file; may be given up to 100 times, each file of at most 100 MiB
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
    /// Say what you said at ENTRY in other words, on a branch beside it
    #[arg(long, value_name = "ENTRY", conflicts_with = "regenerate")]
    edit: Option<String>,
    /// Have what you said last answered again, on a branch beside the answer
    #[arg(long, conflicts_with_all = ["prompt", "image", "attach"])]
    regenerate: bool,
    #[command(flatten)]
    options: Options,
}

impl Run {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote() {
            return self.afar(invocation, &remote);
        }
        let said = match self.regenerate {
            true => Said::default(),
            false => Said::gather(self.prompt.as_deref(), &self.image, &self.attach, invocation.stdin)?,
        };
        let mut session = self.session(invocation)?;
        let driver = Driver::start()?;
        let mut kept = Kept::default();
        let equipped = equip(invocation, &session, driver.handle()?, &self.options.choices(), &mut kept, said)?;
        self.rewind(invocation, &mut session)?;
        let result = driver.turn(invocation, &mut session, equipped, Driver::inbox(), &mut |_| {})?;
        let exit = report::report(invocation.screen, session.id(), &result, self.options.script.is_some())?;
        mention_next(invocation)?;
        Ok(exit)
    }

    /// Runs the turn at a server.
    fn afar(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        if !self.attach.is_empty() {
            let refusal = Refusal::usage("files are attached to turns that run here");
            return Err(refusal.hint("pipe a text in, or let the model read the file where it runs").into());
        }
        let said = match self.regenerate {
            true => Said::default(),
            false => Said::gather(self.prompt.as_deref(), &self.image, &[], invocation.stdin)?,
        };
        let mut order = self.options.order(person::is_there(invocation.screen.wants_json()))?;
        order.pictures = said.pictures.iter().map(|one| json!({"data": one.data, "kind": one.kind})).collect();
        order.prompt = said.text;
        order.edit = self.edit.as_ref().map(|entry| entry.strip_prefix('@').unwrap_or(entry).to_owned());
        order.regenerate = self.regenerate;
        let session = self.session_afar(invocation, remote)?;
        let keyboard = afar::Keyboard::default();
        let end = afar::turn(invocation, remote, (&session, &order), &keyboard, &mut |_| {}, &mut |_| {})?;
        let exit = report::tell(invocation.screen, end, false)?;
        mention_next(invocation)?;
        Ok(exit)
    }

    fn session_afar(&self, invocation: &Invocation<'_>, remote: &Remote) -> anyhow::Result<String> {
        let session = match (&self.session, self.continue_) {
            (Some(name), _) => remote.id(name)?,
            (None, true) => remote.resolve("this")?,
            (None, false) if self.regenerate || self.edit.is_some() => return Err(nothing_yet().into()),
            (None, false) => {
                let new = ramus_client::NewSession { cwd: Some(invocation.cwd.clone()), ..Default::default() };
                return Ok(remote.wait(remote.client().create(&new))?.id);
            }
        };
        if !self.fork {
            return Ok(session);
        }
        remote.wait(remote.client().session(session).fork(None, None))
    }

    fn session(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Session> {
        let session = match (&self.session, self.continue_) {
            (Some(name), _) => invocation.session(name)?,
            (None, true) => invocation.session("this")?,
            (None, false) if self.regenerate || self.edit.is_some() => {
                return Err(nothing_yet().into());
            }
            (None, false) => {
                let cwd = invocation.cwd.clone();
                return Ok(invocation.engine.create(NewSession { cwd, ..NewSession::default() })?);
            }
        };
        if !self.fork {
            return Ok(session);
        }
        let leaf = session.resolve("")?;
        let fork = invocation.engine.fork(&session, leaf, &ForkOptions::default())?;
        invocation.session(fork.id.as_str())
    }

    /// Goes back to where something is said or answered again.
    fn rewind(&self, invocation: &Invocation<'_>, session: &mut Session) -> anyhow::Result<()> {
        if self.regenerate {
            invocation.engine.rewind_to_last_said(session)?;
        }
        if let Some(entry) = &self.edit {
            let said = session.resolve(entry.strip_prefix('@').unwrap_or(entry))?;
            invocation.engine.rewind_before(session, said)?;
        }
        Ok(())
    }
}

fn nothing_yet() -> Refusal {
    Refusal::usage("a new session has nothing to say or answer again")
        .hint("name the session with -s, or -c for the last one")
}

/// Tells a person how to go on.
fn mention_next(invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
    if !invocation.screen.is_terminal() {
        return Ok(());
    }
    let mut text = Text::new();
    text.styled(style::DIM, "go on with: ramus run -c \"…\", or: ramus chat -c").end();
    invocation.screen.note(&text)
}
