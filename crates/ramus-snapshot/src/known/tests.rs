//! What is known after any series of updates is what the updates said, read back from the disk each time.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::collections::BTreeMap;
use std::fs;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use proptest::prelude::*;

use super::{Kept, Known, Look, Update, split};

/// One round: what is gone, and what is there with which size.
type Round = (Vec<u16>, Vec<(u16, u64)>);

/// A path of a few directories with many names each, so that small and large updates meet.
fn path(number: u16) -> Vec<u8> {
    match number % 7 {
        0 => format!("file{number}").into_bytes(),
        one => format!("area{}/part{one}/file{number}", number % 3).into_bytes(),
    }
}

fn kept(size: u64) -> Kept {
    let id = ObjectId::try_from([u8::try_from(size % 251).unwrap(); 20].as_slice()).unwrap();
    Kept { look: Look { size, inode: size * 3, ..Look::default() }, kind: EntryKind::Blob, id, is_settled: true }
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let gone = || prop::collection::vec(0..900_u16, 0..20);
    let few = (gone(), prop::collection::vec((0..900_u16, 0..1000_u64), 0..12));
    let many = (gone(), prop::collection::vec((0..900_u16, 0..1000_u64), 300..600));
    prop::collection::vec(prop_oneof![5 => few, 1 => many], 1..12)
}

/// The sizes of all files, asked for in the given order.
fn sizes(known: &Known, order: &[Vec<u8>]) -> BTreeMap<Vec<u8>, u64> {
    let mut beneath = BTreeMap::new();
    let found = order.iter().filter_map(|path| {
        let (directory, name) = split(path);
        let found = beneath.entry(directory).or_insert_with(|| known.beneath(directory)).find(name);
        Some((path.clone(), found?.1.look.size))
    });
    found.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_kept_is_known(rounds in rounds(), forwards in any::<bool>()) {
        let vault = tempfile::tempdir().unwrap();
        let root = kept(1).id;
        let mut model: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let mut order: Vec<Vec<u8>> = (0..900).map(path).collect();
        if !forwards {
            order.reverse();
        }
        for (gone, there) in rounds {
            let known = Known::load(vault.path());
            let gone: Vec<Vec<u8>> = gone.into_iter().map(path).filter(|path| model.contains_key(path)).collect();
            model.retain(|path, _| !gone.contains(path));
            let there: BTreeMap<Vec<u8>, u64> = there.into_iter().map(|(number, size)| (path(number), size)).collect();
            model.extend(there.clone());
            let there = there.into_iter().map(|(path, size)| (path, kept(size))).collect();
            known.keep(vault.path(), Update { gone, there }, &root, 0).unwrap();
            let known = Known::load(vault.path());
            prop_assert_eq!(known.root, Some(root));
            prop_assert_eq!(&sizes(&known, &order), &model);
            // What nobody saw again is what there was, once each.
            let mut others = known.others(&known.passed());
            others.sort();
            prop_assert!(others.iter().eq(model.keys()));
        }
    }
}

#[test]
fn damage_is_noticed_and_only_costs_time() {
    let vault = tempfile::tempdir().unwrap();
    let (root, later) = (kept(1).id, kept(2).id);
    let many = (0..900).map(|number| (path(number), kept(1))).collect();
    Known::default().keep(vault.path(), Update { gone: Vec::new(), there: many }, &root, 0).unwrap();
    let update = || Update { gone: vec![path(1)], there: vec![(path(2), kept(7))] };
    Known::load(vault.path()).keep(vault.path(), update(), &later, 0).unwrap();
    assert_eq!(Known::load(vault.path()).root, Some(later));
    let flip = |name: &str, at: usize| {
        let mut bytes = fs::read(vault.path().join(name)).unwrap();
        *bytes.get_mut(at).unwrap() ^= 1;
        fs::write(vault.path().join(name), bytes).unwrap();
    };
    flip("known.recent", 40);
    assert_eq!(Known::load(vault.path()).root, Some(root), "the base stands for itself");
    flip("known.recent", 40);
    flip("known", 4000);
    assert_eq!(Known::load(vault.path()).root, None);
    flip("known", 4000);
    // What belongs to another base does not count.
    let all = (0..900).map(|number| (path(number), kept(3))).collect();
    Known::load(vault.path()).keep(vault.path(), Update { gone: Vec::new(), there: all }, &root, 0).unwrap();
    let known = Known::load(vault.path());
    assert_eq!(known.root, Some(root));
    assert_eq!(known.beneath(split(&path(1)).0).find(split(&path(1)).1).unwrap().1.look.size, 3);
}
