//! Comparing two directories: which paths differ. Directories with the same name hold the same and are not opened.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;

use crate::error::SnapshotError;
use crate::known::path_of;
use crate::objects::Objects;
use crate::tree;

/// What a path holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) kind: EntryKind,
    pub(crate) id: ObjectId,
}

/// A path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) path: PathBuf,
    pub(crate) old: Option<Item>,
    pub(crate) new: Option<Item>,
    /// Where the content was before, when it only moved.
    pub(crate) from: Option<PathBuf>,
}

/// Lists the paths that differ, sorted.
pub(crate) fn compare(
    objects: &Objects,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> Result<Vec<Difference>, SnapshotError> {
    let mut found = Vec::new();
    Comparison { objects, found: &mut found }.directories(old, new, &mut Vec::new())?;
    found.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(found)
}

/// Says whether something is a link.
pub(crate) fn is_link(item: Item) -> bool {
    item.kind == EntryKind::Link
}

/// Joins what was taken away in one place and came back in another. A link does not become a file that way, and where
/// something goes for a directory, or the other way round, nothing moves to: no patch could say it.
pub(crate) fn join_moved(differences: Vec<Difference>) -> Vec<Difference> {
    let came = differences.iter().filter(|one| one.old.is_none()).flat_map(|one| one.path.ancestors().skip(1));
    let came: HashSet<&Path> = came.collect();
    let mut gone: HashMap<(ObjectId, bool), Vec<usize>> = HashMap::new();
    let (mut emptied, mut above): (HashSet<&Path>, HashSet<&Path>) = Default::default();
    for (number, difference) in differences.iter().enumerate().rev() {
        if let (Some(old), None) = (difference.old, difference.new) {
            if !came.contains(&*difference.path) {
                gone.entry((old.id, is_link(old))).or_default().push(number);
            }
            emptied.insert(&difference.path);
            above.extend(difference.path.ancestors().skip(1));
        }
    }
    let mut origins = HashMap::new();
    for (number, difference) in differences.iter().enumerate() {
        let Some(new) = difference.new.filter(|_| difference.old.is_none()) else { continue };
        let is_free = !above.contains(&*difference.path) && !difference.path.ancestors().any(|up| emptied.contains(up));
        let Some(places) = gone.get_mut(&(new.id, is_link(new))).filter(|_| is_free) else { continue };
        origins.extend(places.pop().map(|origin| (number, origin)));
    }
    let paths: HashMap<usize, (PathBuf, Option<Item>)> = origins
        .values()
        .filter_map(|origin| differences.get(*origin).map(|gone| (*origin, (gone.path.clone(), gone.old))))
        .collect();
    let mut joined = Vec::with_capacity(differences.len());
    for (number, mut difference) in differences.into_iter().enumerate() {
        if paths.contains_key(&number) {
            continue;
        }
        if let Some((path, old)) = origins.get(&number).and_then(|origin| paths.get(origin)) {
            difference.from = Some(path.clone());
            difference.old = *old;
        }
        joined.push(difference);
    }
    joined
}

struct Comparison<'a> {
    objects: &'a Objects,
    found: &'a mut Vec<Difference>,
}

impl Comparison<'_> {
    fn directories(
        &mut self,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
        path: &mut Vec<u8>,
    ) -> Result<(), SnapshotError> {
        if old == new {
            return Ok(());
        }
        let read =
            |id: Option<ObjectId>| id.map_or_else(|| Ok(tree::Entries::new()), |id| tree::read(self.objects, &id));
        let (old, new) = (read(old)?, read(new)?);
        for (name, (kind, id)) in &old {
            let item = Item { kind: *kind, id: *id };
            let other = new.get(name).map(|(kind, id)| Item { kind: *kind, id: *id });
            self.items(Some(item), other, path, name)?;
        }
        for (name, (kind, id)) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
            self.items(None, Some(Item { kind: *kind, id: *id }), path, name)?;
        }
        Ok(())
    }

    fn items(
        &mut self,
        old: Option<Item>,
        new: Option<Item>,
        path: &mut Vec<u8>,
        name: &[u8],
    ) -> Result<(), SnapshotError> {
        if old == new {
            return Ok(());
        }
        let before = path.len();
        path.extend_from_slice(name);
        let directory = |item: Option<Item>| item.filter(|item| item.kind == EntryKind::Tree).map(|item| item.id);
        let file = |item: Option<Item>| item.filter(|item| item.kind != EntryKind::Tree);
        if file(old) != file(new) {
            let path = path_of(path).to_owned();
            self.found.push(Difference { path, old: file(old), new: file(new), from: None });
        }
        path.push(b'/');
        self.directories(directory(old), directory(new), path)?;
        path.truncate(before);
        Ok(())
    }
}
