//! What happens to sessions between two questions: commands that write, and other programs that do as they please.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::Asked;
use crate::home::COMMON;
use crate::random::Random;

/// Changes one thing.
pub(super) fn change(asked: &Asked, random: &mut Random) -> Result<()> {
    let file = any_session(&asked.home, random)?;
    let id = id_of(&file)?;
    let text = format!("{COMMON} again, number {}", random.below(1_000_000));
    match random.below(9) {
        0 => asked.run(&["say", &id, &text])?,
        1 => asked.run(&["say", &id, &text, "--role", "assistant"])?,
        2 => asked.run(&["rename", &id, &text])?,
        3 => asked.run(&["fork", &id])?,
        4 => {
            let (made, _) = asked.run(&["new", "--cwd", "/", "--title", "a new one"])?;
            let id = made.pointer("/session/id").and_then(Value::as_str).context("no id")?.to_owned();
            asked.run(&["say", &id, &text])?;
            asked.run(&["say", &id, &text, "--role", "assistant"])?
        }
        5 => asked.run(&["delete", &id, "--yes"]).or_else(|_| asked.run(&["list"]))?,
        6 => {
            // Another program tears its last line.
            OpenOptions::new().append(true).open(&file)?.write_all(b"{\"type\":\"message\",\"id\":\"7ea")?;
            return Ok(());
        }
        7 => return edit(&file),
        _ => {
            // Another program writes the file anew, under the same name.
            let bytes = fs::read(&file)?;
            let aside = file.with_extension("aside");
            fs::write(&aside, bytes)?;
            fs::rename(&aside, &file)?;
            return Ok(());
        }
    };
    Ok(())
}

/// Changes a word where it stands: the file keeps its length, and its time.
fn edit(file: &Path) -> Result<()> {
    let bytes = fs::read(file)?;
    let Some(at) = bytes.windows(COMMON.len()).rposition(|window| window == COMMON.as_bytes()) else { return Ok(()) };
    let open = OpenOptions::new().write(true).open(file)?;
    let time = open.metadata()?.modified()?;
    open.write_all_at(b"H0rnb", at as u64)?;
    open.set_modified(time)?;
    Ok(())
}

/// One of the published sessions.
pub(super) fn any_session(home: &Path, random: &mut Random) -> Result<PathBuf> {
    let mut files = Vec::new();
    for folder in fs::read_dir(home.join("sessions"))? {
        for file in fs::read_dir(folder?.path())? {
            files.push(file?.path());
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files.get(random.below(files.len())).cloned().context("the home has no sessions")
}

fn id_of(file: &Path) -> Result<String> {
    let name = file.file_stem().map(|name| name.to_string_lossy().into_owned());
    let id = name.and_then(|name| Some(name.split_once('_')?.1.to_owned()));
    id.with_context(|| format!("{} has no id", file.display()))
}
