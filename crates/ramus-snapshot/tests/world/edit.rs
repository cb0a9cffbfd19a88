//! What people and models do to a directory.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use proptest::prelude::*;
use rustix::fs::{CWD, FileType, Mode};

use super::CAP;

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Write(usize, Content, bool),
    Link(usize, usize),
    Remove(usize),
    Directory(usize),
    Rename(usize, usize),
    Executable(usize, bool),
    Pipe(usize),
    Repository(usize),
    Submodule(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    Empty,
    Lines(u8),
    Windows(u8),
    Binary(u8),
    Huge,
}

impl Content {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Empty => Vec::new(),
            Self::Lines(seed) => (0..=seed).flat_map(|line| format!("line {line} of {seed}\n").into_bytes()).collect(),
            Self::Windows(seed) => (0..seed % 9).flat_map(|line| format!("line {line}\r\n").into_bytes()).collect(),
            Self::Binary(seed) => (0..=seed).map(|byte| byte.wrapping_mul(37) ^ seed).collect(),
            Self::Huge => vec![b'x'; CAP as usize + 1],
        }
    }
}

const NAMES: [&[u8]; 20] = [
    b"a",
    b"A",
    b"b",
    b"a.txt",
    b"dir",
    b"dir/a",
    b"dir/A",
    b"dir/b/c",
    b"dir/b/d e",
    b"DIR/a",
    b"a/b",
    b"a/b/c/d/e",
    b"a-b",
    b"new\nline",
    "\u{fc}".as_bytes(),
    "u\u{308}".as_bytes(),
    b"x\xff",
    b"-rf",
    b" .. ",
    b".hidden/.gitmodules",
];

const TARGETS: [&str; 5] = ["a", "../..", "/etc/passwd", "nowhere", "."];

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        1 => Just(Content::Empty),
        3 => any::<u8>().prop_map(Content::Lines),
        1 => any::<u8>().prop_map(Content::Windows),
        1 => any::<u8>().prop_map(Content::Binary),
        1 => Just(Content::Huge),
    ]
}

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    let name = || 0..NAMES.len();
    prop_oneof![
        9 => (name(), content(), any::<bool>()).prop_map(|(name, content, run)| Edit::Write(name, content, run)),
        2 => (name(), 0..TARGETS.len()).prop_map(|(name, target)| Edit::Link(name, target)),
        5 => name().prop_map(Edit::Remove),
        1 => name().prop_map(Edit::Directory),
        3 => (name(), name()).prop_map(|(from, to)| Edit::Rename(from, to)),
        2 => (name(), any::<bool>()).prop_map(|(name, run)| Edit::Executable(name, run)),
        1 => name().prop_map(Edit::Pipe),
        1 => name().prop_map(Edit::Repository),
        1 => name().prop_map(Edit::Submodule),
    ]
}

pub(crate) fn apply(root: &Path, edits: &[Edit]) {
    edits.iter().for_each(|edit| one(root, edit));
}

fn one(root: &Path, edit: &Edit) {
    let path = |name: &usize| root.join(OsStr::from_bytes(NAMES[*name]));
    let fresh = |name: &usize| {
        make_room(root, &path(name));
        path(name)
    };
    match edit {
        Edit::Write(name, content, run) => {
            let path = fresh(name);
            fs::write(&path, content.bytes()).unwrap();
            set_executable(&path, *run);
        }
        Edit::Link(name, target) => symlink(TARGETS[*target], fresh(name)).unwrap(),
        Edit::Remove(name) => clear(&path(name)),
        Edit::Directory(name) => fs::create_dir(fresh(name)).unwrap(),
        Edit::Rename(from, to) => {
            let (from, to) = (path(from), path(to));
            let is_apart = !from.starts_with(&to) && !to.starts_with(&from);
            if is_apart && from.symlink_metadata().is_ok() {
                make_room(root, &to);
                // Making room may have taken it away.
                let _ = fs::rename(from, to);
            }
        }
        Edit::Executable(name, run) => {
            if path(name).symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                set_executable(&path(name), *run);
            }
        }
        Edit::Pipe(name) => {
            rustix::fs::mknodat(CWD, fresh(name), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        }
        Edit::Repository(name) => {
            let path = fresh(name);
            fs::create_dir_all(path.join(".git/objects")).unwrap();
            fs::write(path.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(path.join(".git/config"), "[core]\n\tfsmonitor = false\n").unwrap();
            fs::write(path.join("inner"), "kept\n").unwrap();
        }
        Edit::Submodule(name) => {
            let path = fresh(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join(".git"), "gitdir: ../.git/modules/sub\n").unwrap();
            fs::write(path.join("inner"), "of a submodule\n").unwrap();
        }
    }
}

fn set_executable(path: &Path, run: bool) {
    fs::set_permissions(path, fs::Permissions::from_mode(if run { 0o755 } else { 0o644 })).unwrap();
}

fn clear(path: &Path) {
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        fs::remove_dir_all(path).unwrap();
    } else {
        let _ = fs::remove_file(path);
    }
}

fn make_room(root: &Path, path: &Path) {
    for above in path.ancestors().skip(1).take_while(|above| *above != root) {
        if above.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            fs::remove_file(above).unwrap();
        }
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    clear(path);
}
