//! Ignore files that are not what they should be, and attributes that would change content.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode};

use crate::arena::Repository;

pub(crate) const ALL: &[Repository] = &[
    (".gitignore is endless", |arena| symlink("/dev/zero", arena.root().join(".gitignore")).unwrap()),
    (".gitignore is the secret", |arena| {
        symlink(arena.outside().join("secret"), arena.root().join(".gitignore")).unwrap();
    }),
    (".gitignore is a pipe", |arena| {
        pipe(&arena.root().join(".gitignore"));
        pipe(&arena.root().join(".ignore"));
        pipe(&arena.root().join(".git/info/exclude"));
    }),
    (".gitignore is a directory", |arena| arena.write(".gitignore/file", "x\n")),
    (".gitignore is huge", |arena| {
        let file = fs::File::create(arena.root().join(".gitignore")).unwrap();
        file.set_len(1 << 40).unwrap();
        arena.write("many/.gitignore", &"*.o\n!x*y*z\n".repeat(20_000));
    }),
    (".gitignore is a riddle", |arena| {
        arena.write(".gitignore", &format!("{}\n{}\n", "{a,b}".repeat(1_000), "**/".repeat(5_000)));
        arena.write("a/.gitignore", &format!("{}\n[\n{{\n\\\n", "*a".repeat(10_000)));
        arena.write("b/.gitignore", "\u{feff}*.x\r\n!\n/\n//\n\u{0}\n[z-a]\n[[:foo:]]\n");
    }),
    ("an ignore file in every directory", |arena| {
        for number in 0..100 {
            arena.write(&format!("d{number}/.gitignore"), &format!("*.{number}\n[a-z]*{number}?\n").repeat(400));
        }
    }),
    ("attributes that change content", |arena| {
        arena.write(".gitattributes", "* working-tree-encoding=UTF-16 text eol=crlf ident export-subst\n* -diff\n");
        arena.write("ident", "$Id$ $Format:%H$\n");
        arena.write(".gitconfig", "[core]\n\tfsmonitor = touch canary\n");
    }),
];

/// Makes something that whoever reads it waits for.
pub(crate) fn pipe(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}
