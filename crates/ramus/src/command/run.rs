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
use ramus_client::Method;
use ramus_engine::{Children, ForkOptions, NewSession, Session};
use serde_json::json;

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Text, style};
use crate::target;
use drive::Driver;
pub(crate) use equipment::SANDBOX;
use equipment::{Equipped, Kept, equip};
use options::Options;
use said::Said;

const EXAMPLES: &str = "\
Without --session or --continue a new session is started. The model is the one that is named, the one the session used last, \
the one its agent names, or the default_model of the settings. Keys come from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY; \
OPENAI_BASE_URL and its like say where to ask instead. Ollama needs no key.

What a tool may do is decided by rules: looking around is allowed, the rest is asked. When nobody can be asked, what would \
be asked is denied; --permission NAME=allow says otherwise (bash, edit, write, …, or all). The agent `plan` looks and changes \
nothing. `ramus permissions SESSION` shows the rules and what was approved.

What is piped in is said behind PROMPT. A pipe through which nothing has come for 3 seconds is left alone, and so is a file \
on stdin; in a loop of a shell that is fed by a pipe, say `</dev/null`. Without PROMPT all of stdin is said.

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
    /// What to say; what comes in through a pipe is added to it. Without it, what comes in is said
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
    #[arg(long, value_name = "ENTRY", value_parser = target::entry, conflicts_with = "regenerate")]
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
            false => {
                Said::gather(self.prompt.as_deref(), &self.image, &self.attach, invocation.stdin, invocation.screen)?
            }
        };
        let driver = Driver::start()?;
        let mut kept = Kept::default();
        let mut session = self.session(invocation)?;
        let before = session.log().len();
        let equipped = match self.make_ready(invocation, &mut session, &driver, &mut kept, said) {
            Ok(equipped) => equipped,
            Err(error) => {
                if self.makes_one() {
                    forget(invocation, &session, before)?;
                }
                return Err(error);
            }
        };
        let result = driver.turn(invocation, &mut session, equipped, Driver::inbox(), &mut |_| {})?;
        let exit = report::report(invocation.screen, session.id(), &result, self.options.script.is_some())?;
        mention_next(invocation)?;
        Ok(exit)
    }

    /// Says whether a session is made for the turn.
    fn makes_one(&self) -> bool {
        self.fork || (self.session.is_none() && !self.continue_)
    }

    fn make_ready(
        &self,
        invocation: &mut Invocation<'_>,
        session: &mut Session,
        driver: &Driver,
        kept: &mut Kept,
        said: Said,
    ) -> anyhow::Result<Equipped> {
        let equipped = equip(invocation, session, driver.handle()?, &self.options.choices(), kept, said)?;
        self.rewind(invocation, session)?;
        Ok(equipped)
    }

    /// Runs the turn at a server.
    fn afar(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let said = match self.regenerate {
            true => Said::default(),
            false => {
                Said::gather(self.prompt.as_deref(), &self.image, &self.attach, invocation.stdin, invocation.screen)?
            }
        };
        let mut order = self.options.order(person::is_there(invocation.screen.wants_json()));
        order.pictures = said.pictures.iter().map(|one| json!({"data": one.data, "kind": one.kind})).collect();
        order.attachments = afar::upload(&said.attachments)?;
        // The server cannot read a file of this machine, and plays what it is sent only if it plays scripts at all.
        let script = self.options.script.as_ref().map(|path| equipment::script_text(&invocation.cwd, path));
        order.script = script.transpose()?;
        order.prompt = said.text;
        order.edit.clone_from(&self.edit);
        order.regenerate = self.regenerate;
        let session = self.session_afar(invocation, remote)?;
        let before = remote.position(&session)?;
        let keyboard = afar::Keyboard::default();
        let end = match afar::turn(invocation, remote, (&session, &order), &keyboard, &mut |_| {}, &mut |_| {}) {
            Ok(end) => end,
            Err(error) => {
                // When the server cannot even be asked, there is nothing more to be done.
                if self.makes_one() && remote.position(&session).is_ok_and(|position| position == before) {
                    remote.answer(remote.client().ask(Method::DELETE, &["sessions", &session])).ok();
                }
                return Err(error);
            }
        };
        let exit = report::tell(invocation.screen, end, self.options.script.is_some())?;
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
            let said = session.resolve(entry)?;
            invocation.engine.rewind_before(session, said)?;
        }
        Ok(())
    }
}

/// Removes a session that was made for a turn that cannot begin, so that nobody goes on with it. What somebody else said in
/// it stays.
fn forget(invocation: &mut Invocation<'_>, made: &Session, entries: usize) -> anyhow::Result<()> {
    let id = made.id().as_str();
    let removed = invocation.session(id).and_then(|session| match session.log().len() == entries {
        true => Ok(invocation.engine.delete(&session, Children::Orphan, false).map(drop)?),
        false => Ok(()),
    });
    match removed {
        Ok(()) => Ok(()),
        Err(error) => invocation.screen.warn(&format!("session {id} was made for this and is left: {error}")),
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
