//! Links that lead out, and names that mean something to somebody.

use std::fs;
use std::os::unix::fs::symlink;

use crate::arena::{Arena, Repository};

pub(crate) const ALL: &[Repository] = &[
    ("links to files outside", |arena| {
        symlink(arena.outside().join("secret"), arena.root().join("link")).unwrap();
        symlink("../outside/secret", arena.root().join("relative")).unwrap();
        symlink("/proc/self/environ", arena.root().join("magic")).unwrap();
    }),
    ("links to directories outside", |arena| {
        symlink(arena.outside(), arena.root().join("directory")).unwrap();
        symlink("/", arena.root().join("root")).unwrap();
        symlink("/proc/self/cwd", arena.root().join("here")).unwrap();
    }),
    ("links in a circle", |arena| {
        symlink("b", arena.root().join("a")).unwrap();
        symlink("a", arena.root().join("b")).unwrap();
        symlink(".", arena.root().join("self")).unwrap();
        symlink("..", arena.root().join("up")).unwrap();
    }),
    ("a link where something is restored to", |arena| {
        symlink(arena.outside().join("secret"), arena.root().join(".ramus-restore-x")).unwrap();
        symlink(arena.outside(), arena.root().join(".ramus-restore-y.new")).unwrap();
    }),
    ("names that are arguments", |arena| {
        for name in ["--upload-pack=touch canary", "-c core.fsmonitor=x", "$(touch ..canary)", "`touch`", ";touch x"] {
            arena.write(name, "x\n");
        }
        arena.write("new\nline\n", "x\n");
        arena.write(":(top,literal)x", "x\n");
    }),
    ("very deep", |arena| {
        let deep = arena.root().join(vec!["d"; 700].join("/"));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "x\n").unwrap();
    }),
    ("pipes and sockets", |arena| {
        crate::rules::pipe(&arena.root().join("pipe"));
        drop(std::os::unix::net::UnixListener::bind(arena.root().join("socket")).unwrap());
    }),
];

/// Nothing wrong with it, and a file in a directory.
pub(crate) fn ordinary(arena: &Arena) {
    for number in 0..200 {
        arena.write(&format!("swapped/{number}"), "mine\n");
    }
    arena.write("swapped/secret", "mine\n");
}

/// Puts a link to the outside in the place of a directory, and the directory back. What is restored meanwhile may be in
/// the way, and is removed then.
pub(crate) fn flip(arena: &Arena) {
    let (place, aside) = (arena.root().join("swapped"), arena.root().join("aside"));
    for _ in 0..50 {
        if fs::rename(&place, &aside).is_err() {
            let _ = fs::remove_dir_all(&aside);
            continue;
        }
        let _ = symlink(arena.outside(), &place);
        std::thread::yield_now();
        let _ = fs::remove_file(&place);
        if fs::rename(&aside, &place).is_err() {
            let _ = fs::remove_dir_all(&place);
        }
    }
}
