//! The journal of a restore: what it is about to do, durable before it begins, empty when it is done.
//!
//! A journal that is not whole was never begun; one that is whole is carried out to its end by whoever finds it. It is one
//! file that stays, so that writing it is one wait for the disk. Emptying it is none: a journal that a power cut brings
//! back finds everything done.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;

use crate::clear::Moment;
use crate::compare::Item;
use crate::known::{path_bytes, path_of};
use crate::plan::Step;

const FIRST: &str = "ramus restore 1";

/// Stores the steps.
pub(crate) fn write(path: &Path, steps: &[Step]) -> io::Result<()> {
    let mut text = format!("{FIRST}\n");
    for step in steps {
        // Writing to a string cannot fail.
        let _ = write!(text, "{} {} {}", spell(step.old), spell(step.new), hex::encode(path_bytes(&step.path)));
        let _ = step.mode.map_or(Ok(()), |mode| write!(text, " mode:{mode:o}"));
        for path in &step.stays {
            let _ = write!(text, " stays:{}", hex::encode(path_bytes(path)));
        }
        text.push_str(if step.clears { " clears:\n" } else { "\n" });
    }
    let checksum = crc32fast::hash(text.as_bytes());
    let _ = writeln!(text, "end {checksum:08x}");
    let is_new = !path.exists();
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    if is_new { sync_parent(path) } else { Ok(()) }
}

/// Says when the steps were stored; none when there is no journal.
pub(crate) fn begun(path: &Path) -> io::Result<Option<Moment>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some((found.mtime(), found.mtime_nsec()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the steps; none when there is no whole journal.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<Step>>> {
    match fs::read(path) {
        // What is no text is not whole.
        Ok(bytes) => Ok(std::str::from_utf8(&bytes).ok().and_then(parse)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Empties it.
pub(crate) fn clear(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(path) {
        Ok(file) => file.set_len(0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
}

fn parse(text: &str) -> Option<Vec<Step>> {
    let (body, end) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let checksum = u32::from_str_radix(end.strip_prefix("end ")?, 16).ok()?;
    let body = text.get(..=body.len())?;
    if crc32fast::hash(body.as_bytes()) != checksum {
        return None;
    }
    body.lines().skip(1).map(step).collect()
}

fn step(line: &str) -> Option<Step> {
    let mut words = line.split(' ');
    let (old, new) = (item(words.next()?)?, item(words.next()?)?);
    let path: PathBuf = path_of(&hex::decode(words.next()?).ok()?).to_owned();
    let mut step = Step::new(path, old, new);
    for word in words {
        match word.split_once(':')? {
            ("mode", mode) => step.mode = Some(u32::from_str_radix(mode, 8).ok()?),
            ("stays", path) => step.stays.push(path_of(&hex::decode(path).ok()?).to_owned()),
            ("clears", "") => step = Step { stays: step.stays, ..Step::clearing(step.path) },
            _ => return None,
        }
    }
    Some(step)
}

fn spell(item: Option<Item>) -> String {
    item.map_or_else(|| "-".to_owned(), |item| format!("{:o}:{}", item.kind as u16, item.id))
}

fn item(word: &str) -> Option<Option<Item>> {
    if word == "-" {
        return Some(None);
    }
    let (kind, id) = word.split_once(':')?;
    let bits = u16::from_str_radix(kind, 8).ok()?;
    let kinds = [EntryKind::Blob, EntryKind::BlobExecutable, EntryKind::Link];
    let kind = kinds.into_iter().find(|kind| *kind as u16 == bits)?;
    Some(Some(Item { kind, id: ObjectId::from_hex(id.as_bytes()).ok()? }))
}
