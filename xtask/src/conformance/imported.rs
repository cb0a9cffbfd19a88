//! Stores that real agents wrote, where agents keep them, taken in by `ramus import`: every session comes, children and forks
//! know where they come from, each goes back out, and nothing of the agents' is touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::ramus::Ramus;
use super::{Row, Scope, Verdict};
use crate::process::{self, Ended};
use crate::zoo::fixtures::files;

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Where the files of an agent lie among what is shared, what of them is taken, and where the agent keeps such files.
const STORES: [(&str, &str, &str, &str); 9] = [
    ("claude", "agents/claude-code", "", ".claude/projects/-home-dev-proj"),
    ("codex", "agents/codex", "", ".codex"),
    ("gemini", "agents/gemini-cli", "jsonl", ".gemini/tmp/proj/chats"),
    ("gemini", "agents/gemini-cli", "json", ".gemini"),
    ("opencode", "agents/opencode", "db", ".local/share/opencode"),
    ("goose", "agents/goose", "db", ".local/share/goose/sessions"),
    ("pi", "agents/pi", "jsonl", ".pi/agent/sessions/--home-dev-proj--"),
    ("opal", "opal-dets/otp27", "dets", ".opal/sessions"),
    ("omp", "pi/pi-mono", "jsonl", ".omp/agent/sessions/--home-dev-proj--"),
];

/// Agents whose files hold a session and a fork of it that does not say so.
const FORKED: [&str; 2] = ["claude", "opencode"];

/// Judges the import of all stores together.
pub(super) fn judge(shared: &Path, ramus: &Ramus, scope: &Scope, show: &mut impl FnMut(Row)) -> Result<()> {
    if !scope.covers("import") {
        return Ok(());
    }
    let fixtures = shared.join("fixtures");
    if !fixtures.join("agents").is_dir() {
        let why = format!("there is no {}", fixtures.join("agents").display());
        show(Row::of("import", "ramus", Ok((Verdict::Skipped, why))));
        return Ok(());
    }
    let machine = Machine::new(&fixtures, ramus)?;
    let first = match machine.import() {
        Ok(first) => first,
        Err(error) => {
            show(Row::of("import", "ramus", Err(error)));
            return Ok(());
        }
    };
    let mut agents: Vec<&str> = STORES.iter().map(|(agent, ..)| *agent).collect();
    agents.dedup();
    for agent in agents {
        show(Row::of(&format!("import/{agent}"), "ramus", machine.taken(&first, agent)));
    }
    show(Row::of("import/again", "ramus", machine.again()));
    Ok(())
}

/// A user's home with the stores of agents in it, and a home of ours.
struct Machine {
    user: TempDir,
    ramus: Ramus,
    /// What the files of agents were.
    before: BTreeMap<PathBuf, (Vec<u8>, SystemTime)>,
}

impl Machine {
    fn new(fixtures: &Path, ramus: &Ramus) -> Result<Self> {
        let user = tempfile::tempdir().context("cannot create a temporary folder")?;
        for (_, from, extension, to) in STORES {
            let from = fixtures.join(from);
            for path in files(&from) {
                if !extension.is_empty() && path.extension().is_none_or(|found| found != extension) {
                    continue;
                }
                // What agents wrote lies in a folder with the version of the agent.
                let inside = path.strip_prefix(&from)?;
                let is_version =
                    |part: &std::path::Component<'_>| part.as_os_str().to_string_lossy().starts_with("generated-");
                let inside: PathBuf = inside.components().skip_while(is_version).collect();
                let target = user.path().join(to).join(inside);
                fs::create_dir_all(target.parent().context("a file lies in a folder")?)?;
                fs::write(&target, fs::read(&path)?)?;
            }
        }
        let mut machine = Self { user, ramus: ramus.fresh()?, before: BTreeMap::new() };
        machine.before = machine.stored()?;
        Ok(machine)
    }

    fn stored(&self) -> Result<BTreeMap<PathBuf, (Vec<u8>, SystemTime)>> {
        let read = |path: PathBuf| {
            let changed = fs::metadata(&path)?.modified()?;
            Ok((path.clone(), (fs::read(path)?, changed)))
        };
        files(self.user.path()).into_iter().map(read).collect()
    }

    fn ask(&self, arguments: &[&str]) -> Result<Value> {
        let mut command = self.ramus.command();
        command.args(arguments).arg("--json").env_clear().env("HOME", self.user.path());
        let Ended::Itself(output) = process::within(LIMIT, &mut command)? else { bail!("ramus {arguments:?} hangs") };
        ensure!(output.status.success(), "ramus {arguments:?}: {} {}", output.status, output.stderr.trim());
        Ok(serde_json::from_str(&output.stdout)?)
    }

    fn import(&self) -> Result<Value> {
        self.ask(&["import", "--yes"])
    }

    /// Judges what came of one agent.
    fn taken(&self, done: &Value, agent: &str) -> Result<(Verdict, String)> {
        let failed: Vec<&Value> = list(done, "failed").filter(|failed| text(failed, "agent") == agent).collect();
        ensure!(failed.is_empty(), "failed: {failed:?}");
        let sessions: Vec<&Value> = list(done, "imported").filter(|session| text(session, "source") == agent).collect();
        ensure!(!sessions.is_empty(), "nothing came");
        let is_own = |id: &str| sessions.iter().any(|session| text(session, "id") == id);
        let forks = list(done, "linked").filter(|link| is_own(text(link, "id"))).count();
        ensure!(forks > 0 || !FORKED.contains(&agent), "a fork is not linked");
        let mut children = 0;
        let mut entries = 0;
        for session in &sessions {
            let id = text(session, "id");
            entries += session.get("entries").and_then(Value::as_u64).unwrap_or_default();
            let shown = self.ask(&["show", id])?;
            let parent = shown.pointer("/session/parent").and_then(Value::as_str);
            ensure!(parent.is_none_or(is_own), "{id} has a parent that did not come");
            children += usize::from(parent.is_some());
            let file = self.user.path().join("exported");
            self.ask(&["export", id, "--to", agent, "-o", &file.to_string_lossy()])?;
            ensure!(fs::metadata(&file)?.len() > 0, "{id} is nothing when it goes back");
            fs::remove_file(&file)?;
        }
        let count = sessions.len();
        Ok((Verdict::Same, format!("{count} sessions, {entries} entries, {children} children, {forks} forks linked")))
    }

    /// Judges a second import: nothing is new, and nothing of the agents' is touched.
    fn again(&self) -> Result<(Verdict, String)> {
        let done = self.import()?;
        for name in ["imported", "grown", "linked", "failed"] {
            ensure!(list(&done, name).next().is_none(), "{name} the second time: {:?}", done.get(name));
        }
        ensure!(self.stored()? == self.before, "a file of an agent is not what it was");
        let unchanged = done.get("unchanged").and_then(Value::as_u64).unwrap_or_default();
        Ok((Verdict::Same, format!("{unchanged} sessions unchanged, {} files untouched", self.before.len())))
    }
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
