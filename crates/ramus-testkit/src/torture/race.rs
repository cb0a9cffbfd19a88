//! Several processes append to one session at once: matrix row C1. Nothing is lost, doubled or interleaved, every
//! writer's entries are in its order, and the entries form one chain.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use ramus_engine::{Engine, Session};
use ramus_model::Scope;
use ramus_store::planted::Bug;
use serde_json::Value;

use super::child::{Program, plant};
use super::kill::Patient;
use super::lines::{Lines, Sizes};

/// A race.
#[derive(Clone, Debug)]
pub struct Race {
    /// Who appends.
    pub program: Program,
    /// How many processes.
    pub writers: u64,
    /// How many entries each appends.
    pub appends: u64,
    /// Decides the entries.
    pub seed: u64,
    /// A bug in every writer, which must show.
    pub planted: Option<Bug>,
}

impl Race {
    /// Runs it. Returns how many entries the session has; an error is a violation.
    pub fn run(&self) -> Result<u64> {
        let patient = Patient::new(self.lines(0))?;
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let mut children = Vec::new();
        for writer in 0..self.writers {
            children.push(Running(self.start(&patient, folder.path(), writer)?));
        }
        for child in &mut children {
            let status = child.0.wait()?;
            let mut said = Vec::new();
            if let Some(stderr) = &mut child.0.stderr {
                std::io::Read::read_to_end(stderr, &mut said)?;
            }
            ensure!(status.success(), "a writer failed ({status}): {}", String::from_utf8_lossy(&said));
        }
        let session = patient.judge.engine().open(&patient.session, "/")?;
        self.check_file(&session, folder.path())?;
        self.check_tree(&patient.judge.engine(), &session)?;
        Ok(session.log().len() as u64)
    }

    /// Every writer has entries of its own.
    fn lines(&self, writer: u64) -> Lines {
        Lines { seed: self.seed ^ (writer + 1) << 32, sizes: Sizes::Short }
    }

    fn start(&self, patient: &Patient, folder: &Path, writer: u64) -> Result<Child> {
        let lines = self.lines(writer);
        let home = &patient.judge.home;
        let mut command = match &self.program {
            Program::Ramus(binary) => {
                let file = folder.join(format!("lines-{writer}"));
                let entries: Vec<_> = (0..self.appends).map(|number| lines.entry(number)).collect();
                fs::write(&file, entries.join(b"\n".as_slice()))?;
                let mut command = Command::new(binary);
                command.arg("--home").arg(home).args(["append", &patient.session, "--stream", "--json"]).arg(file);
                command
            }
            Program::Crashbox(binary, flushing) => {
                let mut command = Command::new(binary);
                command.arg("write").arg(home).arg(&patient.session).arg(lines.seed.to_string());
                command.args([lines.sizes.name(), "0", flushing.name(), &self.appends.to_string()]);
                command
            }
        };
        plant(&mut command, self.planted);
        let acknowledgements = File::create(folder.join(format!("acknowledged-{writer}")))?;
        command.stdin(Stdio::null()).stdout(acknowledgements).stderr(Stdio::piped());
        command.spawn().context("cannot start a writer")
    }

    /// Reads the file without ramus: every line is the next entry of one writer, under the id that writer was told.
    fn check_file(&self, session: &Session, folder: &Path) -> Result<()> {
        let path = session.location().path.clone().context("a session without a file")?;
        let bytes = fs::read(path)?;
        ensure!(bytes.ends_with(b"\n"), "the file does not end in a newline");
        let mut expected = Vec::new();
        for writer in 0..self.writers {
            let ids = acknowledged(&folder.join(format!("acknowledged-{writer}")))?;
            ensure!(ids.len() as u64 == self.appends, "writer {writer} was told of {} entries", ids.len());
            expected.push((self.lines(writer), ids, 0_usize));
        }
        let mut previous: Option<String> = None;
        for (at, line) in bytes.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty()).enumerate() {
            let entry: Value = serde_json::from_slice(line).with_context(|| format!("line {at} is no JSON"))?;
            let text = |name: &str| entry.get(name).and_then(Value::as_str);
            ensure!(text("parentId") == previous.as_deref(), "entry {at} is not chained to the one before it");
            let id = text("id").context("an entry without an id")?;
            let owner = expected.iter_mut().find(|(_, ids, next)| ids.get(*next).is_some_and(|next| next == id));
            let (lines, _, next) = owner.with_context(|| format!("entry {at} is no writer's next one"))?;
            let body = [b",\"message\":".as_slice(), &lines.message(*next as u64), b"}"].concat();
            ensure!(line.ends_with(&body), "entry {at} is not what was sent");
            *next += 1;
            previous = Some(id.to_owned());
        }
        for (writer, (_, _, next)) in expected.iter().enumerate() {
            ensure!(*next as u64 == self.appends, "writer {writer} lost {} entries", self.appends - *next as u64);
        }
        Ok(())
    }

    /// What ramus makes of it: one chain, nothing to complain about.
    fn check_tree(&self, engine: &Engine, session: &Session) -> Result<()> {
        let total = self.writers * self.appends;
        ensure!(session.log().len() as u64 == total, "ramus sees {} entries of {total}", session.log().len());
        ensure!(session.leaves().len() == 1, "the tree has {} leaves", session.leaves().len());
        ensure!(session.tree(Scope::Visible).roots.len() == 1, "the tree has several roots");
        let diagnosis = engine.doctor(session.id().as_str(), "/")?;
        ensure!(diagnosis.findings.is_empty(), "{:?}", diagnosis.findings);
        Ok(())
    }
}

/// Ids in the order in which a writer was told of them.
fn acknowledged(path: &Path) -> Result<Vec<String>> {
    let text = fs::read(path)?;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let id = |line| {
        let line: Value = serde_json::from_slice(line)?;
        Ok(line.get("id").and_then(Value::as_str).context("an acknowledgement without an id")?.to_owned())
    };
    lines.map(id).collect()
}

/// A child that does not outlive the driver.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Ended already, unless the driver failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
