//! Repositories within the repository, submodules, worktrees, and what claims to be one.

use std::fs;
use std::os::unix::fs::symlink;

use crate::arena::{Arena, Repository};

pub(crate) const ALL: &[Repository] = &[
    ("nested fsmonitor", fsmonitor),
    ("nested filter", |arena| {
        arena.repository("nested");
        arena.write("nested/.gitattributes", "* filter=x\n");
        arena.write("nested/file", "x\n");
        arena.configure("nested", "[filter \"x\"]\n\tclean = EVIL\n\tsmudge = EVIL\n\trequired = true\n");
    }),
    ("nested in nested", |arena| {
        for directory in ["a", "a/b", "a/b/c"] {
            arena.repository(directory);
            arena.configure(directory, "[core]\n\tfsmonitor = EVIL\n");
            arena.write(&format!("{directory}/file"), "x\n");
        }
    }),
    ("submodule", |arena| {
        arena.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tupdate = !touch ../canary\n");
        arena.write("sub/.git", "gitdir: ../.git/modules/sub\n");
        arena.write("sub/file", "x\n");
        arena.write(".git/modules/sub/HEAD", "ref: refs/heads/main\n");
        arena.write(
            ".git/modules/sub/config",
            &format!("[core]\n\tfsmonitor = {}\n\tworktree = ../../../sub\n", arena.evil()),
        );
    }),
    ("submodule by a transport that runs programs", |arena| {
        arena.write(".gitmodules", "[submodule \"-x\"]\n\tpath = -x\n\turl = ext::sh -c touch% ../canary\n");
        arena.write("-x/.git", "gitdir: --upload-pack=touch\n");
    }),
    ("worktree of a repository outside", |arena| {
        outside(arena);
        fs::remove_dir_all(arena.root().join(".git")).unwrap();
        arena.write(".git", &format!("gitdir: {}/repository\n", arena.outside().display()));
    }),
    ("worktree whose exclude file is a pipe", |arena| {
        outside(arena);
        fs::write(arena.outside().join("repository/commondir"), "..\n").unwrap();
        fs::create_dir(arena.outside().join("info")).unwrap();
        crate::rules::pipe(&arena.outside().join("info/exclude"));
        fs::remove_dir_all(arena.root().join(".git")).unwrap();
        arena.write(".git", &format!("gitdir: {}/repository\n", arena.outside().display()));
    }),
    ("worktree whose exclude file is the secret", |arena| {
        outside(arena);
        fs::write(arena.outside().join("repository/commondir"), "../secret\n").unwrap();
        fs::remove_dir_all(arena.root().join(".git")).unwrap();
        arena.write(".git", &format!("gitdir: {}/repository\n", arena.outside().display()));
    }),
    (".git is a link to a repository outside", |arena| {
        outside(arena);
        fs::remove_dir_all(arena.root().join(".git")).unwrap();
        symlink(arena.outside().join("repository"), arena.root().join(".git")).unwrap();
    }),
    ("nested .git is a link", |arena| {
        outside(arena);
        arena.write("nested/file", "x\n");
        symlink(arena.outside().join("repository"), arena.root().join("nested/.git")).unwrap();
    }),
    (".git/info is a link", |arena| {
        fs::remove_dir_all(arena.root().join(".git/info")).unwrap();
        symlink(arena.outside(), arena.root().join(".git/info")).unwrap();
        symlink("/dev/zero", arena.outside().join("exclude")).unwrap();
    }),
    (".git names itself", |arena| {
        fs::remove_dir_all(arena.root().join(".git")).unwrap();
        arena.write(".git", "gitdir: .git\n");
        arena.write("nested/.git", "gitdir: ../nested\n");
    }),
    (".git is endless", |arena| {
        fs::remove_dir_all(arena.root().join(".git")).unwrap();
        symlink("/dev/zero", arena.root().join(".git")).unwrap();
        crate::rules::pipe(&arena.root().join("tour-pipe"));
    }),
    ("bare repository among the files", |arena| {
        arena.write("bare/HEAD", "ref: refs/heads/main\n");
        arena.write("bare/config", &format!("[core]\n\tbare = true\n\tfsmonitor = {}\n", arena.evil()));
        arena.write("bare/refs/heads/main", "0000000000000000000000000000000000000000\n");
        arena.write("bare/objects/info/alternates", "/dev/zero\n");
    }),
    (".git in other spellings", |arena| {
        for name in [".GIT", "git~1", ".git ", ".git.", ".g\u{200c}it", ".git::$INDEX_ALLOCATION"] {
            arena.write(&format!("{name}/config"), &format!("[core]\n\tfsmonitor = {}\n", arena.evil()));
            arena.write(&format!("deep/{name}/hooks/post-checkout"), "#!/bin/sh\ntouch ../canary\n");
        }
    }),
];

pub(crate) fn fsmonitor(arena: &Arena) {
    arena.repository("nested");
    arena.write("nested/file", "x\n");
    arena.configure("nested", "[core]\n\tfsmonitor = EVIL\n");
}

/// A repository outside that wants to run something.
fn outside(arena: &Arena) {
    let repository = arena.outside().join("repository");
    fs::create_dir_all(repository.join("info")).unwrap();
    fs::create_dir_all(repository.join("objects")).unwrap();
    fs::write(repository.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(repository.join("config"), format!("[core]\n\tfsmonitor = {}\n", arena.evil())).unwrap();
}
