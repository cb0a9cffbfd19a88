//! What can happen to the files of a catalogue: they are deleted, cut, zeroed, scribbled over, swapped with others that
//! are sound, or something else is in their place.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::remove_catalogue;
use crate::random::Random;

const DATABASE: &str = "catalogue.db";
const WAL: &str = "catalogue.db-wal";
const FILES: [&str; 4] = [DATABASE, WAL, "catalogue.db-shm", "catalogue.seal"];

/// One kind of harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harm {
    /// Some of the files are gone.
    Deleted,
    /// A file ends too early.
    Truncated,
    /// A file, or a piece of it, is zeros.
    Zeroed,
    /// A few bytes are others.
    Scribbled,
    /// The catalogue of another home is in its place.
    Swapped,
    /// An older catalogue of the same home is in its place.
    Outdated,
    /// Only the log of changes is another one.
    SwappedLog,
    /// It is no file at all.
    Obstructed,
}

impl Harm {
    pub(super) const ALL: [Self; 8] = [
        Self::Deleted,
        Self::Truncated,
        Self::Zeroed,
        Self::Scribbled,
        Self::Swapped,
        Self::Outdated,
        Self::SwappedLog,
        Self::Obstructed,
    ];

    /// Does it to the catalogue in `home`. `donors` are folders with the files of a foreign and of an older catalogue.
    pub(super) fn inflict(self, home: &Path, donors: &Donors, random: &mut Random) -> Result<()> {
        let any = |random: &mut Random| home.join(FILES.get(random.below(FILES.len())).copied().unwrap_or(DATABASE));
        match self {
            Self::Deleted => match random.below(3) {
                0 => remove_catalogue(home),
                1 => remove(&home.join(DATABASE)),
                _ => remove(&any(random)),
            },
            Self::Truncated => in_place(&any(random), |file, length| file.set_len(below(random, length))),
            Self::Zeroed => in_place(&any(random), |file, length| {
                let (start, end) = if random.chance(40) {
                    (0, length)
                } else {
                    let start = below(random, length);
                    (start, (start + 1 + below(random, 20_000)).min(length))
                };
                file.write_all_at(&vec![0; (end - start) as usize], start)
            }),
            Self::Scribbled => in_place(&any(random), |file, length| {
                let bytes = random.bits().to_le_bytes();
                (0..3).try_for_each(|_| {
                    let at = below(random, length.saturating_sub(bytes.len() as u64));
                    if length < bytes.len() as u64 { Ok(()) } else { file.write_all_at(&bytes, at) }
                })
            }),
            Self::Swapped => replace_all(&donors.foreign, home, random),
            Self::Outdated => replace_all(&donors.older, home, random),
            Self::SwappedLog => {
                let donor = if random.chance(50) { &donors.foreign } else { &donors.older };
                replace(&donor.join(WAL), &home.join(WAL), random.chance(50))
            }
            Self::Obstructed => obstruct(&home.join(DATABASE), random),
        }
    }
}

/// Where the files of other catalogues are kept.
pub(super) struct Donors {
    pub(super) foreign: PathBuf,
    pub(super) older: PathBuf,
}

/// Keeps the files of the catalogue in `home` as a donor.
pub(super) fn keep(home: &Path, donor: &Path) -> Result<()> {
    fs::create_dir_all(donor)?;
    for name in FILES {
        replace(&home.join(name), &donor.join(name), true)?;
    }
    Ok(())
}

/// The database alone, or all of it.
fn replace_all(donor: &Path, home: &Path, random: &mut Random) -> Result<()> {
    let (afresh, alone) = (random.chance(50), random.chance(30));
    FILES
        .iter()
        .take(if alone { 1 } else { FILES.len() })
        .try_for_each(|name| replace(&donor.join(name), &home.join(name), afresh))
}

/// Puts a copy in the place of a file, as a new file or into the old one, with the old one's time. What the donor does
/// not have is removed.
fn replace(donor: &Path, file: &Path, afresh: bool) -> Result<()> {
    let bytes = match fs::read(donor) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return remove(file),
        Err(error) => return Err(error).context("cannot read a donor"),
    };
    let time = fs::metadata(file).and_then(|metadata| metadata.modified());
    if afresh {
        remove(file)?;
    }
    fs::write(file, bytes).with_context(|| format!("cannot replace {}", file.display()))?;
    if let Ok(time) = time {
        File::options().write(true).open(file)?.set_modified(time)?;
    }
    Ok(())
}

/// Changes a file where it is and gives it its time back; a file that is not there cannot be harmed.
fn in_place(file: &Path, change: impl FnOnce(&File, u64) -> io::Result<()>) -> Result<()> {
    let Ok(open) = OpenOptions::new().write(true).open(file) else { return Ok(()) };
    let metadata = open.metadata()?;
    change(&open, metadata.len()).with_context(|| format!("cannot change {}", file.display()))?;
    open.set_modified(metadata.modified()?)?;
    Ok(())
}

fn obstruct(file: &Path, random: &mut Random) -> Result<()> {
    remove(file)?;
    match random.below(3) {
        0 => fs::create_dir(file)?,
        1 => fs::write(file, "this is no database\n".repeat(500))?,
        _ => std::os::unix::fs::symlink("/dev/null", file)?,
    }
    Ok(())
}

fn remove(file: &Path) -> Result<()> {
    match fs::symlink_metadata(file) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(file)?,
        Ok(_) => fs::remove_file(file)?,
        Err(_) => {}
    }
    Ok(())
}

fn below(random: &mut Random, bound: u64) -> u64 {
    random.below(bound as usize) as u64
}
