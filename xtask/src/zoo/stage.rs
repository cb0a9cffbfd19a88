//! A home and a folder of work that only one agent has, and a model that only it talks to.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use ramus_interchange::place::Environment;

use super::agent::{Agent, Session};
use super::history::{self, Item};
use super::install::Installation;
use super::mock::{Asked, Mock};
use crate::process::{self, Ended};

/// How long an agent may take for a prompt.
const PATIENCE: Duration = Duration::from_secs(180);

pub(super) struct Stage<'a> {
    pub(super) agent: Agent,
    installation: &'a Installation,
    home: PathBuf,
    pub(super) work: PathBuf,
    mock: Mock,
}

impl<'a> Stage<'a> {
    /// Makes a stage below a folder.
    pub(super) fn new(agent: Agent, installation: &'a Installation, folder: &Path) -> Result<Self> {
        let make = |name: &str| -> Result<PathBuf> {
            let path = folder.join(name);
            fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
            Ok(path.canonicalize()?)
        };
        let (home, work) = (make("home")?, make("work")?);
        process::stdout(Command::new("git").args(["init", "-q", "."]).current_dir(&work))?;
        let mock = Mock::start().context("cannot start a model")?;
        agent.set_up(&home, &mock.url())?;
        Ok(Self { agent, installation, home, work, mock })
    }

    /// The surroundings of the agent, as our own code sees them.
    pub(super) fn environment(&self) -> Environment {
        Environment::new(&self.home, "/tmp").with("XDG_DATA_HOME", self.home.join(".local/share"))
    }

    /// Runs the agent and returns what it prints.
    pub(super) fn run(&self, arguments: &[String]) -> Result<String> {
        let mut command = self.agent.command(self.installation, &self.home, &self.work, &self.mock.url())?;
        command.args(arguments);
        match process::within(PATIENCE, &mut command)? {
            Ended::Killed => bail!("{} does not end", self.agent.name()),
            Ended::Itself(output) => {
                let said = format!("{}\n{}", output.stdout, output.stderr);
                let tail: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
                let tail = tail.get(tail.len().saturating_sub(6)..).unwrap_or_default().join(" / ");
                ensure!(output.status.success(), "{} fails ({}): {tail}", self.agent.name(), output.status);
                Ok(said)
            }
        }
    }

    /// Keeps what was asked beside the home: whoever doubts a judgement reads it there.
    fn keep(&self, asked: &[Asked]) -> Result<()> {
        let mut file =
            fs::File::options().create(true).append(true).open(self.home.with_file_name("requests.jsonl"))?;
        for request in asked {
            writeln!(file, "{}", request.body)?;
        }
        Ok(())
    }

    /// Gives the agent a prompt, and returns the first and the last request that it made for it.
    pub(super) fn prompt(&self, session: Session<'_>, prompt: &str) -> Result<(Vec<Item>, Vec<Item>)> {
        self.mock.take();
        let said = self.run(&self.agent.arguments(session, prompt))?;
        let asked = self.mock.take();
        self.keep(&asked)?;
        let own = asked.iter().filter(|asked| is_own(asked)).map(|asked| history::items(asked.format, &asked.body));
        let own: Vec<Vec<Item>> = own.filter(|items| mentions(items, prompt)).collect();
        match (own.first(), own.last()) {
            (Some(first), Some(last)) => Ok((first.clone(), last.clone())),
            _ => bail!("{} never asked the model; it said: {}", self.agent.name(), said.trim()),
        }
    }
}

/// Whether a request is the agent's own, with tools, and not one about the session.
fn is_own(asked: &Asked) -> bool {
    asked.body.get("tools").and_then(serde_json::Value::as_array).is_some_and(|tools| !tools.is_empty())
}

fn mentions(items: &[Item], prompt: &str) -> bool {
    items.iter().any(|item| matches!(item, Item::User(text) if text.contains(prompt)))
}
