//! What is derived from logs, or kept for them: it must never be believed against them, nor taken from them.

use ramus_engine::{Cursor, EngineError};
use ramus_model::FindingKind;

use super::home::{CWD, DRAFT, PUBLISHED, engine, furnish, message, picture};
use super::oracle::entries_of;
use crate::sim::SimFs;

fn told(error: EngineError) -> String {
    error.to_string()
}

/// Another file takes the name of a log that has a sidecar. Whoever opens it must see the file that is there.
pub fn replace_behind_sidecar() -> Result<(), String> {
    let fs = SimFs::default();
    furnish(&fs);
    let engine = engine(&fs);
    let mut session = engine.open(PUBLISHED, CWD).map_err(told)?;
    engine.append(&mut session, &[message(None, "user", "described")], &Cursor::Leaf).map_err(told)?;
    let path = session.location().path.clone().ok_or("the session has no file")?;
    drop(session);
    let stored = fs.files().into_iter().find(|(name, _)| *name == path).ok_or("the file is gone")?.1;
    // The same entries, each a little longer, as another program might write them.
    let other = String::from_utf8_lossy(&stored).replace("\"timestamp\":1", "\"timestamp\":12345");
    fs.place(&path, other.as_bytes());
    let session = engine.open(PUBLISHED, CWD).map_err(told)?;
    let read = entries_of(&session).map_err(told)?;
    let expected: Vec<&[u8]> = other.as_bytes().split(|byte| *byte == b'\n').skip(1).collect();
    for (entry, line) in read.iter().zip(expected) {
        if entry.line.as_deref() != Some(line) {
            return Err(format!("entry {} is not what the file says", entry.id));
        }
    }
    Ok(())
}

/// Blobs are collected while only a draft refers to one.
pub fn collect_beside_draft() -> Result<(), String> {
    let fs = SimFs::default();
    furnish(&fs);
    let engine = engine(&fs);
    let mut draft = engine.open(DRAFT, CWD).map_err(told)?;
    engine.append(&mut draft, &[picture("e0000001", 1)], &Cursor::Leaf).map_err(told)?;
    engine.gc(false).map_err(told)?;
    let report = engine.doctor(DRAFT, CWD).map_err(told)?;
    match report.findings.iter().find(|finding| finding.kind == FindingKind::MissingBlob) {
        Some(missing) => Err(format!("a draft lost its picture: {}", missing.detail)),
        None => Ok(()),
    }
}
