//! A difference as a patch that `git apply` and `patch -p1` take: the lines above the hunks, and names spelled as git does.

use std::borrow::Cow;
use std::path::Path;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;

use crate::compare::Item;
use crate::known::path_bytes;
use crate::pack::HASH;
use crate::text::TextDiff;

/// One file of a patch: what it was, and what it is.
pub(crate) struct Part<'p> {
    /// Its name, and the one it had.
    pub(crate) path: &'p Path,
    pub(crate) from: &'p Path,
    pub(crate) old: Option<Item>,
    pub(crate) new: Option<Item>,
    pub(crate) text: &'p TextDiff,
}

impl Part<'_> {
    /// Adds it to a patch.
    pub(crate) fn write(&self, patch: &mut Vec<u8>) {
        let (a, b) = (quoted("a/", self.from), quoted("b/", self.path));
        let mut head = format!("diff --git {} {}\n", whole(&a), whole(&b));
        let (old_mode, new_mode) = (self.old.map(mode), self.new.map(mode));
        match (old_mode, new_mode) {
            (Some(old), Some(new)) if old != new => head.push_str(&format!("old mode {old}\nnew mode {new}\n")),
            (None, Some(new)) => head.push_str(&format!("new file mode {new}\n")),
            (Some(old), None) => head.push_str(&format!("deleted file mode {old}\n")),
            _ => {}
        }
        if self.from != self.path {
            // Only what has the same content is found to have moved.
            let (from, to) = (quoted("", self.from), quoted("", self.path));
            head.push_str(&format!("similarity index 100%\nrename from {from}\nrename to {to}\n"));
        }
        let id = |item: Option<Item>| item.map_or_else(|| ObjectId::null(HASH), |item| item.id);
        if id(self.old) != id(self.new) {
            head.push_str(&format!("index {}..{}", id(self.old), id(self.new)));
            let same = new_mode.filter(|_| old_mode == new_mode);
            same.into_iter().for_each(|mode| head.push_str(&format!(" {mode}")));
            head.push('\n');
        }
        let side =
            |item: Option<Item>, name: &str| if item.is_some() { name.to_owned() } else { "/dev/null".to_owned() };
        let (a, b) = (side(self.old, &a), side(self.new, &b));
        if self.text.is_binary && id(self.old) != id(self.new) {
            head.push_str(&format!("Binary files {a} and {b} differ\n"));
        } else if !self.text.hunks.is_empty() {
            head.push_str(&format!("--- {}\n+++ {}\n", ended(a), ended(b)));
        }
        patch.extend_from_slice(head.as_bytes());
        patch.extend_from_slice(&self.text.hunks);
    }
}

fn mode(item: Item) -> &'static str {
    match item.kind {
        EntryKind::BlobExecutable => "100755",
        EntryKind::Link => "120000",
        _ => "100644",
    }
}

/// Of two names on a line, `patch` ends the first at a space; git reads either spelling.
fn whole(name: &str) -> Cow<'_, str> {
    let is_ambiguous = name.contains(' ') && !name.starts_with('"');
    if is_ambiguous { format!("\"{name}\"").into() } else { name.into() }
}

/// A name with a space is ended, or whoever reads it takes the rest for the time of the file.
fn ended(mut name: String) -> String {
    if name.contains(' ') && !name.starts_with('"') {
        name.push('\t');
    }
    name
}

/// Spells a name as git does where letters of all languages stay: as a string of C when something in it does not print.
fn quoted(prefix: &str, path: &Path) -> String {
    let bytes = path_bytes(path);
    let is_plain = |c: char| !c.is_control() && c != '"' && c != '\\';
    if let Ok(text) = std::str::from_utf8(bytes)
        && text.chars().all(is_plain)
        // Who reads a name to the end of its line may drop a space there.
        && text.trim_matches(' ') == text
    {
        return format!("{prefix}{text}");
    }
    let mut name = format!("\"{prefix}");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\t' => name.push_str("\\t"),
                '\n' => name.push_str("\\n"),
                '\r' => name.push_str("\\r"),
                '"' | '\\' => name.extend(['\\', c]),
                c if is_plain(c) => name.push(c),
                c => octal(&mut name, c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        octal(&mut name, chunk.invalid());
    }
    name.push('"');
    name
}

fn octal(name: &mut String, bytes: &[u8]) {
    bytes.iter().for_each(|byte| name.push_str(&format!("\\{byte:03o}")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::path_of;

    #[test]
    fn names_are_spelled_as_git_does() {
        let spell = |name: &[u8]| quoted("a/", path_of(name));
        assert_eq!(spell("größe 1.txt".as_bytes()), "a/größe 1.txt");
        assert_eq!(spell(b"new\nline\ttab \"x\" \\"), r#""a/new\nline\ttab \"x\" \\""#);
        assert_eq!(spell(b"x\xff\x1b\x7f"), r#""a/x\377\033\177""#);
        assert_eq!(spell("c1\u{9b}é".as_bytes()), "\"a/c1\\302\\233é\"");
        assert_eq!(ended("a/b c".into()), "a/b c\t");
    }
}
