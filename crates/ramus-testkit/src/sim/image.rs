//! What a disk may hold after a crash. Unsynced changes are lost, kept, kept in part or out of order; the last write is
//! torn at every byte, or its length is there and its data is not; names and content survive independently.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;

use super::disk::{Bytes, DataChange, Disk, File, History, Inode, Names, Node, apply};
use super::subset::{choices, kept};
use super::system::SimFs;
use crate::random::Random;

/// How far images are enumerated.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Up to so many unsynced operations every subset is tried.
    pub exhaustive: usize,
    /// How many subsets are drawn beyond that, and how many combinations of several files.
    pub samples: usize,
    /// What the draw starts from.
    pub seed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { exhaustive: 6, samples: 200, seed: 1 }
    }
}

/// Up to this length a write is torn at every byte; beyond, where sectors and pages end.
const TORN_EVERYWHERE: usize = 4096;

/// One state of a disk after a crash.
#[derive(Clone, Debug)]
pub struct Image {
    names: Names,
    contents: BTreeMap<Inode, Bytes>,
}

impl Image {
    /// Starts a machine with this disk.
    pub fn boot(&self) -> SimFs {
        let mut disk = Disk { live: self.names.clone(), durable: self.names.clone(), ..Disk::default() };
        for (inode, content) in &self.contents {
            let file = File { live: Arc::clone(content), durable: Arc::clone(content), ..File::default() };
            disk.files.insert(*inode, file);
        }
        SimFs::on(disk)
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (path, node) in &self.names {
            path.hash(&mut hasher);
            match node {
                Node::File(inode) => self.contents.get(inode).hash(&mut hasher),
                Node::Directory => 0_u8.hash(&mut hasher),
            }
        }
        hasher.finish()
    }
}

impl History {
    /// Visits every distinct image the disk may have at each moment from the `from`-th on, until `visit` says to stop. A
    /// moment is named by how many changes have happened. Images of the last moment are visited even when an earlier one
    /// had them: what may be asked of them differs. Returns how many were visited.
    pub fn images(&self, from: usize, limits: Limits, visit: &mut dyn FnMut(usize, &Image) -> bool) -> usize {
        let mut disk = self.start.clone();
        let mut random = Random::new(limits.seed);
        let mut seen = HashSet::new();
        let mut visited = 0;
        for moment in 0..=self.events.len() {
            if let Some(event) = moment.checked_sub(1).and_then(|last| self.events.get(last)) {
                disk.apply(event);
            }
            if moment < from {
                continue;
            }
            if moment == self.events.len() {
                seen.clear();
            }
            let mut go_on = true;
            visit_moment(&disk, limits, &mut random, &mut |image| {
                if go_on && seen.insert(image.fingerprint()) {
                    visited += 1;
                    go_on = visit(moment, image);
                }
            });
            if !go_on {
                break;
            }
        }
        visited
    }

    /// The two extremes at the end: everything unsynced lost, everything kept.
    pub fn extremes(&self) -> [Image; 2] {
        let mut disk = self.start.clone();
        for event in &self.events {
            disk.apply(event);
        }
        let lost = disk.files.iter().map(|(inode, file)| (*inode, Arc::clone(&file.durable))).collect();
        let kept = disk.files.iter().map(|(inode, file)| (*inode, Arc::clone(&file.live))).collect();
        [image_of(&disk.durable, lost), image_of(&disk.live, kept)]
    }
}

fn image_of(names: &Names, mut contents: BTreeMap<Inode, Bytes>) -> Image {
    let names = reachable(names);
    let named: HashSet<Inode> = inodes(&names).collect();
    contents.retain(|inode, _| named.contains(inode));
    Image { names, contents }
}

/// The images of one moment.
fn visit_moment(disk: &Disk, limits: Limits, random: &mut Random, visit: &mut dyn FnMut(&Image)) {
    for choice in choices(disk.pending.len(), limits.exhaustive, limits.samples, random) {
        let mut names = disk.durable.clone();
        kept(&disk.pending, choice).for_each(|change| change.apply(&mut names));
        let names = reachable(&names);
        let mut contents = BTreeMap::new();
        let mut open = Vec::new();
        for inode in inodes(&names) {
            let Some(file) = disk.files.get(&inode) else { continue };
            contents.insert(inode, Arc::clone(&file.durable));
            if !file.pending.is_empty() && !open.iter().any(|(known, _)| *known == inode) {
                open.push((inode, variants(file, limits, random)));
            }
        }
        visit_contents(Image { names, contents }, &open, limits, random, visit);
    }
}

/// Combines what each file may hold: all combinations when one file is in flight, otherwise each file's variants with the
/// others lost or kept, and a sample of the rest.
fn visit_contents(
    base: Image,
    open: &[(Inode, Vec<Bytes>)],
    limits: Limits,
    random: &mut Random,
    visit: &mut dyn FnMut(&Image),
) {
    visit(&base);
    let mut kept = base.clone();
    for (inode, variants) in open {
        kept.contents.extend(variants.last().map(|whole| (*inode, Arc::clone(whole))));
    }
    for others in [&base, &kept] {
        for (inode, variants) in open {
            let mut image = others.clone();
            for variant in variants {
                image.contents.insert(*inode, Arc::clone(variant));
                visit(&image);
            }
        }
        if open.len() < 2 {
            return;
        }
    }
    for _ in 0..limits.samples {
        let mut image = base.clone();
        for (inode, variants) in open {
            let drawn = variants.get(random.below(variants.len()));
            image.contents.extend(drawn.map(|drawn| (*inode, Arc::clone(drawn))));
        }
        visit(&image);
    }
}

/// What a file may hold; the last variant has everything.
fn variants(file: &File, limits: Limits, random: &mut Random) -> Vec<Bytes> {
    let after = |choice| {
        let mut content = file.durable.as_ref().clone();
        kept(&file.pending, choice).for_each(|change| apply(change, &mut content));
        Arc::new(content)
    };
    let mut variants = Vec::new();
    if let Some((DataChange::Append { offset, bytes }, before)) = file.pending.split_last() {
        let mut content = file.durable.as_ref().clone();
        before.iter().for_each(|change| apply(change, &mut content));
        content.resize(*offset, 0);
        for cut in tears(bytes.len()) {
            let mut torn = content.clone();
            torn.extend_from_slice(bytes.get(..cut).unwrap_or(bytes));
            variants.push(Arc::new(torn));
        }
        for cut in [0, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            let mut zeros = content.clone();
            zeros.extend_from_slice(bytes.get(..cut).unwrap_or(bytes));
            zeros.resize(offset + bytes.len(), 0);
            variants.push(Arc::new(zeros));
        }
    }
    variants.extend(choices(file.pending.len(), limits.exhaustive, limits.samples, random).into_iter().map(after));
    variants
}

/// Where a write of `len` bytes may be torn.
fn tears(len: usize) -> Vec<usize> {
    if len <= TORN_EVERYWHERE {
        return (1..len).collect();
    }
    let ends = (512..len).step_by(512).filter(|end| *end % TORN_EVERYWHERE == 0 || *end < TORN_EVERYWHERE);
    ends.flat_map(|end| [end - 1, end, end + 1]).filter(|cut| *cut < len).collect()
}

/// A name whose directory was lost is lost with it.
fn reachable(names: &Names) -> Names {
    let is_there = |path: &Path| path.parent().is_none() || names.get(path) == Some(&Node::Directory);
    let whole = |path: &Path| path.ancestors().skip(1).all(is_there);
    names.iter().filter(|(path, _)| whole(path)).map(|(path, node)| (path.clone(), *node)).collect()
}

fn inodes(names: &Names) -> impl Iterator<Item = Inode> {
    names.values().filter_map(|node| match node {
        Node::File(inode) => Some(*inode),
        Node::Directory => None,
    })
}
