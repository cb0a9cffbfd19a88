//! Differences are patches: what `git apply` and `patch -p1` make of the old files are the new ones.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod world;

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use ramus_snapshot::FileDiff;
use world::{World, see};

/// Directories that patches lead from one to the other.
const CASES: u32 = 300;

/// Names that are hard to spell. None of them is another one's directory.
const NAMES: [&[u8]; 12] = [
    b"a",
    b"dir/b",
    b"dir/c d",
    b"with space/ends with one ",
    b"new\nline",
    b"tab\there",
    b"\"quoted\\\"",
    "größe/日本.txt".as_bytes(),
    b"not \xff unicode",
    b"-rf",
    b"b/c",
    b"c1 \xc2\x9b",
];

/// Names that are directories of others.
const NESTED: [&[u8]; 5] = [b"a", b"a/b", b"a/b/c", b"dir", b"dir/b"];

#[derive(Clone, Debug)]
enum Kind {
    Text(Vec<u8>, bool),
    Link(u8),
}

type Tree = Vec<Option<Kind>>;

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        8 => (0..6_u8).prop_map(|number| format!("line {number}").into_bytes()),
        1 => Just(b"\tindented  ".to_vec()),
        1 => Just(b"  indented\r".to_vec()),
        1 => Just(b"".to_vec()),
        1 => Just(b"latin \xe9 \x1b[31m".to_vec()),
        1 => Just(b"-- ".to_vec()),
        1 => Just(b"\\ No newline at end of file".to_vec()),
    ];
    (prop::collection::vec(line, 0..40), any::<bool>()).prop_map(|(lines, is_ended)| {
        let mut text = lines.join(&b'\n');
        if is_ended && !text.is_empty() {
            text.push(b'\n');
        }
        text
    })
}

fn kind(links: bool) -> impl Strategy<Value = Kind> {
    let link = if links { 1 } else { 0 };
    prop_oneof![
        9 => (text(), any::<bool>()).prop_map(|(text, run)| Kind::Text(text, run)),
        link => any::<u8>().prop_map(Kind::Link),
    ]
}

/// What becomes of a name.
#[derive(Clone, Debug)]
enum Fate {
    Stays,
    Goes,
    Becomes(Kind),
    Edited(Vec<(usize, Vec<u8>)>),
    Moves(usize),
    Runs(bool),
}

fn fate(links: bool) -> impl Strategy<Value = Fate> {
    prop_oneof![
        3 => Just(Fate::Stays),
        2 => Just(Fate::Goes),
        2 => kind(links).prop_map(Fate::Becomes),
        4 => prop::collection::vec((0..50_usize, text()), 1..4).prop_map(Fate::Edited),
        2 => (0..64_usize).prop_map(Fate::Moves),
        1 => any::<bool>().prop_map(Fate::Runs),
    ]
}

fn trees(count: usize, links: bool) -> impl Strategy<Value = (Tree, Tree)> {
    let old = prop::collection::vec(prop::option::of(kind(links)), count);
    (old, prop::collection::vec(fate(links), count)).prop_map(move |(old, fates)| {
        let mut new = old.clone();
        for (at, fate) in fates.into_iter().enumerate() {
            match fate {
                Fate::Stays => {}
                Fate::Goes => new[at] = None,
                Fate::Becomes(kind) => new[at] = Some(kind),
                Fate::Moves(to) => new[to % count] = new[at].take(),
                Fate::Edited(edits) => {
                    let Some(Kind::Text(text, _)) = &mut new[at] else { continue };
                    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
                    for (place, edit) in &edits {
                        let place = place % lines.len();
                        lines.splice(place..(place + 1), edit.split(|byte| *byte == b'\n').take(2));
                    }
                    *text = lines.join(&b'\n');
                }
                Fate::Runs(runs) => {
                    if let Some(Kind::Text(_, run)) = &mut new[at] {
                        *run = runs;
                    }
                }
            }
        }
        (old, new)
    })
}

/// Makes a directory hold exactly this. Of names that are directories of others, the first that is there counts.
fn lay_out(root: &Path, names: &[&[u8]], tree: &Tree) {
    fs::create_dir_all(root).unwrap();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let is_directory = path.symlink_metadata().unwrap().is_dir();
        if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
    for (name, kind) in names.iter().zip(tree) {
        let path = root.join(OsStr::from_bytes(name));
        let Some(kind) = kind else { continue };
        if path.ancestors().any(|above| above.symlink_metadata().is_ok_and(|found| !found.is_dir())) {
            continue;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match kind {
            Kind::Link(target) => symlink(format!("target {target}"), &path).unwrap(),
            Kind::Text(text, run) => {
                fs::write(&path, text).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(if *run { 0o755 } else { 0o644 })).unwrap();
            }
        }
    }
}

fn run(program: &str, arguments: &[&str], directory: &Path, input: &[u8]) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", directory).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CEILING_DIRECTORIES", directory);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    output.status.success().then_some(()).ok_or_else(|| format!("{program}: {said:?}"))
}

fn patch_between(world: &mut World, names: &[&[u8]], (old, new): &(Tree, Tree)) -> Vec<u8> {
    lay_out(&world.root(), names, old);
    let one = world.take();
    lay_out(&world.root(), names, new);
    let two = world.take();
    let diffs = world.snapshots.diff(one, two, &[]).unwrap();
    assert!(diffs.iter().all(|diff| diff.diff == String::from_utf8_lossy(diff.patch())));
    diffs.iter().flat_map(FileDiff::patch).copied().collect()
}

fn leads_there(names: &[&[u8]], trees: &(Tree, Tree), program: &str, steps: &[&[&str]]) -> Result<(), TestCaseError> {
    let mut world = World::new(false);
    let patch = patch_between(&mut world, names, trees);
    let wanted = world.see().covered;
    let other = world.folder.path().join("other");
    lay_out(&other, names, &trees.0);
    if patch.is_empty() {
        prop_assert_eq!(see(&other).covered, wanted);
        return Ok(());
    }
    for step in steps {
        let ran = run(program, step, &other, &patch);
        prop_assert!(ran.is_ok(), "{}\n{}", ran.unwrap_err(), String::from_utf8_lossy(&patch));
    }
    prop_assert_eq!(see(&other).covered, wanted, "{}", String::from_utf8_lossy(&patch));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn git_applies_any_difference(trees in trees(NAMES.len(), true)) {
        leads_there(&NAMES, &trees, "git", &[&["apply", "--check"], &["apply"]])?;
    }

    #[test]
    fn git_applies_what_became_a_directory(trees in trees(NESTED.len(), true)) {
        leads_there(&NESTED, &trees, "git", &[&["apply", "--check"], &["apply"]])?;
    }

    #[test]
    fn patch_applies_any_difference(trees in trees(NAMES.len(), false)) {
        leads_there(&NAMES, &trees, "patch", &[&["-p1", "--no-backup-if-mismatch", "--force"]])?;
    }
}
