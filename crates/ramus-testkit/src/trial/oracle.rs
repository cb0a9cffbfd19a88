//! The judge of a disk after a crash: acknowledged ⊆ recovered ⊆ attempted, in order, byte for byte; and whatever is
//! there can be written to again without losing or hiding a byte.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_engine::{Cursor, Engine, EngineError, Filter, Session};

use super::home::{CWD, engine, message};
use super::model::{Entry, Model, judge};
use crate::sim::SimFs;
use ramus_model::FindingKind;

/// What is expected of a disk.
pub struct Oracle<'m> {
    /// What was acknowledged before the crash.
    pub before: &'m Model,
    /// What would have been acknowledged had the verb in flight come to its end; the same when none was.
    pub after: &'m Model,
    /// The sessions that are written to after the crash.
    pub writes: &'m [String],
}

/// Reads all entries of a session, without those of its origin that it does not show.
pub fn entries_of(session: &Session) -> Result<Vec<Entry>, EngineError> {
    let entry = |seq| Ok(Entry { id: session.log().id(seq).to_owned(), line: Some(session.line(seq)?) });
    session.log().seqs().filter(|seq| session.log().belongs(*seq)).map(entry).collect()
}

fn told(what: &str) -> impl Fn(EngineError) -> String {
    move |error| format!("{what}: {error}")
}

impl Oracle<'_> {
    /// Says what is wrong with a disk, if anything. The disk is recovered and written to on the way.
    pub fn check(&self, fs: &SimFs) -> Result<(), String> {
        let untouched = fs.files();
        let listed = self.check_reading(fs)?;
        if fs.files() != untouched {
            return Err("reading changed a file".to_owned());
        }
        self.check_precious(fs)?;
        for id in listed.iter().filter(|id| self.writes.contains(id)) {
            check_writing(fs, id).map_err(|wrong| format!("session {id} {wrong}"))?;
        }
        self.check_precious(fs)?;
        let recovered = fs.files();
        engine(fs).doctor_all(ramus_engine::Treatment::LookOnly).map_err(told("doctor"))?;
        if fs.files() == recovered { Ok(()) } else { Err("recovering twice changed a file".to_owned()) }
    }

    /// Checks that the right sessions are there and hold what they should.
    fn check_reading(&self, fs: &SimFs) -> Result<Vec<String>, String> {
        let engine = engine(fs);
        let filter = Filter { drafts: true, archived: true, ..Filter::default() };
        let listing = engine.list_by_reading(&filter).map_err(told("list"))?;
        if let Some((id, reason)) = listing.unreadable.first() {
            return Err(format!("session {id} cannot be read: {reason}"));
        }
        let listed: Vec<String> = listing.sessions.iter().map(|info| info.id.to_string()).collect();
        let distinct: BTreeSet<&String> = listed.iter().collect();
        if distinct.len() != listed.len() {
            return Err(format!("a session is listed twice: {listed:?}"));
        }
        for id in self.before.sessions.keys().filter(|id| self.after.sessions.contains_key(*id)) {
            if !distinct.contains(id) {
                return Err(format!("session {id} was acknowledged and is gone"));
            }
        }
        for id in &listed {
            self.check_entries(&engine, id).map_err(|wrong| format!("session {id} {wrong}"))?;
        }
        Ok(listed)
    }

    fn check_entries(&self, engine: &Engine, id: &str) -> Result<(), String> {
        let session = engine.open(id, CWD).map_err(told("cannot be opened"))?;
        let read = entries_of(&session).map_err(told("cannot be read"))?;
        let examined = engine.doctor(id, CWD).map_err(told("cannot be examined"))?;
        if let Some(missing) = examined.findings.iter().find(|finding| finding.kind == FindingKind::MissingBlob) {
            return Err(format!("refers to a blob that is gone: {}", missing.detail));
        }
        match (self.before.sessions.get(id), self.after.sessions.get(id)) {
            (Some(before), Some(after)) => judge(&read, before, after),
            // Made or deleted in flight: whole, or not there.
            (Some(whole), None) | (None, Some(whole)) => judge(&read, whole, whole),
            (None, None) => Err("was deleted, or never made, and is there".to_owned()),
        }
    }

    fn check_precious(&self, fs: &SimFs) -> Result<(), String> {
        let files = fs.files();
        for (id, bytes) in &self.after.precious {
            let kept = files.iter().any(|(_, content)| contains(content, bytes));
            if self.after.sessions.contains_key(id) && !kept {
                return Err(format!("{} bytes of session {id} are in no file any more", bytes.len()));
            }
        }
        Ok(())
    }
}

/// Appends twice, as after a restart, and checks what became of the file.
pub(super) fn check_writing(fs: &SimFs, id: &str) -> Result<(), String> {
    let engine = engine(fs);
    let mut session = engine.open(id, CWD).map_err(told("cannot be opened"))?;
    let mut expected = entries_of(&session).map_err(told("cannot be read"))?;
    let torn = file_of(fs, &session)?;
    for turn in ["first", "second"] {
        let before = file_of(fs, &session)?;
        let quarantined = quarantine(fs).len();
        let appended = engine.append(&mut session, &[message(None, "user", turn)], &Cursor::Leaf);
        let appended = appended.map_err(told("cannot be appended to"))?;
        expected.extend(appended.entries.iter().map(|entry| Entry { id: entry.id.to_string(), line: None }));
        let after = file_of(fs, &session)?;
        if turn == "second" && (!after.starts_with(before.as_slice()) || quarantine(fs).len() != quarantined) {
            return Err("was repaired a second time".to_owned());
        }
        session = engine.open(id, CWD).map_err(told("cannot be opened again"))?;
    }
    let read = entries_of(&session).map_err(told("cannot be read again"))?;
    // An upgrade gives entries other bytes and the same ids.
    let same = |(read, expected): (&Entry, &Entry)| read.id == expected.id;
    if read.len() != expected.len() || !read.iter().zip(&expected).all(same) {
        return Err(format!("holds {} entries after {} were expected", read.len(), expected.len()));
    }
    check_file(&engine, id, &file_of(fs, &session)?)?;
    check_cut(fs, &torn, &file_of(fs, &session)?)
}

/// Checks that a file is sound: whole lines, all of them JSON.
fn check_file(engine: &Engine, id: &str, content: &[u8]) -> Result<(), String> {
    let diagnosis = engine.doctor(id, CWD).map_err(told("cannot be examined"))?;
    if let Some(finding) = diagnosis.findings.first().filter(|_| !diagnosis.is_clean()) {
        return Err(format!("is damaged after recovery: {finding:?}"));
    }
    let Some(lines) = content.strip_suffix(b"\n") else { return Err("does not end in a newline".to_owned()) };
    let is_json = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).is_ok();
    if lines.split(|byte| *byte == b'\n').all(is_json) { Ok(()) } else { Err("has a line that is not JSON".to_owned()) }
}

/// Checks that what was cut off a file is in quarantine, or the whole file in a backup.
fn check_cut(fs: &SimFs, before: &[u8], after: &[u8]) -> Result<(), String> {
    let common = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    // What was cut starts where a line or a record ends, so behind it another byte may agree by chance.
    let is_kept = |content: &[u8]| (0..=common).any(|cut| before.get(cut..).is_some_and(|tail| tail == content));
    let kept = common == before.len()
        || quarantine(fs).iter().any(|content| is_kept(content))
        || fs.files().iter().any(|(path, content)| **content == before && is_backup(path));
    if kept { Ok(()) } else { Err(format!("lost {} bytes that are in no quarantine", before.len() - common)) }
}

fn is_backup(path: &Path) -> bool {
    path.to_string_lossy().contains(".bak")
}

fn quarantine(fs: &SimFs) -> Vec<Arc<Vec<u8>>> {
    let is_kept = |path: &PathBuf| path.extension() == Some("bin".as_ref());
    fs.files().into_iter().filter(|(path, _)| is_kept(path)).map(|(_, content)| content).collect()
}

fn file_of(fs: &SimFs, session: &Session) -> Result<Arc<Vec<u8>>, String> {
    let path = session.location().path.clone().ok_or("has no file")?;
    let found = fs.files().into_iter().find(|(name, _)| *name == path);
    found.map(|(_, content)| content).ok_or_else(|| format!("has no file at {}", path.display()))
}

fn contains(content: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(content, part).is_some()
}
