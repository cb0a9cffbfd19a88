//! The homes that are measured, and engines over them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ramus_engine::{Durability, Engine};
use ramus_store::{JsonlStore, Layout};
use ramus_testkit::home::Plan;

/// A year of work: a million messages.
pub(crate) const LARGE: Plan = Plan { sessions: 10_000, messages: 100, directories: 100, seed: 42 };
/// What other programs are given: one directory, because they list one.
pub(crate) const SMALL: Plan = Plan { sessions: 1_000, messages: 50, directories: 1, seed: 42 };

pub(crate) fn home_of(directory: &Path, plan: &Plan) -> PathBuf {
    directory.join(format!("home-{}", plan.sessions))
}

pub(crate) fn engine(home: &Path) -> Engine {
    let engine = Engine::new(Arc::new(JsonlStore::new(home, Layout::Pi)), "bench");
    engine.with_durability(Durability::Os).with_catalogue(home)
}

/// Makes both homes.
pub(crate) fn prepare(directory: &Path) -> io::Result<()> {
    for plan in [LARGE, SMALL] {
        let home = home_of(directory, &plan);
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        let start = Instant::now();
        let made = plan.write(&home)?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            r#"{{"op":"made","entries":{},"messages":{},"bytes":{},"published":{},"rare":{},"common":{},"mb_per_second":{:.1}}}"#,
            made.sessions,
            made.messages,
            made.bytes,
            made.sessions - made.drafts,
            made.rare.len(),
            made.common.len(),
            made.bytes as f64 / 1e6 / seconds,
        );
    }
    Ok(())
}

/// Removes the catalogue of a home.
pub(crate) fn forget(home: &Path) -> io::Result<()> {
    for entry in fs::read_dir(home)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("catalogue.") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The size of the files of its catalogue.
pub(crate) fn catalogue_size(home: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(home)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("catalogue.") {
            total += entry.metadata()?.len();
        }
    }
    Ok(total)
}

/// The files of all sessions.
pub(crate) fn files(home: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![home.join("sessions"), home.join("drafts")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}
