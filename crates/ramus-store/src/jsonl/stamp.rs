//! Stamps of files: what the system says about them, without opening one.
//!
//! The name of a log is its path below the home. Where that is not text, the bytes that are not are spelled `%XX`.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
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

impl JsonlStore {
    pub(super) fn stamp_files(&self) -> Result<Vec<Stamped>, StoreError> {
        self.check_home()?;
        let mut places = vec![(OsString::from(DRAFTS), Residence::Draft), (BASES.into(), Residence::Base)];
        for entry in self.entries(&self.sessions())?.into_iter().filter(|entry| entry.is_dir) {
            let mut place = OsString::from(SESSIONS);
            place.push("/");
            place.push(entry.name);
            places.push((place, Residence::Published));
        }
        let paths: Vec<PathBuf> = places.iter().map(|(place, _)| self.root.join(place)).collect();
        let is_log = |name: &OsStr| name.to_str().is_some_and(|name| layout::id_of_file_name(name).is_some());
        // From before the first look: what changes meanwhile is fresh.
        let now = SystemTime::now();
        let mut found = Vec::new();
        for (((place, residence), path), stats) in places.iter().zip(&paths).zip(self.fs.stat_all(&paths, &is_log)) {
            let stats = match stats {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                result => result.map_err(|error| StoreError::io("list", path, error))?,
            };
            let place = spelled(place);
            found.extend(stats.into_iter().map(|(name, stat)| Stamped {
                name: [&place, "/", &*name.to_string_lossy()].concat(),
                residence: *residence,
                stamp: stamp(&stat),
                is_fresh: stat.changed + TICK > now,
            }));
        }
        Ok(found)
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
