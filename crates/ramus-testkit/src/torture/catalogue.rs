//! The catalogue is derived: whatever happens to it, every answer is the one that reading all files would give.
//!
//! [`harm`] is what happens to it, [`derived`] asks afterwards, [`crowd`] lets many processes write and ask at once. The
//! answer that counts is the one of the same binary in a copy of the home that never had a catalogue; the markers of
//! [`crate::home`] are the answers that nobody has to compute.

mod change;
pub mod crowd;
pub mod derived;
mod harm;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::child::plant;
use crate::home::{self, COMMON, Made, Place, RARE};

/// What is asked. Between them they read every table and every index.
const QUESTIONS: [&[&str]; 15] = [
    &["list", "--all"],
    &["list", "--all", "--archived", "--drafts", "--limit", "7"],
    &["list", "--cwd", "/home/bench"],
    &["list", "--all", "--drafts", "--search", "the"],
    &["list", "--all", "--owner", "default", "--limit", "3"],
    &["search", COMMON, "--limit", "1000"],
    &["search", RARE],
    &["search", "role:user error", "--limit", "20"],
    &["search", "hornb*", "--limit", "1000"],
    &["search", "\"解析\"", "--limit", "30"],
    &["search", "tool:bash has:error -the", "--limit", "30"],
    &["usage", "--by", "day"],
    &["usage", "--by", "model"],
    &["usage", "--by", "project"],
    &["usage", "--by", "session"],
];

/// The binary in a home.
#[derive(Clone, Debug)]
struct Asked {
    ramus: PathBuf,
    home: PathBuf,
}

impl Asked {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.ramus);
        command.env_clear().env("RAMUS_HOME", &self.home).env("HOME", "/nonexistent");
        plant(&mut command, None);
        command.args(arguments).arg("--json").current_dir("/").stdin(Stdio::null());
        command
    }

    /// Runs a command that must succeed. Returns its answer and what it said on stderr.
    fn run(&self, arguments: &[&str]) -> Result<(Value, String)> {
        let output = self.command(arguments).output().context("cannot start ramus")?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        ensure!(output.status.success(), "ramus {arguments:?} failed ({}): {said}", output.status);
        // Where the home is must make no difference.
        let text = String::from_utf8_lossy(&output.stdout).replace(&self.home.display().to_string(), "HOME");
        Ok((serde_json::from_str(&text).with_context(|| format!("ramus {arguments:?} said {text:?}"))?, said))
    }

    /// Asks one of the questions; a list is followed to its end.
    fn ask(&self, question: &[&str]) -> Result<Vec<Value>> {
        let mut pages = vec![self.run(question)?.0];
        while let Some(cursor) = pages.last().and_then(|page| page.get("next_cursor")).and_then(Value::as_str) {
            ensure!(pages.len() < 5_000, "ramus {question:?} never ends");
            let cursor = cursor.to_owned();
            pages.push(self.run(&[question, &["--cursor", &cursor]].concat())?.0);
        }
        Ok(pages)
    }

    /// Copies the home as files and asks there: the answers that count.
    fn truth(&self) -> Result<Vec<Vec<Value>>> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let copy = folder.path().join("home");
        home::copy(&self.home, &copy).context("cannot copy the home")?;
        let asked = Self { ramus: self.ramus.clone(), home: copy.clone() };
        QUESTIONS
            .iter()
            .map(|question| {
                remove_catalogue(&copy)?;
                asked.ask(question)
            })
            .collect()
    }

    /// Asks a question and compares. The error shows where the answers part.
    fn compare(&self, number: usize, truth: &[Vec<Value>]) -> Result<()> {
        let question = QUESTIONS.get(number).context("no such question")?;
        let (mut answer, mut expected) = (self.ask(question)?, truth.get(number).context("no such answer")?.clone());
        // The text of sessions that are gone is taken out of the index bit by bit, and until then it weighs on the scores.
        if answer != expected {
            [&mut answer, &mut expected].into_iter().flatten().for_each(unrank);
        }
        if answer != expected {
            let (answer, expected) = (serde_json::to_string(&answer)?, serde_json::to_string(&expected)?);
            let at = answer.bytes().zip(expected.bytes()).take_while(|(one, other)| one == other).count();
            let around = |text: &str| {
                let start = text.floor_char_boundary(at.saturating_sub(120));
                let end = text.floor_char_boundary(text.len().min(at + 200));
                text.get(start..end).unwrap_or_default().to_owned()
            };
            bail!("ramus {question:?} answers\n  …{}…\ninstead of\n  …{}…", around(&answer), around(&expected));
        }
        Ok(())
    }

    /// Holds the answers against what is known of a home that was just made.
    fn check_markers(&self, made: &Made) -> Result<()> {
        for (word, places) in [(RARE, &made.rare), (COMMON, &made.common)] {
            let (answer, _) = self.run(&["search", word, "--limit", "1000000"])?;
            let hits = answer.get("hits").and_then(Value::as_array).context("an answer without hits")?;
            let text = |hit: &Value, name: &str| hit.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let place = |hit: &Value| Place { session: text(hit, "session"), entry: text(hit, "entry") };
            let (found, expected) = (hits.iter().map(place).collect(), places.iter().cloned().collect());
            let missing: Vec<_> = BTreeSet::difference(&expected, &found).collect();
            let wrong: Vec<_> = BTreeSet::difference(&found, &expected).collect();
            ensure!(missing.is_empty() && wrong.is_empty(), "{word}: missing {missing:?}, wrong {wrong:?}");
            ensure!(hits.len() == places.len(), "{word}: {} hits for {} messages", hits.len(), places.len());
        }
        Ok(())
    }
}

/// Takes out what may differ between an index and a reader, who estimates how long texts are that do not matter: the
/// scores, and with them the order. When only the best hits are shown, how many there are must do.
fn unrank(page: &mut Value) {
    let Some(page) = page.as_object_mut() else { return };
    page.remove("index");
    let total = page.get("total").and_then(Value::as_u64);
    let Some(hits) = page.get_mut("hits").and_then(Value::as_array_mut) else { return };
    if total != Some(hits.len() as u64) {
        hits.clear();
    }
    for hit in hits.iter_mut().filter_map(Value::as_object_mut) {
        hit.remove("score");
    }
    hits.sort_by_cached_key(Value::to_string);
}

/// Removes a catalogue, the way a person would.
fn remove_catalogue(home: &Path) -> Result<()> {
    for entry in std::fs::read_dir(home).context("cannot read the home")? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("catalogue.") {
            if entry.file_type()?.is_dir() {
                std::fs::remove_dir_all(entry.path())?;
            } else {
                std::fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}
