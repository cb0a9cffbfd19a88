//! The judge of what is left of a session: the file is read without ramus first, then ramus must see the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use ramus_engine::{Cursor, Engine, Session};
use ramus_model::Draft;
use ramus_store::{JsonlStore, Layout};

use super::lines::Lines;

/// What the file of a session holds.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Ids of the whole entries, in order.
    pub ids: Vec<String>,
    /// The bytes behind the last newline.
    pub tail: Vec<u8>,
    /// How long the file is.
    pub size: u64,
    /// Where it is.
    pub path: PathBuf,
}

/// A home, and the entries that its one session should consist of.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The home of ramus.
    pub home: PathBuf,
    /// What the entries are.
    pub lines: Lines,
}

impl Judge {
    /// Makes an engine of this process over the home.
    pub fn engine(&self) -> Engine {
        Engine::new(Arc::new(JsonlStore::new(&self.home, Layout::Pi)), "torture")
    }

    /// Opens a session and reads its file: entries from number 0 on, none missing, none changed, each hanging from the
    /// one before it.
    pub fn read(&self, id: &str) -> Result<(Session, Found)> {
        let session = self.engine().open(id, "/").context("the session cannot be opened")?;
        let path = session.location().path.clone().context("a session without a file")?;
        let found = self.found(&path)?;
        let log = session.log();
        let unended = usize::from(log.tail() == ramus_model::Tail::Unended);
        let whole = found.ids.len();
        ensure!(log.len() == whole + unended, "ramus sees {} entries, the file has {whole}", log.len());
        let torn = matches!(log.tail(), ramus_model::Tail::Torn { .. });
        ensure!(torn == (!found.tail.is_empty() && unended == 0), "ramus and the file disagree on the tail");
        let leaf = session.leaf().map(|leaf| leaf.to_string());
        ensure!(unended == 1 || leaf.as_ref() == found.ids.last(), "the leaf is not the last entry");
        Ok((session, found))
    }

    /// Makes sure that everything acknowledged is there, under the ids that were acknowledged, and no more than one
    /// entry that was not. `before` entries had been there already.
    pub fn holds(found: &Found, before: u64, acknowledged: &[String]) -> Result<()> {
        let before = usize::try_from(before)?;
        let new = found.ids.get(before..).with_context(|| {
            format!("{} of {before} entries that were there before are lost", before - found.ids.len())
        })?;
        ensure!(
            new.len() >= acknowledged.len(),
            "{} of {} acknowledged entries are lost",
            acknowledged.len() - new.len(),
            acknowledged.len()
        );
        ensure!(new.starts_with(acknowledged), "acknowledged ids and stored ids differ");
        ensure!(new.len() <= acknowledged.len() + 1, "{} entries that nobody sent", new.len() - acknowledged.len() - 1);
        Ok(())
    }

    /// Appends one entry, as the next program would; then the file must be clean and the torn bytes kept, exactly.
    /// Returns what is there now.
    pub fn repair(&self, session: Session, found: &Found) -> Result<Found> {
        let torn = matches!(session.log().tail(), ramus_model::Tail::Torn { .. });
        let next = session.log().len();
        let kept = self.set_aside()?.len();
        let after = self.finish(session)?;
        ensure!(after.ids.len() == next + 1, "{} entries after one append to {next}", after.ids.len());
        ensure!(after.ids.starts_with(&found.ids), "the repair changed an entry");
        let aside = self.set_aside()?;
        ensure!(aside.len() == kept + usize::from(torn), "{} new files in quarantine", aside.len() - kept);
        ensure!(!torn || aside.contains(&found.tail), "the torn bytes were not kept");
        Ok(after)
    }

    /// Appends one entry and makes sure that nothing is left to repair.
    pub fn finish(&self, mut session: Session) -> Result<Found> {
        let id = session.id().to_string();
        let was_sound = session.log().tail() == ramus_model::Tail::Ended;
        let draft = Draft::parse(&self.lines.entry(session.log().len() as u64))?;
        self.engine().append(&mut session, &[draft], &Cursor::Leaf).context("the append after it failed")?;
        let (_, after) = self.read(&id).context("after the repair")?;
        ensure!(after.tail.is_empty(), "the file does not end in a newline after the repair");
        // Where nothing was torn, every byte has just been compared with what was sent.
        if !was_sound {
            let diagnosis = self.engine().doctor(&id, "/")?;
            ensure!(diagnosis.is_clean(), "after the repair: {:?}", diagnosis.findings);
        }
        Ok(after)
    }

    /// Everything in quarantine.
    pub fn set_aside(&self) -> Result<Vec<Vec<u8>>> {
        let folder = self.home.join("quarantine");
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let is_damage = |path: &&PathBuf| path.extension() == Some("bin".as_ref());
        paths.iter().filter(is_damage).map(|path| Ok(fs::read(path)?)).collect()
    }

    fn found(&self, path: &Path) -> Result<Found> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let (whole, tail) = bytes.split_at(end);
        let mut ids: Vec<String> = Vec::new();
        let lines = whole.split_inclusive(|byte| *byte == b'\n').map(|line| line.trim_ascii_end());
        for (at, line) in lines.enumerate() {
            if at == 0 {
                ensure!(line.starts_with(br#"{"type":"session""#), "the first line is no header");
                continue;
            }
            let number = ids.len() as u64;
            let id = self.entry_id(line, number, ids.last()).with_context(|| format!("entry {number} is wrong"))?;
            ids.push(id);
        }
        Ok(Found { ids, tail: tail.to_vec(), size: bytes.len() as u64, path: path.to_owned() })
    }

    /// Checks a stored line byte for byte and returns its id.
    fn entry_id(&self, line: &[u8], number: u64, previous: Option<&String>) -> Result<String> {
        let body = [b",\"message\":".as_slice(), &self.lines.message(number), b"}"].concat();
        let envelope = line.strip_suffix(body.as_slice()).context("not the message that was sent")?;
        let envelope: serde_json::Value = serde_json::from_slice(&[envelope, b"}"].concat())?;
        let text = |name: &str| envelope.get(name).and_then(serde_json::Value::as_str);
        ensure!(text("type") == Some("message"), "not a message");
        ensure!(text("parentId") == previous.map(String::as_str), "it hangs from {:?}", text("parentId"));
        Ok(text("id").context("no id")?.to_owned())
    }
}
