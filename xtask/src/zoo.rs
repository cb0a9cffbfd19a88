//! The real agents as judges of our codecs: `cargo xtask zoo`.
//!
//! Each agent writes a session against a model on loopback, in a network that has nothing else. We read it, and write it for
//! every agent. The agent resumes it with one more prompt, and what it sends to the model must be what the first agent would
//! have sent: the same words, calls and results. The first agent's own requests say what that is, so nothing of ours is
//! believed.

mod agent;
mod carried;
pub(crate) mod fixtures;
mod history;
mod install;
mod judge;
mod mock;
mod stage;
pub(crate) mod store;

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use self::agent::{Agent, Session};
use self::carried::Carried;
use self::history::Item;
use self::install::Installation;
use self::mock::{RESUMED, TURNS};
use self::stage::Stage;
use crate::arguments::Arguments;
use crate::workspace::Workspace;
use crate::{process, report, workspace};

/// Set in the network that has nothing but loopback.
const ALONE: &str = "RAMUS_ZOO_ALONE";

/// `cargo xtask zoo [--from AGENT] [--into AGENT] [--update] [--keep FOLDER] [--record] [--fixtures]`
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let (from, into): (Option<String>, Option<String>) = (arguments.value("--from")?, arguments.value("--into")?);
    let keep: Option<PathBuf> = arguments.value("--keep")?;
    let (update, record) = (arguments.flag("--update"), arguments.flag("--record"));
    let fixtures = arguments.flag("--fixtures");
    arguments.finish()?;
    let is_alone = env::var_os(ALONE).is_some();
    let installation = Installation::find(update && !is_alone)?;
    if !is_alone {
        return alone();
    }
    let scratch = tempfile::tempdir().context("cannot create a temporary folder")?;
    let folder = keep.unwrap_or_else(|| scratch.path().to_owned());
    if fixtures {
        let shared = workspace.shared().context("there is no ../shared")?;
        return fixtures::run(&installation, &shared, &folder);
    }
    let chosen = |name: &Option<String>| {
        let chosen = Agent::ALL.into_iter().filter(|agent| name.as_deref().is_none_or(|name| name == agent.name()));
        chosen.collect::<Vec<_>>()
    };
    let zoo = Zoo { installation, folder };
    let rows = chosen(&from).into_iter().map(|agent| zoo.row(agent, &chosen(&into))).collect::<Vec<_>>();
    let (text, failed) = zoo.report(&rows, &chosen(&into));
    println!("\n{text}");
    if record {
        report::record(workspace, "zoo", "The agents themselves resume what we write", &text)?;
    }
    ensure!(failed == 0, "{failed} disagreements with the real agents");
    Ok(())
}

/// Runs this program again in a network of its own.
fn alone() -> Result<()> {
    ensure!(
        ["unshare", "ip"].into_iter().all(workspace::installed),
        "unshare and ip are needed for a network of its own"
    );
    let is_root = process::stdout(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let program = env::current_exe().context("this program has no path")?;
    let mut command = Command::new("unshare");
    command.arg(if is_root { "-n" } else { "-rn" }).args(["sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""]);
    command.arg(program).args(env::args_os().skip(1)).env(ALONE, "1");
    process::run(&mut command)
}

struct Zoo {
    installation: Installation,
    folder: PathBuf,
}

/// What a model is told by the agent that resumes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Exactly,
    /// The same, and what another model thought as if it had been said.
    WithThoughts,
}

/// What became of one agent's session.
struct Row {
    agent: Agent,
    read: Result<String>,
    resumed: Vec<(Agent, Result<Told>)>,
}

impl Zoo {
    /// Lets an agent write a session, and all agents resume it.
    fn row(&self, agent: Agent, into: &[Agent]) -> Row {
        println!("{} writes", agent.name());
        let written = self.written(agent);
        let read = match &written {
            Ok((carried, _)) => Ok(format!("{} records, {} sessions", carried.records, carried.sessions)),
            Err(error) => Err(anyhow::anyhow!("{error:#}")),
        };
        println!("  {}", read.as_ref().map_or_else(|error| format!("{error:#}"), Clone::clone));
        let mut resumed = Vec::new();
        for other in into.iter().copied() {
            let result = match &written {
                Ok((carried, wanted)) => self.resumed(carried, wanted, agent, other),
                Err(_) => Err(anyhow::anyhow!("there is no session to resume")),
            };
            let shown = result.as_ref().map_or_else(|error| format!("{error:#}"), |_| "resumes".to_owned());
            println!("  {}: {shown}", other.name());
            resumed.push((other, result));
        }
        Row { agent, read, resumed }
    }

    /// An agent's session as we read it, and the history that the agent itself sent last, with what was answered.
    fn written(&self, agent: Agent) -> Result<(Carried, Vec<Item>)> {
        let stage = Stage::new(agent, &self.installation, &self.folder.join(agent.name()))?;
        let mut last = Vec::new();
        for (at, turn) in TURNS.iter().enumerate() {
            let session = if at == 0 { Session::New } else { Session::Latest };
            last = judge::own(agent, &stage.prompt(session, turn.prompt)?.1);
            last.push(Item::Assistant(turn.after.to_owned()));
        }
        let first = TURNS.first().map(|turn| turn.prompt).unwrap_or_default();
        let carried = Carried::read(&stage, first)?;
        std::fs::write(self.folder.join(agent.name()).join("read.jsonl"), &carried.log)?;
        let (wanted, read) = (judge::lines(&last), judge::lines(&carried::items(&carried.log)?));
        if let Some(difference) = judge::difference(&wanted, &read) {
            bail!("what was read is not what the agent sent: {difference}");
        }
        Ok((carried, last))
    }

    /// Lets an agent resume what another wrote, then reads what it made of it.
    fn resumed(&self, carried: &Carried, wanted: &[Item], from: Agent, agent: Agent) -> Result<Told> {
        let folder = self.folder.join(format!("{}-to-{}", from.name(), agent.name()));
        let stage = Stage::new(agent, &self.installation, &folder)?;
        let sent = carried.resumed_by(&stage, &folder, &id(from, agent))?;
        let spoken = judge::without_thoughts(agent, &sent);
        let told = if spoken.is_some() { Told::WithThoughts } else { Told::Exactly };
        let sent = spoken.unwrap_or(sent);
        let mut wanted = wanted.to_vec();
        wanted.push(Item::User(RESUMED.prompt.to_owned()));
        if let Some(difference) = judge::difference(&judge::lines(&wanted), &judge::lines(&sent)) {
            bail!("{difference}");
        }
        let again = Carried::read(&stage, RESUMED.prompt).context("what it stored cannot be read")?;
        wanted.push(Item::Assistant(RESUMED.after.to_owned()));
        let read = carried::items(&again.log)?;
        match judge::difference(&judge::lines(&wanted), &judge::lines(&read)) {
            Some(difference) => bail!("what it stored is not what it sent: {difference}"),
            None => Ok(told),
        }
    }

    fn report(&self, rows: &[Row], into: &[Agent]) -> (String, usize) {
        let versions =
            Agent::ALL.map(|agent| format!("{} {}", agent.name(), self.installation.version(agent))).join(", ");
        let mut failures = Vec::new();
        let mut lines = format!(
            "| session of | read | {} |\n",
            into.iter().map(|agent| agent.name()).collect::<Vec<_>>().join(" | ")
        );
        lines += &format!("| --- | --- |{}\n", " --- |".repeat(into.len()));
        for row in rows {
            let mut cell = |name: String, result: &Result<String>| match result {
                Ok(text) => text.clone(),
                Err(error) => {
                    failures.push(format!("- {name}: {error:#}"));
                    "**no**".to_owned()
                }
            };
            let read = cell(row.agent.name().to_owned(), &row.read);
            let cells = row.resumed.iter().map(|(agent, result)| {
                let result = match result {
                    Ok(Told::Exactly) => Ok("yes".to_owned()),
                    Ok(Told::WithThoughts) => Ok("yes, thoughts said".to_owned()),
                    Err(error) => Err(anyhow::anyhow!("{error:#}")),
                };
                cell(format!("{} into {}", row.agent.name(), agent.name()), &result)
            });
            let cells: Vec<_> = cells.collect();
            lines += &format!("| {} | {read} | {} |\n", row.agent.name(), cells.join(" | "));
        }
        let pairs: usize = rows.iter().map(|row| row.resumed.len()).sum();
        let good = rows.iter().flat_map(|row| &row.resumed).filter(|(_, result)| result.is_ok()).count();
        let mut text = format!("Agents: {versions}.\n\n{INTRODUCTION}\n\n{lines}\n{good} of {pairs} pairs.\n");
        if !failures.is_empty() {
            text += &format!("\n{}\n", failures.join("\n"));
        }
        (text, failures.len())
    }
}

const INTRODUCTION: &str = "\
Each agent wrote a session of three turns (a call, two calls at once of which one fails, words) against a model on loopback. It
was read, compared with what the agent itself had sent to the model, and written for every agent, which resumed it with one more
prompt. `yes`: the words, calls with arguments and results that the resuming agent sent are exactly those of the first agent, and
what it stored afterwards is read as the same again. `thoughts said`: the agent also tells the model what another model thought, as
part of the answer; pi and opencode do that with the thoughts of every model but the one in use.";

/// An id that a pair has to itself, of the kind that all agents take.
fn id(from: Agent, agent: Agent) -> String {
    let place = |agent| Agent::ALL.iter().position(|other| *other == agent).unwrap_or_default();
    format!("0194f0c0-00{:02x}-7000-8000-00000000{:04x}", place(from), place(agent))
}
