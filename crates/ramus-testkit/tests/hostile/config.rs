//! Settings of the repository itself.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::arena::{Arena, Repository};

pub(crate) const ALL: &[Repository] = &[
    ("core.fsmonitor", fsmonitor),
    ("core.hooksPath", |arena| {
        hooks(arena, "hooks");
        arena.configure("", "[core]\n\thooksPath = hooks\n");
    }),
    ("hooks", |arena| hooks(arena, ".git/hooks")),
    ("filter.clean", clean_filter),
    ("filter.smudge", |arena| filter(arena, "smudge = EVIL\n")),
    ("filter.process", |arena| filter(arena, "process = EVIL\n\trequired = true\n")),
    ("filter in info/attributes", |arena| {
        arena.write(".git/info/attributes", "* filter=x\n");
        arena.configure("", "[filter \"x\"]\n\tclean = EVIL\n\tsmudge = EVIL\n");
    }),
    ("diff.external", |arena| arena.configure("", "[diff]\n\texternal = EVIL\n")),
    ("diff.textconv", |arena| {
        arena.write(".gitattributes", "* diff=x\n");
        arena.configure("", "[diff \"x\"]\n\ttextconv = EVIL\n\tcommand = EVIL\n\tcachetextconv = true\n");
    }),
    ("merge.driver", |arena| {
        arena.write(".gitattributes", "* merge=x\n");
        arena.configure("", "[merge \"x\"]\n\tdriver = EVIL %O %A %B\n");
    }),
    ("core.pager", |arena| arena.configure("", "[core]\n\tpager = EVIL\n[pager]\n\tdiff = EVIL\n\tstatus = EVIL\n")),
    ("core.sshCommand", |arena| {
        arena.configure(
            "",
            "[core]\n\tsshCommand = EVIL\n[remote \"origin\"]\n\turl = ssh://localhost/x\n\tpromisor = true\n",
        );
    }),
    ("core.editor", |arena| arena.configure("", "[core]\n\teditor = EVIL\n[sequence]\n\teditor = EVIL\n")),
];

pub(crate) const MORE: &[Repository] = &[
    ("credential.helper", |arena| arena.configure("", "[credential]\n\thelper = !EVIL\n[core]\n\taskPass = EVIL\n")),
    ("core.gitProxy", |arena| arena.configure("", "[core]\n\tgitProxy = EVIL\n")),
    ("include.path", |arena| {
        fs::write(arena.outside().join("more"), format!("[core]\n\tfsmonitor = {}\n", arena.evil())).unwrap();
        arena.configure("", &format!("[include]\n\tpath = {}/more\n", arena.outside().display()));
    }),
    ("includeIf.gitdir", |arena| {
        arena.write("more", &format!("[core]\n\tfsmonitor = {}\n", arena.evil()));
        arena.configure("", "[includeIf \"gitdir:/**\"]\n\tpath = ../more\n");
    }),
    ("alias", |arena| arena.configure("", "[alias]\n\tadd = !EVIL\n\tstatus = !EVIL\n\twrite-tree = !EVIL\n")),
    ("core.worktree outside", |arena| {
        arena.configure("", &format!("[core]\n\tworktree = {}\n", arena.outside().display()));
    }),
    ("core.alternateRefsCommand", |arena| arena.configure("", "[core]\n\talternateRefsCommand = EVIL\n")),
    ("alternates", |arena| {
        arena.write(".git/objects/info/alternates", &format!("{}\n/dev/zero\n", arena.outside().display()));
    }),
    ("uploadpack.packObjectsHook", |arena| arena.configure("", "[uploadpack]\n\tpackObjectsHook = EVIL\n")),
    ("gpg.program", |arena| arena.configure("", "[gpg]\n\tprogram = EVIL\n[commit]\n\tgpgSign = true\n")),
    ("config.worktree", |arena| {
        arena.configure("", "[extensions]\n\tworktreeConfig = true\n");
        arena.write(".git/config.worktree", &format!("[core]\n\tfsmonitor = {}\n", arena.evil()));
    }),
    ("gc.recentObjectsHook", |arena| arena.configure("", "[gc]\n\trecentObjectsHook = EVIL\n\tauto = 1\n")),
    ("trailer.command", |arena| arena.configure("", "[trailer \"x\"]\n\tcommand = EVIL\n\tcmd = EVIL\n")),
    ("core.excludesFile is a pipe", |arena| {
        crate::rules::pipe(&arena.root().join("pipe"));
        arena.configure("", "[core]\n\texcludesFile = pipe\n\tattributesFile = pipe\n");
    }),
    ("settings that are no settings", |arena| arena.write(".git/config", "[core\n\u{0}\u{1}fsmonitor = [[[\n")),
];

pub(crate) fn fsmonitor(arena: &Arena) {
    arena.configure("", "[core]\n\tfsmonitor = EVIL\n");
}

pub(crate) fn clean_filter(arena: &Arena) {
    filter(arena, "clean = EVIL\n");
}

fn filter(arena: &Arena, text: &str) {
    arena.write(".gitattributes", "* filter=x\n");
    arena.configure("", &format!("[filter \"x\"]\n\t{text}"));
}

fn hooks(arena: &Arena, directory: &str) {
    for name in [
        "applypatch-msg",
        "pre-commit",
        "post-commit",
        "post-checkout",
        "post-merge",
        "pre-auto-gc",
        "post-rewrite",
        "reference-transaction",
        "fsmonitor-watchman",
        "post-index-change",
        "update",
        "prepare-commit-msg",
    ] {
        arena.write(&format!("{directory}/{name}"), &format!("#!/bin/sh\n{}\n", arena.evil()));
        let path = arena.root().join(directory).join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
