//! Stamps of files: what the system says about them, without opening one.
//!
//! The name of a log is its path below the home. Where that is not text, the bytes that are not are spelled `%XX`.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ramus_model::SessionId;

use super::{JsonlStore, incarnation, layout};
use crate::error::StoreError;
use crate::fs::Stat;
use crate::store::{Location, Residence, Stamp, Stamped};

/// Longer than any file system that tells nanoseconds takes to notice that time has passed.
const TICK: Duration = Duration::from_millis(20);

const DRAFTS: &str = "drafts";
const SESSIONS: &str = "sessions";
const BASES: &str = "bases";

/// A directory with logs.
#[derive(Clone, Debug)]
pub(super) struct Lair {
    pub(super) path: PathBuf,
    /// How it is spelled in names.
    spelled: String,
    residence: Residence,
}

impl JsonlStore {
    /// Returns the directories that may hold logs. Some may not be there.
    pub(super) fn lairs(&self) -> Result<Vec<Lair>, StoreError> {
        let lair = |place: &OsStr, residence| Lair {
            path: self.root.join(place),
            spelled: spelled(place).into_owned(),
            residence,
        };
        let mut lairs = vec![lair(OsStr::new(DRAFTS), Residence::Draft), lair(OsStr::new(BASES), Residence::Base)];
        for entry in self.entries(&self.sessions())?.into_iter().filter(|entry| entry.is_dir) {
            let mut place = OsString::from(SESSIONS);
            place.push("/");
            place.push(entry.name);
            lairs.push(lair(&place, Residence::Published));
        }
        Ok(lairs)
    }

    /// Looks at every log.
    pub(super) fn survey(&self, lairs: &[Lair]) -> Result<Vec<Stamped>, StoreError> {
        let paths: Vec<PathBuf> = lairs.iter().map(|lair| lair.path.clone()).collect();
        // From before the first look: what changes meanwhile is fresh.
        let now = SystemTime::now();
        let mut found = Vec::new();
        for (lair, stats) in lairs.iter().zip(self.fs.stat_all(&paths, &is_log)) {
            let stats = match stats {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                result => result.map_err(|error| StoreError::io("list", &lair.path, error))?,
            };
            found.reserve(stats.len());
            found.extend(stats.iter().map(|(name, stat)| lair.stamped(name, stat, now)));
        }
        Ok(found)
    }

    /// Looks at one log. None when it is not there, or no log.
    pub(super) fn look_again(&self, lair: &Lair, name: &OsStr) -> Result<Option<Stamped>, StoreError> {
        let now = SystemTime::now();
        let path = lair.path.join(name);
        match self.fs.stat(&path) {
            Ok(stat) => Ok(Some(lair.stamped(name, &stat, now))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("list", &path, error)),
        }
    }

    pub(super) fn locate_file(&self, name: &str) -> Option<Location> {
        let (place, file) = name.rsplit_once('/')?;
        let residence = match place.split('/').next()? {
            DRAFTS => Residence::Draft,
            SESSIONS => Residence::Published,
            BASES => Residence::Base,
            _ => return None,
        };
        let path = if place.contains('%') { self.root.join(meant(place)).join(file) } else { self.root.join(name) };
        Some(Location { id: layout::id_in_file_name(file)?, residence, path: Some(path) })
    }

    pub(super) fn id_in_name(name: &str) -> Option<SessionId> {
        layout::id_in_file_name(name.rsplit_once('/')?.1)
    }

    pub(super) fn name_of_file(&self, at: &Location) -> Option<String> {
        let path = at.path.as_ref().filter(|_| at.residence != Residence::InPlace)?.strip_prefix(&self.root).ok()?;
        let place = path.parent()?.as_os_str();
        Some([&spelled(place), "/", path.file_name()?.to_str()?].concat())
    }
}

pub(super) fn is_log(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| layout::id_of_file_name(name).is_some())
}

impl Lair {
    /// Returns the name of a log in it. Names of logs are text: others are no logs.
    pub(super) fn name_of(&self, name: &OsStr) -> Arc<str> {
        [&self.spelled, "/", name.to_str().unwrap_or_default()].concat().into()
    }

    /// Says whether names of its logs start with this.
    pub(super) fn is_spelled(&self, place: &str) -> bool {
        self.spelled == place
    }

    fn stamped(&self, name: &OsStr, stat: &Stat, now: SystemTime) -> Stamped {
        Stamped {
            name: self.name_of(name),
            residence: self.residence,
            stamp: stamp(stat),
            is_fresh: stat.changed + TICK > now,
        }
    }
}

fn stamp(stat: &Stat) -> Stamp {
    Stamp { incarnation: incarnation(stat.id), end: stat.size, changed: stat.version }
}

/// A directory as text.
fn spelled(place: &OsStr) -> Cow<'_, str> {
    if let Some(text) = place.to_str().filter(|text| !text.contains('%')) {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in place.as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("%{byte:02X}")));
    }
    Cow::Owned(text)
}

/// The directory that a text spells.
fn meant(text: &str) -> PathBuf {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (byte, rest) = part.split_at_checked(2).unwrap_or_default();
        bytes.extend(u8::from_str_radix(byte, 16).ok());
        bytes.extend_from_slice(rest.as_bytes());
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_directory_can_be_spelled_and_found_again() {
        for bytes in [&b"sessions/--a-b--"[..], b"sessions/100%", b"sessions/\xff\xfe%", "sessions/日本".as_bytes()] {
            let place = OsStr::from_bytes(bytes);
            assert_eq!(meant(&spelled(place)).as_os_str(), place);
        }
    }
}
