//! One file, several programs: pi or omp in one long-lived process and ramus in a process per append take turns, then
//! omp and ramus write at the same time. Every program keeps its own idea of the leaf, so their entries may become
//! siblings; none may be lost.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::digest;
use super::oracle::{Oracle, Oracles};
use super::ramus::{Ramus, Talk};
use super::{Extent, Row, Scope, Verdict};

/// A driver of the programs' own session managers.
const SCRIPT: &str = include_str!("alternate.mjs");

/// Plays every case that `scope` covers.
pub(super) fn judge(oracles: &Oracles, ramus: &Ramus, scope: &Scope, show: &mut impl FnMut(Row)) -> Result<()> {
    let (long, short, at_once) = if scope.extent == Extent::Full { (1_000, 100, 2_000) } else { (20, 20, 500) };
    let turns = [(Oracle::Omp18, long), (Oracle::Pi87, short)];
    for (program, rounds) in turns {
        let case = format!("alternate/{}-turns", program.name());
        if scope.covers(&case) {
            show(Row::of(&case, program.name(), take_turns(oracles, ramus, program, rounds)));
        }
    }
    if scope.covers("alternate/omp18-at-once") {
        let verdict = write_at_once(oracles, ramus, at_once);
        show(Row::of("alternate/omp18-at-once", Oracle::Omp18.name(), verdict));
    }
    Ok(())
}

/// The program and ramus append in turns.
fn take_turns(oracles: &Oracles, ramus: &Ramus, program: Oracle, rounds: usize) -> Result<(Verdict, String)> {
    let file = session_file(ramus, &format!("turns-{}", program.name()))?;
    let talk = Talk::in_file(ramus, &file);
    let mut written = vec![talk.user("start")?, talk.assistant("started")?];
    let mut other = Program::start(oracles, program, &file)?;
    for round in 0..rounds {
        written.push(other.append(&format!("round {round}"))?);
        written.push(talk.user(&format!("round {round}"))?);
    }
    all_there(ramus, &file, &mut other, &written)?;
    Ok((Verdict::Same, format!("{rounds} rounds, {} entries, none lost", written.len())))
}

/// omp appends in a loop while ramus does.
fn write_at_once(oracles: &Oracles, ramus: &Ramus, each: usize) -> Result<(Verdict, String)> {
    let file = session_file(ramus, "at-once")?;
    let talk = Talk::in_file(ramus, &file);
    let mut written = vec![talk.user("start")?, talk.assistant("started")?];
    let mut other = Program::start(oracles, Oracle::Omp18, &file)?;
    // The first append is answered when the program is up.
    written.push(other.append("ready")?);
    other.say(&format!("repeat {each} beside"))?;
    let bodies: Vec<_> = (0..each).map(|at| body(&format!("beside {at}"))).collect();
    written.extend(talk.stream(&bodies)?);
    written.extend(ids(&other.hear()?)?);
    all_there(ramus, &file, &mut other, &written)?;
    let turns = changes_of_writer(&file)?;
    ensure!(turns > 1, "the two never wrote at the same time, so this shows nothing");
    Ok((Verdict::Same, format!("{each} entries each, {turns} changes of writer, none lost")))
}

/// Every entry is in the file once, in what ramus reads, and in what the program reads.
fn all_there(ramus: &Ramus, file: &Path, other: &mut Program, written: &[String]) -> Result<()> {
    let text = fs::read_to_string(file)?;
    let lines = text.lines().map(digest::parse).collect::<Result<Vec<_>>>().context("a line is not JSON")?;
    let stored: Vec<&str> = lines.iter().filter_map(|line| line.get("id")?.as_str()).collect();
    let tree = ramus.json(["tree", &file.display().to_string(), "--all"])?;
    let entries = tree.get("entries").and_then(Value::as_array).context("tree without entries")?;
    let ours: Vec<&str> = entries.iter().filter_map(|entry| entry.get("id")?.as_str()).collect();
    other.say("reopen")?;
    let theirs = ids(&other.hear()?)?;
    let theirs: Vec<&str> = theirs.iter().map(String::as_str).collect();
    for (view, seen) in [("the file", stored), ("ramus", ours), ("the program", theirs)] {
        let set: HashSet<&str> = seen.iter().copied().collect();
        ensure!(set.len() == seen.len(), "{view} has an entry twice");
        let lost = written.iter().filter(|id| !set.contains(id.as_str())).count();
        ensure!(lost == 0, "{lost} of {} entries are not in {view}", written.len());
    }
    ramus.healthy(file)
}

/// How often the next line was written by the other one; ours say so.
fn changes_of_writer(file: &Path) -> Result<usize> {
    let text = fs::read_to_string(file)?;
    let is_ours: Vec<bool> = text.lines().map(|line| line.contains(r#""from":"ramus""#)).collect();
    Ok(is_ours.windows(2).filter(|pair| pair.first() != pair.last()).count())
}

/// A fresh session in a directory like those of omp, whose locks are then taken.
fn session_file(ramus: &Ramus, name: &str) -> Result<PathBuf> {
    let folder = ramus.folder().join("agent").join("sessions").join("-project");
    fs::create_dir_all(&folder)?;
    let file = folder.join(name).with_extension("jsonl");
    let header = json!({"type": "session", "version": 3, "id": format!("0190aaaa-0000-7000-8000-{:012x}", name.len()),
        "timestamp": "2026-03-02T08:00:00.000Z", "cwd": "/project"});
    fs::write(&file, format!("{header}\n"))?;
    Ok(file)
}

fn body(text: &str) -> String {
    let message = json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 0, "from": "ramus"});
    json!({"type": "message", "message": message}).to_string()
}

fn ids(answer: &Value) -> Result<Vec<String>> {
    let ids = answer.get("ids").and_then(Value::as_array).context("an answer without ids")?;
    Ok(ids.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Another program with the file open, in a process that lives as long as this.
struct Program {
    child: Child,
    stdin: ChildStdin,
    said: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(oracles: &Oracles, program: Oracle, file: &Path) -> Result<Self> {
        let script = file.with_file_name("alternate.mjs");
        fs::write(&script, SCRIPT)?;
        let mut command = Command::new(oracles.runtime(program));
        command.arg(script).arg(oracles.session_manager(program)).arg(file).env("HOME", oracles.home());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take().context("no stdin")?;
        let said = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        Ok(Self { child, stdin, said })
    }

    fn append(&mut self, text: &str) -> Result<String> {
        self.say(&format!("append {text}"))?;
        let answer = self.hear()?;
        Ok(answer.get("id").and_then(Value::as_str).context("an append without an id")?.to_owned())
    }

    fn say(&mut self, command: &str) -> Result<()> {
        writeln!(self.stdin, "{command}").context("the program is gone")
    }

    /// The next answer. Other lines are talk of the program's own.
    fn hear(&mut self) -> Result<Value> {
        for line in self.said.by_ref() {
            let Ok(answer) = digest::parse(&line?) else { continue };
            if let Some(error) = answer.get("error").and_then(Value::as_str) {
                bail!("it fails: {error}");
            }
            return Ok(answer);
        }
        bail!("it ended")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Some of these programs ignore anything less.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
