//! The address of `origin` in a configuration of git, and whether modes of files count. Includes are not followed, aliases
//! not applied.

/// Returns the first `url` of the remote `origin`, which is the one git fetches from.
pub(super) fn origin(text: &[u8]) -> Option<String> {
    Values { lines: Lines::of(text), is_wanted: Section::is_origin, key: b"url", is_inside: false }.next()
}

/// Returns a value of the section `core`; of several, the last one counts.
pub(super) fn core(text: &[u8], key: &[u8]) -> Option<String> {
    Values { lines: Lines::of(text), is_wanted: Section::is_core, key, is_inside: false }.last()
}

/// The values of one key, up to what makes no sense.
struct Values<'a> {
    lines: Lines<'a>,
    is_wanted: fn(&Section) -> bool,
    key: &'a [u8],
    /// Whether the lines are those of a section that is wanted.
    is_inside: bool,
}

impl Iterator for Values<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        while let Some(line) = self.lines.next() {
            let mut line = line.trim_ascii();
            if line.first() == Some(&b'[') {
                // A key may follow its section on the same line.
                let (section, rest) = Section::read(line)?;
                self.is_inside = (self.is_wanted)(&section);
                line = rest.trim_ascii();
            }
            let Some(at) = line.iter().position(|byte| *byte == b'=').filter(|_| self.is_inside) else { continue };
            let (key, value) = line.split_at(at);
            if key.trim_ascii().eq_ignore_ascii_case(self.key) {
                return String::from_utf8(unquoted(value.get(1..)?.trim_ascii())?).ok();
            }
        }
        None
    }
}

/// Lines, with those that a backslash continues. What follows the last newline may have been cut and is no line.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    fn of(text: &'a [u8]) -> Self {
        Self { rest: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text) }
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut whole = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = self.rest.split_at(end);
            self.rest = rest.get(1..).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let backslashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
            if backslashes % 2 == 0 {
                whole.extend_from_slice(line);
                return Some(whole);
            }
            whole.extend_from_slice(line.get(..line.len() - 1).unwrap_or_default());
        }
        let last = std::mem::take(&mut self.rest);
        (!last.is_empty() || !whole.is_empty()).then(|| {
            whole.extend_from_slice(last);
            whole
        })
    }
}

/// The name of a section: `[remote "origin"]`, or `[remote.origin]` as it was once spelled.
struct Section {
    name: Vec<u8>,
    /// Whether the part behind the name was quoted, and so keeps its case.
    quoted: Option<Vec<u8>>,
}

impl Section {
    /// Reads a section and returns what follows it on the line.
    fn read(line: &[u8]) -> Option<(Self, &[u8])> {
        let inner = line.get(1..)?;
        let name_end = inner.iter().position(|byte| matches!(byte, b']' | b'"'))?;
        let (name, rest) = inner.split_at(name_end);
        let name = name.trim_ascii().to_ascii_lowercase();
        if rest.first() == Some(&b']') {
            return Some((Self { name, quoted: None }, rest.get(1..)?));
        }
        let mut quoted = Vec::new();
        let mut bytes = rest.iter().enumerate().skip(1);
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' => quoted.extend(bytes.next().map(|(_, byte)| *byte)),
                b'"' => {
                    let rest = rest.get(at + 1..)?.trim_ascii_start().strip_prefix(b"]")?;
                    return Some((Self { name, quoted: Some(quoted) }, rest));
                }
                byte => quoted.push(*byte),
            }
        }
        None
    }

    fn is_core(&self) -> bool {
        self.quoted.is_none() && self.name == b"core"
    }

    fn is_origin(&self) -> bool {
        match &self.quoted {
            Some(quoted) => self.name == b"remote" && quoted == b"origin",
            None => self.name == b"remote.origin",
        }
    }
}

/// The value as it is meant: without quotes, escapes and the comment behind it; none when it makes no sense.
fn unquoted(value: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut is_quoted = false;
    // What stands at the end without quotes and is blank is no part of the value.
    let mut end = 0;
    let mut bytes = value.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\\' => out.push(match bytes.next()? {
                byte @ (b'\\' | b'"') => *byte,
                b'n' => b'\n',
                b't' => b'\t',
                b'b' => 8,
                _ => return None,
            }),
            b'#' | b';' if !is_quoted => break,
            byte => out.push(*byte),
        }
        if is_quoted || !byte.is_ascii_whitespace() {
            end = out.len();
        }
    }
    out.truncate(end);
    (!is_quoted).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::{core, origin};

    #[test]
    fn the_last_value_of_a_setting_counts() {
        let text =
            b"[core]\n\tfilemode = true\n[Core] FileMode=false\n[core \"x\"]\nfilemode = no\n[other]\nfilemode = x\n";
        assert_eq!(core(text, b"filemode").as_deref(), Some("false"));
        assert_eq!(core(text, b"worktree"), None);
    }

    #[test]
    fn the_address_is_found_however_it_is_spelled() {
        for text in [
            "[remote \"origin\"]\n\turl = u\n",
            "[core]\n\tbare = false\n[remote \"origin\"]\n\tfetch = x\n\turl = u\n\turl = second\n",
            "[ReMoTe \"origin\"]\r\n\tURL=u\r\n",
            "[remote.ORIGIN]\nurl=\"u\"  # where it comes from\n",
            "\u{feff}[remote \"origin\"] url = u ; same line",
            "[remote \"ori\\gin\"]\n url = \\\n  u\n",
            "[remote \"fork\"]\nurl = other\n[remote \"origin\"]\nurl = u",
            "# [remote \"origin\"]\n; url = no\n[remote \"origin\"]\n#url = no\nurl = \"\"u\n",
        ] {
            assert_eq!(origin(text.as_bytes()).as_deref(), Some("u"), "{text:?}");
        }
    }

    #[test]
    fn what_is_not_the_address_of_origin_is_nothing() {
        for text in [
            "",
            "[remote \"Origin\"]\nurl = u\n",
            "[remote \"origin",
            "[remote \"origin\" x]\nurl = u\n",
            "url = u\n",
            "[remote \"origin\"]\npushurl = u\n",
            "[remote \"origin\"]\nurl\n",
            "[remote \"origin\"]\nurl = \"open\n",
            "[remote \"origin\"]\nurl = \\q\n",
            "[remote \"origin\"]\n[include]\nurl = u\n",
        ] {
            assert_eq!(origin(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(origin(b"[remote \"origin\"]\nurl = \xff\xfe\n"), None);
        assert_eq!(origin(&[b'\\', b'\n'].repeat(1 << 16)), None);
    }

    #[test]
    fn blanks_inside_a_value_are_kept_and_at_its_end_only_in_quotes() {
        assert_eq!(origin(b"[remote \"origin\"]\nurl = /a b  \n").as_deref(), Some("/a b"));
        assert_eq!(origin(b"[remote \"origin\"]\nurl = \"/a b  \"  \n").as_deref(), Some("/a b  "));
    }
}
