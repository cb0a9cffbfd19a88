//! `run`: one turn. A person says something, a model answers, tools act, and everything is stored.

mod equipment;
mod person;
mod servers;
mod watcher;

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use ramus_engine::run::{TurnResult, inbox};
use ramus_engine::{ForkOptions, NewSession, Session};
use serde_json::json;

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::json as members;
use crate::signal;
pub(crate) use equipment::SANDBOX;
use equipment::{Choices, Equipped, equip};
use watcher::Watcher;

const EXAMPLES: &str = "\
Without --session or --continue a new session is started. The model is the one that is named, the one the session used last, \
the one its agent names, or the default_model of the settings. Keys come from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY; \
OPENAI_BASE_URL and its like say where to ask instead. Ollama needs no key.

What a tool may do is decided by rules: looking around is allowed, the rest is asked. When nobody can be asked, what would \
be asked is denied; --permission NAME=allow says otherwise (bash, edit, write, …, or all). The agent `plan` looks and changes \
nothing. `ramus permissions SESSION` shows the rules and what was approved.

Ctrl-C stops the turn and keeps what was said; pressed twice it ends the program.

Examples:
  ramus run \"what does this project do?\" --model anthropic/claude-sonnet-5
  ramus run -c \"now write a test for it\" --permission edit=allow
  ramus run --agent plan \"how would you add a cache here?\"
  git diff | ramus run \"review this\" --json";

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
    /// The agent that answers: build, plan, or one of the settings [default: the one the session had last]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The model, as PROVIDER/NAME
    #[arg(long, short, value_name = "PROVIDER/NAME")]
    model: Option<String>,
    /// The provider, for a model that is named without one
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<String>,
    /// Play this script instead of asking a model
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    script: Option<PathBuf>,
    /// Allow, ask for or deny something: NAME=ACTION or NAME:PATTERN=ACTION, where NAME is bash, edit, … or all
    #[arg(long, value_name = "RULE")]
    permission: Vec<String>,
    /// The most tokens of an answer
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// How much the model may think: off, minimal, low, medium, high or max
    #[arg(long, value_name = "LEVEL")]
    thinking: Option<String>,
}

impl Run {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let prompt = self.prompt()?;
        let mut session = self.session(invocation)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("cannot start a runtime")?;
        let Equipped { turn, agent, settings, servers } =
            equip(invocation, &session, runtime.handle(), &self.choices(), Some(prompt))?;
        invocation.engine.change_mode(&mut session, &agent.name, &settings)?;
        let (inbox, letters) = inbox();
        let guard = signal::cancel_on_interrupt(inbox.clone())?;
        let mut watcher = Watcher::new(session.id(), invocation.screen);
        let engine = invocation.engine.clone();
        let result =
            engine.run(&mut session, turn, runtime.handle(), (inbox, letters), &mut |event| watcher.tell(event));
        drop(guard);
        drop(servers);
        // What still runs was told to stop; nobody waits for it.
        runtime.shutdown_background();
        let told = watcher.finish();
        let result = result?;
        told?;
        invocation.finish(&mut session)?;
        self.report(invocation, &session, &result)
    }

    /// What is said: the argument, and what comes in through a pipe behind it.
    fn prompt(&self) -> anyhow::Result<String> {
        let mut piped = String::new();
        let mut stdin = std::io::stdin();
        if !stdin.is_terminal() && (self.prompt.is_none() || is_pipe()) {
            stdin.read_to_string(&mut piped).context("cannot read what comes in")?;
        }
        let parts = [self.prompt.as_deref().unwrap_or_default().trim(), piped.trim()];
        let prompt = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
        if prompt.is_empty() {
            return Err(Refusal::usage("there is nothing to say").hint("say it: ramus run \"…\"").into());
        }
        Ok(prompt)
    }

    fn session(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Session> {
        let session = match (&self.session, self.continue_) {
            (Some(name), _) => invocation.session(name)?,
            (None, true) => invocation.session("this")?,
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

    fn choices(&self) -> Choices<'_> {
        Choices {
            agent: self.agent.as_deref(),
            model: self.model.as_deref(),
            provider: self.provider.as_deref(),
            script: self.script.as_deref(),
            permission: &self.permission,
            max_tokens: self.max_tokens,
            thinking: self.thinking.as_deref(),
        }
    }

    fn report(&self, invocation: &mut Invocation<'_>, session: &Session, result: &TurnResult) -> anyhow::Result<Exit> {
        let usage = result.usage;
        if invocation.screen.wants_json() {
            invocation.screen.json(members::members(json!({
                "type": "turn_end",
                "session": session.id().as_str(),
                "entry": result.entry.as_ref().map(|id| id.as_str()),
                "finish_reason": result.finish_reason(),
                "error": watcher::error(result),
                "usage": {
                    "input": usage.input, "output": usage.output,
                    "cache_read": usage.cache_read, "cache_write": usage.cache_write,
                },
                "cost_micros": result.cost_micros,
                "snapshot": null,
                "commit": null,
                "artifacts": [],
                "summary": {"additions": 0, "deletions": 0, "files": 0},
            })))?;
        } else {
            invocation.screen.note(&watcher::end_line(session, result))?;
        }
        Ok(match &result.end {
            ramus_agent::End::Finished(_) => Exit::Done,
            ramus_agent::End::Cancelled => Exit::Interrupted,
            ramus_agent::End::Failed(_) => Exit::Failed,
        })
    }
}

/// Says whether someone pipes something in. A terminal that is closed, or a job without one, is no pipe.
fn is_pipe() -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata("/dev/stdin").is_ok_and(|metadata| metadata.file_type().is_fifo() || metadata.is_file())
}
