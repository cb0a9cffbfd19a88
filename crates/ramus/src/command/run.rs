//! `run`: one turn. A person says something, a model answers, tools act, and everything is stored.

mod delegates;
pub(crate) mod drive;
pub(crate) mod equipment;
pub(crate) mod options;
pub(crate) mod person;
pub(crate) mod report;
pub(crate) mod said;
mod servers;
pub(crate) mod watcher;

use std::path::PathBuf;

use clap::Args;
use ramus_engine::{ForkOptions, NewSession, Session};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
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
        if invocation.screen.is_terminal() {
            let mut text = Text::new();
            text.styled(style::DIM, "go on with: ramus run -c \"…\", or: ramus chat -c").end();
            invocation.screen.note(&text)?;
        }
        Ok(exit)
    }

    fn session(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Session> {
        let session = match (&self.session, self.continue_) {
            (Some(name), _) => invocation.session(name)?,
            (None, true) => invocation.session("this")?,
            (None, false) if self.regenerate || self.edit.is_some() => {
                let message = "a new session has nothing to say or answer again";
                return Err(Refusal::usage(message).hint("name the session with -s, or -c for the last one").into());
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
