//! What the beginning of a document says about its format: the names of members, and how deep they stand. What texts say does
//! not count: a message may quote anything.

use std::ops::Range;

use crate::format::Format;

/// How deep names are of interest: those of a message in a list of messages.
const DEEPEST: usize = 3;

/// The name of a member.
struct Name<'a> {
    /// How many objects and arrays are open around it.
    depth: usize,
    name: &'a [u8],
    /// Where it stands.
    at: usize,
}

/// Names in the beginning of a document, in their order.
struct Names<'a> {
    front: &'a [u8],
    names: Vec<Name<'a>>,
}

impl<'a> Names<'a> {
    fn of(front: &'a [u8]) -> Self {
        let (mut names, mut depth, mut at) = (Vec::new(), 0_usize, 0);
        // What was a text is a name when a colon follows.
        let mut last: Option<Range<usize>> = None;
        while let Some(byte) = front.get(at) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b'"' => {
                    let end = text_end(front, at + 1);
                    last = Some(at + 1..end);
                    at = end;
                }
                b':' if depth <= DEEPEST => {
                    let found = last.take().and_then(|range| Some((range.start, front.get(range)?)));
                    names.extend(found.map(|(at, name)| Name { depth, name, at }));
                }
                byte if byte.is_ascii_whitespace() => {}
                _ => last = None,
            }
            at += 1;
        }
        Self { front, names }
    }

    fn find(&self, depth: usize, name: &str) -> Option<&Name<'a>> {
        self.names.iter().find(|one| one.depth == depth && one.name == name.as_bytes())
    }

    /// Says whether the document itself has a member.
    fn has(&self, name: &str) -> bool {
        self.find(1, name).is_some()
    }

    /// Says whether a message in its list has a member.
    fn has_in_messages(&self, name: &str) -> bool {
        self.find(3, name).is_some()
    }

    /// Says whether a member of the document stands before another one.
    fn has_before(&self, name: &str, other: &str) -> bool {
        let (one, other) = (self.find(1, name), self.find(1, other));
        one.zip(other).is_some_and(|(one, other)| one.at < other.at)
    }

    /// Says whether the id of a member is one of opencode's.
    fn has_opencode_id(&self, name: &str, depth: usize) -> bool {
        let found = self.find(depth, name).and_then(|found| self.front.get(found.at + name.len() + 1..));
        let value = found.map(|rest| rest.iter().skip_while(|byte| byte.is_ascii_whitespace() || **byte == b':'));
        value.is_some_and(|mut value| b"\"ses_".iter().all(|byte| value.next() == Some(byte)))
    }
}

/// Where a text ends that begins here; the end when it does not.
fn text_end(front: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', front.get(at..).unwrap_or_default()) {
        if front.get(at + found) == Some(&b'"') {
            return at + found;
        }
        at += found + 2;
    }
    front.len()
}

/// Says which format a document is in that is not one line, or not there as a whole.
pub(crate) fn by_front(front: &[u8]) -> Option<Format> {
    if front.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return None;
    }
    let names = Names::of(front);
    let (has, said) = (|name| names.has(name), |name| names.has_in_messages(name));
    match () {
        () if has("sessionId") && has("projectHash") => Some(Format::Gemini),
        () if has("conversation") && (has("working_dir") || said("metadata")) => Some(Format::Goose),
        () if has("working_dir") && has("session_type") => Some(Format::Goose),
        () if has("info") && (names.has_opencode_id("id", 2) || has("messages")) => Some(Format::Opencode),
        () if has("messages") && (said("info") || names.has_opencode_id("sessionID", 3)) => Some(Format::Opencode),
        () if has("last_user_message_index") || has("provider") && has("messages") => Some(Format::Shepherd),
        () if has("messages") && has("branches") => Some(Format::Okcvm),
        () if names.has_before("createdAt", "messages") && has("title") => Some(Format::Okcvm),
        () if !has("messages") || !said("role") => None,
        () if names.has_before("version", "messages") || said("tokens") => Some(Format::Shepherd),
        // What it writes of a session to send it somewhere has nothing else.
        () if said("content") && names.names.iter().all(|name| name.depth != 1 || name.name == b"messages") => {
            Some(Format::Shepherd)
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_messages_quote_does_not_count() {
        let quoted = r#"what is \"ses_1\" in {\"info\":{\"id\":\"ses_1\"},\"branches\":[]}?"#;
        let cases = [
            (
                format!(r#"{{"version":1,"provider":"p","messages":[{{"role":"user","content":"{quoted}"}}]}}"#),
                Format::Shepherd,
            ),
            (
                format!(r#"{{"id":"c","messages":[{{"role":"user","content":"{quoted}"}}],"branches":{{}}}}"#),
                Format::Okcvm,
            ),
            (format!(r#"{{"messages":[{{"role":"user","content":"{quoted}"}}]}}"#), Format::Shepherd),
            (
                format!(r#"{{"info":{{"id": "ses_1"}},"messages":[{{"info":{{}},"parts":[{{"text":"{quoted}"#),
                Format::Opencode,
            ),
            (format!(r#"{{"working_dir":"/w","conversation":[{{"content":"{quoted}"#), Format::Goose),
        ];
        for (front, format) in cases {
            assert_eq!(by_front(front.as_bytes()), Some(format), "{front}");
        }
        for front in ["{", "[]", r#"{"title":"#, r#"{"messages":[]}"#, r#"{"x":"\"messages\":[{\"role\""}"#] {
            assert_eq!(by_front(front.as_bytes()), None, "{front}");
        }
    }
}
