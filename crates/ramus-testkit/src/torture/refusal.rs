//! What the system refuses: files that may not grow, disks and files that may not be written, too many open files.
//! Matrix rows B6 and B7: an error with its kind, and no byte changed.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use ramus_engine::Cursor;
use ramus_model::Draft;
use serde_json::Value;

use super::child::plant;
use super::disk::Disk;
use super::kill::Patient;
use super::lines::{Lines, Sizes};
use super::oracle::Judge;

/// How many entries a program is offered; more than any limit here has room for.
const OFFERED: u64 = 2_000;

/// How a program that was refused something ended.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What it had acknowledged before.
    pub acknowledged: Vec<String>,
    /// The kind of its error.
    pub kind: String,
    /// What it said, causes included.
    pub message: String,
}

/// Lets `command`, which starts `ramus`, append entries from `first` on until it is refused.
pub(super) fn append_until_refused(command: &mut Command, judge: &Judge, id: &str, first: u64) -> Result<Refusal> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let file = folder.path().join("lines");
    let entries: Vec<_> = (first..first + OFFERED).map(|number| judge.lines.entry(number)).collect();
    fs::write(&file, entries.join(b"\n".as_slice()))?;
    command.arg("--home").arg(&judge.home).args(["append", id, "--stream", "--json", "-"]);
    plant(command, None);
    let output = command.stdin(File::open(&file)?).stderr(Stdio::piped()).output().context("cannot start ramus")?;
    ensure!(!output.status.success(), "nothing was refused");
    ensure!(output.status.code().is_some(), "the process was killed: {}", output.status);
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let id_of = |line: &[u8]| Some(serde_json::from_slice::<Value>(line).ok()?.get("id")?.as_str()?.to_owned());
    let acknowledged =
        lines.map(|line| id_of(line).context("an acknowledgement without an id")).collect::<Result<_>>()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let complaint = said.lines().rev().find_map(|line| serde_json::from_str::<Value>(line).ok());
    let complaint = complaint.with_context(|| format!("no error in JSON: {said}"))?;
    let kind = complaint.pointer("/error/kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Refusal { acknowledged, kind, message: complaint.to_string() })
}

/// A process that may not write files of more than `limit` bytes is refused like on a full disk, and lives.
pub fn file_size(ramus: &Path, limit: u64) -> Result<u64> {
    let patient = Patient::new(Lines { seed: limit, sizes: Sizes::Usual })?;
    let mut command = Command::new("prlimit");
    command.arg(format!("--fsize={limit}")).arg(ramus);
    let refusal = append_until_refused(&mut command, &patient.judge, &patient.session, 0)?;
    ensure!(refusal.kind == "full", "{}", refusal.message);
    let (session, found) = patient.judge.read(&patient.session)?;
    Judge::holds(&found, 0, &refusal.acknowledged)?;
    ensure!(found.tail.is_empty(), "{} bytes were left behind", found.tail.len());
    ensure!(found.size <= limit, "the file outgrew the limit");
    patient.judge.repair(session, &found)?;
    Ok(refusal.acknowledged.len() as u64)
}

/// A process with `limit` file descriptors does its work or says that it cannot; nothing is changed by saying so.
pub fn open_files(ramus: &Path, limit: u64) -> Result<Option<Refusal>> {
    let patient = Patient::new(Lines { seed: limit, sizes: Sizes::Short })?;
    let before = whole_file(&patient)?;
    let mut command = Command::new("prlimit");
    command.arg(format!("--nofile={limit}")).arg(ramus);
    let refusal = match append_until_refused(&mut command, &patient.judge, &patient.session, 0) {
        Ok(refusal) => refusal,
        Err(error) if error.to_string() == "nothing was refused" => return Ok(None),
        Err(error) => return Err(error),
    };
    ensure!(whole_file(&patient)? == before, "the file was changed");
    Ok(Some(refusal))
}

/// A disk that was mounted read-only, and a file that nobody may change: `denied`, and no byte changed.
pub fn not_allowed(ramus: &Path) -> Result<()> {
    let mut disk = Disk::new()?;
    disk.mount()?;
    let judge = Judge { home: disk.root().join("home"), lines: Lines { seed: 1, sizes: Sizes::Usual } };
    let engine = judge.engine();
    let mut session = engine.create(ramus_engine::NewSession { cwd: "/p".into(), ..Default::default() })?;
    engine.append(&mut session, &[Draft::parse(&judge.lines.entry(0))?], &Cursor::Leaf)?;
    let id = session.id().to_string();
    let path = session.location().path.clone().context("a session without a file")?;
    drop(session);
    let before = fs::read(&path)?;
    let refused = |what: &str| -> Result<()> {
        let refusal = append_until_refused(&mut Command::new(ramus), &judge, &id, 1)?;
        ensure!(refusal.kind == "denied", "{what}: {}", refusal.message);
        ensure!(
            refusal.message.contains(&judge.home.display().to_string()),
            "{what}: {} names no path",
            refusal.message
        );
        ensure!(refusal.acknowledged.is_empty(), "{what}: something was acknowledged");
        ensure!(fs::read(&path)? == before, "{what}: the file was changed");
        Ok(())
    };
    disk.remount("ro")?;
    refused("a read-only disk")?;
    disk.remount("rw")?;
    set_immutable(&path, true)?;
    let immutable = refused("a file that may not be changed");
    set_immutable(&path, false)?;
    immutable?;
    let (session, found) = judge.read(&id)?;
    judge.repair(session, &found)?;
    Ok(())
}

fn set_immutable(path: &Path, on: bool) -> Result<()> {
    let status = Command::new("chattr").arg(if on { "+i" } else { "-i" }).arg(path).status();
    if !status.context("cannot start chattr")?.success() {
        bail!("chattr failed");
    }
    Ok(())
}

fn whole_file(patient: &Patient) -> Result<Vec<u8>> {
    let session = patient.judge.engine().open(&patient.session, "/")?;
    Ok(fs::read(session.location().path.as_ref().context("a session without a file")?)?)
}
