//! Two writers on one session: the second one comes in inside every single operation of the first one's append. The
//! schedule is fixed, so a loss is found every time, not now and then.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ramus_engine::{Cursor, EngineError, ErrorKind};
use ramus_store::fs::FileSystem as _;
use rustix::io::Errno;

use super::home::{CWD, PUBLISHED, engine, furnish, message};
use crate::sim::{Fault, OperationKind, SimFs};

/// Where the second writer may come in.
const KINDS: [OperationKind; 5] =
    [OperationKind::Lock, OperationKind::Inspect, OperationKind::Open, OperationKind::Write, OperationKind::Sync];

/// Lets the second writer in at every operation of the first one's append, which succeeds or finds the disk full. Returns
/// how many schedules ran.
pub fn interleave() -> Result<usize, String> {
    let mut schedules = 0;
    for kind in KINDS {
        for is_full in [false, true] {
            for at in 1.. {
                let came_in = meet(kind, at, is_full).map_err(|wrong| {
                    let outcome = if is_full { "whose write fails" } else { "that succeeds" };
                    format!("second writer inside {kind:?} {at} of an append {outcome}: {wrong}")
                })?;
                if !came_in {
                    break;
                }
                schedules += 1;
            }
        }
    }
    Ok(schedules)
}

/// Runs one schedule; says whether the append had so many operations.
fn meet(kind: OperationKind, at: usize, is_full: bool) -> Result<bool, String> {
    let fs = SimFs::default();
    furnish(&fs);
    let open = || -> Result<_, EngineError> {
        let engine = engine(&fs);
        let session = engine.open(PUBLISHED, CWD)?;
        Ok((engine, session))
    };
    let (one, mut first) = open().map_err(|error| error.to_string())?;
    let (two, mut second) = open().map_err(|error| error.to_string())?;
    let say = |id: &str| [message(Some(id), "user", id)];
    let outcome: Arc<Mutex<Option<Result<(), EngineError>>>> = Arc::default();
    let (told, hooked, draft) = (Arc::clone(&outcome), fs.clone(), say("bbbbbbbb"));
    fs.interrupt(kind, at, move || {
        let appended = two.append(&mut second, &draft, &Cursor::Leaf).map(drop);
        *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(appended);
        if is_full {
            hooked.arm(Fault::once(OperationKind::Write, 1, Errno::NOSPC));
        }
    });
    let first_outcome = one.append(&mut first, &say("aaaaaaaa"), &Cursor::Leaf).map(drop);
    let second_outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(second_outcome) = second_outcome else { return Ok(false) };
    let mut acknowledged = Vec::new();
    for (id, outcome) in [("aaaaaaaa", first_outcome), ("bbbbbbbb", second_outcome)] {
        match outcome {
            Ok(()) => acknowledged.push(id),
            Err(error) if matches!(error.kind(), ErrorKind::Busy | ErrorKind::Full) => {}
            Err(error) => return Err(format!("{id} failed: {error}")),
        }
    }
    fs.clear_faults();
    one.append(&mut first, &say("cccccccc"), &Cursor::Leaf)
        .map_err(|error| format!("the next append failed: {error}"))?;
    acknowledged.push("cccccccc");
    check_chain(&fs, &acknowledged)?;
    Ok(true)
}

/// Entries that name no parent form one chain, whoever wrote them.
fn check_chain(fs: &SimFs, acknowledged: &[&str]) -> Result<(), String> {
    let session = engine(fs).open(PUBLISHED, CWD).map_err(|error| error.to_string())?;
    let log = session.log();
    let path: Vec<&str> = log.path(log.leaf()).into_iter().map(|seq| log.id(seq)).collect();
    if let Some(lost) = acknowledged.iter().find(|id| !path.contains(id)) {
        return Err(format!("{lost} was acknowledged and is not on the path {path:?}"));
    }
    if log.is_damaged() { Err(format!("the log is damaged: {:?}", log.findings())) } else { Ok(()) }
}

/// Another program replaces the file of an open session, as editors and sync tools do: by renaming a copy over it, or by
/// removing it and putting a copy there. What is appended next must be in the file that has the name.
pub fn replace_under_writer() -> Result<(), String> {
    let wrong = |error: EngineError| error.to_string();
    let fs = SimFs::default();
    furnish(&fs);
    let engine = engine(&fs);
    let mut session = engine.open(PUBLISHED, CWD).map_err(wrong)?;
    let path: PathBuf = session.location().path.clone().ok_or("no file")?;
    for (turn, removes) in [false, true, false].into_iter().enumerate() {
        let id = format!("{turn:08}");
        engine.append(&mut session, &[message(Some(&id), "user", "before")], &Cursor::Leaf).map_err(wrong)?;
        let content = fs.files().into_iter().find(|(name, _)| *name == path).map(|(_, content)| content);
        let content = content.ok_or("the file is gone")?;
        if removes {
            fs.remove(&path).map_err(|error| error.to_string())?;
            fs.place(&path, &content);
        } else {
            let copy = path.with_extension("copy");
            fs.place(&copy, &content);
            fs.rename(&copy, &path).map_err(|error| error.to_string())?;
        }
        let id = format!("{turn:07}b");
        engine.append(&mut session, &[message(Some(&id), "user", "after")], &Cursor::Leaf).map_err(wrong)?;
        check_chain(&fs, &[&id])?;
    }
    Ok(())
}
