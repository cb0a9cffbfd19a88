//! What is kept beside the directory of a snapshot: what was there and is not in it, who may do what with files, and
//! directories with nothing in them.
//!
//! A path that a directory does not hold was not there, or was there and not covered. Who takes the second for the first
//! removes what belongs to somebody. It is a text with a line per path, stored like content, which the snapshot names in a
//! header of its own; it does not travel with bundles, and who does not find it goes by the ignore files of the snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::Kind;

use crate::error::SnapshotError;
use crate::known::{path_bytes, path_of};
use crate::modes::Modes;
use crate::pack::{HASH, Pack};
use crate::store::SnapshotId;
use crate::vault::Vault;
use crate::walk::Uncovered;

const FIRST: &str = "ramus beside 1";

/// The header of a snapshot that names it.
const HEADER: &str = "ramus-beside ";

/// The header of a snapshot that says what new files could not do, and that what is kept beside it tells of all this.
const MODES: &str = "ramus-modes ";

/// What the header says when there is nothing to keep.
const NOTHING: &str = "none";

/// So many paths are named; of more, directories take the place of what is in them.
const MOST: usize = 16_384;

/// What is kept beside a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beside {
    /// Paths that were there and are not covered, nor is what is beneath them; sorted.
    left_out: Vec<Vec<u8>>,
    /// Those of them that stand for some of what is in them, because that would be too many names; sorted.
    many: Vec<Vec<u8>>,
    /// Directories with nothing in them; sorted.
    hollow: Vec<Vec<u8>>,
    modes: Modes,
}

/// How a snapshot names it.
struct Spelled {
    word: String,
    /// What is stored, unless there is nothing.
    object: Option<(ObjectId, Vec<u8>)>,
}

impl Beside {
    /// Makes one of what a walk left out, and what could not be covered.
    pub(crate) fn of(
        (mut left_out, mut many): (Vec<Vec<u8>>, BTreeSet<Vec<u8>>),
        uncovered: &[Uncovered],
        mut hollow: Vec<Vec<u8>>,
        modes: Modes,
    ) -> Self {
        bound(&mut left_out, &mut many, MOST);
        // What could not be covered has its own name as long as that is possible: no ignore file tells of it.
        left_out.extend(uncovered.iter().map(|one| path_bytes(&one.path).to_vec()));
        bound(&mut left_out, &mut many, 2 * MOST);
        left_out.sort_unstable();
        left_out.dedup();
        // One that stands for what is in it may have come to be one of those for which another stands.
        let many = many.into_iter().filter(|path| left_out.binary_search(path).is_ok()).collect();
        hollow.sort_unstable();
        hollow.truncate(MOST);
        Self { left_out, many, hollow, modes }
    }

    /// Returns who may do what with a file of the directory; none when that is not known.
    pub(crate) fn mode(&self, path: &Path, is_executable: bool) -> Option<u32> {
        self.modes.of(path_bytes(path), is_executable)
    }

    /// Says whether it tells of everything: those of earlier versions tell only of what was left out.
    pub(crate) fn is_whole(&self) -> bool {
        self.modes.word().is_some()
    }

    /// Returns what was there and is not covered.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = &Path> {
        self.left_out.iter().map(|path| path_of(path))
    }

    /// Returns the directories with nothing in them.
    pub(crate) fn hollow(&self) -> impl Iterator<Item = &Path> {
        self.hollow.iter().map(|path| path_of(path))
    }

    /// Returns the directories that a path is in which would be empty without it and were there, and those with nothing in
    /// them at or beneath it.
    pub(crate) fn hollow_around(&self, path: &Path) -> Vec<PathBuf> {
        let is_hollow = |path: &&Path| self.has_beneath(path);
        let above = path.ancestors().skip(1).filter(is_hollow).map(Path::to_owned);
        above.chain(beneath(&self.hollow, path).map(|one| path_of(one).to_owned())).collect()
    }

    /// Says whether something at or beneath a path was there and is not in the directory.
    pub(crate) fn has_beneath(&self, path: &Path) -> bool {
        beneath(&self.left_out, path).next().is_some() || beneath(&self.hollow, path).next().is_some()
    }

    /// Says whether something that is not in the directory could have been there.
    pub(crate) fn leaves_out(&self, path: &Path) -> bool {
        path.ancestors().any(|path| is_in(&self.left_out, path))
    }

    /// The same where it is one of so many names that a directory stands for them: then it could as well be one of the
    /// others there, and `could_be` is asked.
    pub(crate) fn leaves_out_unless(&self, path: &Path, could_be: impl FnOnce(&Path) -> bool) -> bool {
        let is_named = |path: &Path| is_in(&self.left_out, path) && !is_in(&self.many, path);
        path.ancestors().any(is_named) || self.leaves_out(path) && could_be(path)
    }

    fn encode(&self) -> Option<Vec<u8>> {
        if self.left_out.is_empty() && self.hollow.is_empty() && self.modes.odd().is_empty() {
            return None;
        }
        let mut text = format!("{FIRST}\n");
        for (path, mode) in self.modes.odd() {
            text.push_str(&format!("mode {mode:03o} {}\n", hex::encode(path)));
        }
        for path in &self.hollow {
            text.push_str(&format!("hollow {}\n", hex::encode(path)));
        }
        for path in &self.left_out {
            text.push_str("- ");
            text.push_str(&hex::encode(path));
            text.push('\n');
        }
        for path in &self.many {
            text.push_str(&format!("many {}\n", hex::encode(path)));
        }
        Some(text.into_bytes())
    }

    /// Reads it; lines that say something else are for later versions.
    fn decode(bytes: &[u8], modes: Option<&str>) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.lines();
        (lines.next()? == FIRST).then_some(())?;
        let (mut left_out, mut many, mut hollow, mut odd) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for line in lines {
            match line.split_once(' ') {
                Some(("-", path)) => left_out.push(hex::decode(path).ok()?),
                Some(("many", path)) => many.push(hex::decode(path).ok()?),
                Some(("hollow", path)) => hollow.push(hex::decode(path).ok()?),
                Some(("mode", rest)) => {
                    let (mode, path) = rest.split_once(' ')?;
                    odd.push((hex::decode(path).ok()?, u32::from_str_radix(mode, 8).ok()?));
                }
                _ => {}
            }
        }
        left_out.sort_unstable();
        many.sort_unstable();
        hollow.sort_unstable();
        Some(Self { left_out, many, hollow, modes: Modes::read(modes, odd) })
    }

    /// What a snapshot says of it, and the object to keep, if there is one.
    fn spell(&self) -> Result<Spelled, SnapshotError> {
        let Some(bytes) = self.encode() else { return Ok(Spelled { word: NOTHING.to_owned(), object: None }) };
        let id = gix_object::compute_hash(HASH, Kind::Blob, &bytes);
        let id = id.map_err(|cause| SnapshotError::Hash { reason: cause.to_string() })?;
        Ok(Spelled { word: id.to_string(), object: Some((id, bytes)) })
    }

    /// Keeps it, and returns the header that names it.
    pub(crate) fn keep(&self, vault: &Vault, pack: &mut Pack) -> Result<String, SnapshotError> {
        let Spelled { word, object } = self.spell()?;
        if let Some((id, bytes)) = object.filter(|(id, _)| !vault.objects().has(id)) {
            pack.add(Kind::Blob, id, &bytes)?;
        }
        let modes = self.modes.word().map(|modes| format!("{MODES}{modes}\n")).unwrap_or_default();
        Ok(format!("{HEADER}{word}\n{modes}"))
    }

    /// Says whether it is what a snapshot says.
    pub(crate) fn is_of(&self, commit: &[u8]) -> Result<bool, SnapshotError> {
        let is_same = word(commit, HEADER).as_deref() == Some(self.spell()?.word.as_str());
        Ok(is_same && word(commit, MODES) == self.modes.word())
    }
}

impl Vault {
    /// Returns what is kept beside the directory of a snapshot; none when that is not known.
    pub(crate) fn beside(&self, id: SnapshotId) -> Result<Option<Beside>, SnapshotError> {
        let commit = self.commit(id)?;
        let modes = word(&commit, MODES);
        if word(&commit, HEADER).as_deref() == Some(NOTHING) {
            let modes = Modes::read(modes.as_deref(), Vec::new());
            return Ok(Some(Beside { modes, ..Beside::default() }));
        }
        let Some(id) = name(&commit).filter(|id| self.objects().has(id)) else { return Ok(None) };
        let mut bytes = Vec::new();
        self.objects().read(&id, Kind::Blob, &mut bytes)?;
        Ok(Beside::decode(&bytes, modes.as_deref()))
    }

    /// Returns the name of what is kept beside the directory of a snapshot, if it is here.
    pub(crate) fn name_beside(&self, id: SnapshotId) -> Result<Option<ObjectId>, SnapshotError> {
        Ok(name(&self.commit(id)?).filter(|id| self.objects().has(id)))
    }
}

fn word(commit: &[u8], header: &str) -> Option<String> {
    let text = String::from_utf8_lossy(commit);
    let (head, _) = text.split_once("\n\n")?;
    head.lines().find_map(|line| line.strip_prefix(header)).map(str::to_owned)
}

/// The paths of a sorted list that are at or beneath a path.
fn beneath<'l>(all: &'l [Vec<u8>], path: &Path) -> impl Iterator<Item = &'l Vec<u8>> {
    let start = path_bytes(path).to_vec();
    let within = [path_bytes(path), b"/"].concat();
    let exact = all.binary_search(&start).ok().and_then(|at| all.get(at));
    let first = all.partition_point(|one| *one < within);
    let rest = all.get(first..).unwrap_or_default().iter().take_while(move |one| one.starts_with(&within));
    exact.into_iter().chain(rest)
}

fn name(commit: &[u8]) -> Option<ObjectId> {
    ObjectId::from_hex(word(commit, HEADER)?.as_bytes()).ok()
}

/// Says whether a sorted list has a path.
fn is_in(all: &[Vec<u8>], path: &Path) -> bool {
    all.binary_search_by(|one| (**one).cmp(path_bytes(path))).is_ok()
}

/// Puts directories in the place of what is in them until so many paths are left, beginning where there is most. Adds them to
/// those that stand for many.
pub(crate) fn bound(paths: &mut Vec<Vec<u8>>, standing: &mut BTreeSet<Vec<u8>>, most: usize) {
    let parent = |path: &[u8]| path_bytes(path_of(path).parent().unwrap_or(Path::new(""))).to_vec();
    while paths.len() > most {
        let mut within: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        paths.iter().for_each(|path| *within.entry(parent(path)).or_default() += 1);
        let many = within.values().max().map_or(1, |most| (most / 2).max(1));
        for path in paths.iter_mut() {
            let above = parent(path);
            if within.get(&above).is_some_and(|count| *count >= many) {
                standing.insert(above.clone());
                *path = above;
            }
        }
        paths.sort_unstable();
        paths.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    #[test]
    fn what_is_kept_is_read_again_and_lines_of_later_versions_are_passed_over() {
        let modes = Modes::new(0o022, vec![(b"key".to_vec(), 0o600)]);
        let beside = Beside::of(
            (paths(&["target", ".env", "a/\n\u{fc}", "target"]), [b"target".to_vec(), b"gone".to_vec()].into()),
            &[],
            paths(&["e/f", "e-f", "e"]),
            modes,
        );
        assert_eq!(beside.many, paths(&["target"]));
        let mut bytes = beside.encode().unwrap_or_default();
        assert_eq!(Beside::decode(&bytes, Some("022")), Some(beside.clone()));
        bytes.extend_from_slice(b"later 1 2 3\n");
        assert_eq!(Beside::decode(&bytes, Some("022")), Some(beside.clone()));
        assert_eq!(Beside::decode(b"something else\n", Some("022")), None);
        let mode = |name: &str, is_executable| beside.mode(Path::new(name), is_executable);
        assert_eq!([mode("key", false), mode("other", false), mode("x", true)], [0o600, 0o644, 0o755].map(Some));
        // A snapshot that does not tell is not taken to say that everything is as usual.
        let earlier = Beside::decode(&bytes, None).unwrap_or_default();
        assert!(!earlier.is_whole() && earlier.mode(Path::new("key"), false).is_none());
        assert_eq!(beside.hollow_around(Path::new("e/f/g")), ["e/f", "e"].map(PathBuf::from));
        assert_eq!(beside.hollow_around(Path::new("e")), ["e", "e/f"].map(PathBuf::from));
        assert_eq!(Beside::default().encode(), None);
        let is_left_out = |path: &str| beside.leaves_out(Path::new(path));
        assert!([".env", "target", "target/debug/x", "a/\n\u{fc}"].into_iter().all(is_left_out));
        assert!(!["a", "targets", "a/b", "env"].into_iter().any(is_left_out));
    }

    #[test]
    fn where_there_are_too_many_directories_stand_for_what_is_in_them() {
        let (mut all, mut many) = (paths(&[".env", "a/x"]), BTreeSet::new());
        all.extend((0..100).map(|number| format!("many/of/{number}").into_bytes()));
        bound(&mut all, &mut many, 10);
        assert_eq!(all, paths(&[".env", "a/x", "many/of"]));
        assert_eq!(many, [b"many/of".to_vec()].into());
        let beside = Beside::of((all, many), &[], Vec::new(), Modes::default());
        let could_be = |path: &str| beside.leaves_out_unless(Path::new(path), |path| path.ends_with("one"));
        assert!(could_be("many/of/one") && could_be(".env/two") && !could_be("many/of/two") && !could_be("one"));
        let mut deep: Vec<_> = (0..100).map(|number| format!("{number}/in/a/b/c").into_bytes()).collect();
        bound(&mut deep, &mut BTreeSet::new(), 10);
        assert_eq!(deep, paths(&[""]));
        assert!(Beside { left_out: deep, ..Beside::default() }.leaves_out(Path::new("any/thing")));
    }
}
