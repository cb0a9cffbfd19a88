//! Which formats there are, and telling them apart by what is in a file.

use ramus_model::json::{Object, Raw, Shape};

use crate::codec::Codec;
use crate::expand::is_compressed;
use crate::front::by_front;
use crate::sqlite::MAGIC;

/// A format that sessions come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Claude Code: JSON lines, one per block of a message.
    Claude,
    /// Codex: a rollout, JSON lines, possibly compressed.
    Codex,
    /// Gemini CLI: JSON lines that are applied in order, or one document.
    Gemini,
    /// pi: JSON lines of our own dialect.
    Pi,
    /// oh-my-pi: the same with a title in front.
    Omp,
    /// opencode: the document that it exports and imports.
    Opencode,
    /// goose: the document that it exports and imports.
    Goose,
    /// Opal: a DETS table of Erlang terms.
    Opal,
    /// Shepherd: one document.
    Shepherd,
    /// OKCVM: a conversation with its other versions, or a database of them.
    Okcvm,
    /// A directory with a file for each message.
    Directory,
    /// ATIF: a trajectory, written and not read.
    Atif,
}

impl Format {
    /// Every format.
    pub const ALL: &[Self] = &[
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Pi,
        Self::Omp,
        Self::Opencode,
        Self::Goose,
        Self::Opal,
        Self::Shepherd,
        Self::Okcvm,
        Self::Directory,
        Self::Atif,
    ];

    /// Returns the name that commands and origins use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Pi => "pi",
            Self::Omp => "omp",
            Self::Opencode => "opencode",
            Self::Goose => "goose",
            Self::Opal => "opal",
            Self::Shepherd => "shepherd",
            Self::Okcvm => "okcvm",
            Self::Directory => "directory",
            Self::Atif => "atif",
        }
    }

    /// Reads a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// Says whether sessions are read from the format: all but trajectories are.
    pub fn is_read(self) -> bool {
        self != Self::Atif
    }

    /// Returns what reads and writes the format.
    pub fn codec(self) -> &'static dyn Codec {
        match self {
            Self::Claude => &crate::claude::Claude,
            Self::Codex => &crate::codex::Codex,
            Self::Gemini => &crate::gemini::Gemini,
            Self::Pi => &crate::pi::Pi { omp: false },
            Self::Omp => &crate::pi::Pi { omp: true },
            Self::Opencode => &crate::opencode::Opencode,
            Self::Goose => &crate::goose::Goose,
            Self::Opal => &crate::opal::Opal,
            Self::Shepherd => &crate::shepherd::Shepherd,
            Self::Okcvm => &crate::okcvm::Okcvm,
            Self::Directory => &crate::directory::Directory,
            Self::Atif => &crate::atif::Atif,
        }
    }
}

/// How many lines of a file are looked at.
const LOOKED_AT: usize = 64;

/// Says which format a file is in, from its first bytes (64 KiB are plenty) and, where those do not tell, its name.
pub fn detect(name: &str, front: &[u8]) -> Option<Format> {
    if is_compressed(front) {
        return name.starts_with("rollout-").then_some(Format::Codex);
    }
    if front.get(4..8) == Some(&crate::opal::COOKIE) {
        return Some(Format::Opal);
    }
    if front.starts_with(MAGIC) {
        return by_schema(name, front);
    }
    if name == "meta.json" && is_meta(front) {
        return Some(Format::Directory);
    }
    let front = front.strip_prefix(b"\xef\xbb\xbf").unwrap_or(front);
    let lines = front.split(|byte| *byte == b'\n').take(LOOKED_AT);
    lines
        .filter_map(|line| Raw::parse(line)?.object())
        .find_map(|record| by_record(&record))
        .or_else(|| by_front(front))
}

/// Says whether a `meta.json` tells of a session: many programs have a file of this name.
fn is_meta(front: &[u8]) -> bool {
    let has = |name: &str| memchr::memmem::find(front, name.as_bytes()).is_some();
    has("\"id\"") && (has("\"projectID\"") || has("\"directory\"")) && has("\"created\"")
}

/// What one line says about the file it is in.
fn by_record(record: &Object<'_>) -> Option<Format> {
    let is_text = |name: &str| record.field(name).is_some_and(|value| value.shape() == Shape::Text);
    let kind = record.text("type").unwrap_or_default();
    match &*kind {
        "title" if record.field("pad").is_some() => return Some(Format::Omp),
        "session" if is_text("id") => return Some(Format::Pi),
        _ => {}
    }
    if is_text("type") && record.field("payload").is_some_and(|payload| payload.shape() == Shape::Object) {
        return Some(Format::Codex);
    }
    // The first versions of Codex wrote items bare, behind a line that says who they are.
    let is_first = is_text("id") && is_text("timestamp") && record.field("instructions").is_some();
    if is_first || record.text("record_type").as_deref() == Some("state") {
        return Some(Format::Codex);
    }
    let is_message = matches!(&*kind, "user" | "assistant" | "system" | "attachment");
    if is_message && is_text("uuid") || is_text("sessionId") && is_text("type") || &*kind == "file-history-snapshot" {
        return Some(Format::Claude);
    }
    if is_text("sessionId") && (is_text("projectHash") || is_text("startTime")) || record.field("$set").is_some() {
        return Some(Format::Gemini);
    }
    let is_about = is_text("working_dir") && is_text("description") && record.field("message_count").is_some();
    is_about.then_some(Format::Goose)
}

/// What the schema of a database says, which is in its first pages.
fn by_schema(name: &str, front: &[u8]) -> Option<Format> {
    let has = |words: &str| memchr::memmem::find(front, words.as_bytes()).is_some();
    match () {
        () if has("okc_conversations") => Some(Format::Okcvm),
        () if has("content_json") || name == "sessions.db" => Some(Format::Goose),
        () if has("`session_id`") || name.starts_with("opencode") => Some(Format::Opencode),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_documents_are_known_by_their_beginning() {
        let cases = [
            (
                r#"{"id":"c","title":"t","createdAt":"x","updatedAt":"y","messages":[{"id":"m","role":"user","content":"aaa"#,
                Some(Format::Okcvm),
            ),
            (
                r#"{"id":"c","title":"t","branches":{},"messages":[{"id":"m","role":"user","content":"aaa"#,
                Some(Format::Okcvm),
            ),
            (r#"{"version":1,"messages":[{"role":"user","content":"aaa"#, Some(Format::Shepherd)),
            (r#"{"messages":[{"role":"user","content":"a","tokens":1},{"role":"#, Some(Format::Shepherd)),
            (r#"{"messages":[{"role":"user","content":"aaa"#, Some(Format::Shepherd)),
            (r#"{"model":"m","messages":[{"role":"user","content":"aaa"#, None),
            (r#"{"title":"t","text":"aaa"#, None),
        ];
        for (front, format) in cases {
            assert_eq!(detect("x.json", front.as_bytes()), format, "{front}");
        }
    }

    #[test]
    fn files_are_known_by_their_content() {
        let cases: [(&str, &str, Option<Format>); 10] = [
            ("x", r#"{"working_dir":"/w","description":"d","message_count":2}"#, Some(Format::Goose)),
            ("x", r#"{"type":"queue-operation","operation":"enqueue","sessionId":"s"}"#, Some(Format::Claude)),
            ("x", r#"{"type":"summary","summary":"t","leafUuid":"u"}{"#, None),
            ("x", r#"{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}"#, Some(Format::Codex)),
            ("x", r#"{"sessionId":"s","projectHash":"h","startTime":"t"}"#, Some(Format::Gemini)),
            ("x", "{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"h\",", Some(Format::Gemini)),
            ("x", r#"{"type":"session","version":3,"id":"s"}"#, Some(Format::Pi)),
            ("x", r#"{"type":"title","v":1,"title":"t","pad":""}"#, Some(Format::Omp)),
            ("x.jsonl", "hello", None),
            ("x", "", None),
        ];
        for (name, front, format) in cases {
            assert_eq!(detect(name, front.as_bytes()), format, "{front}");
        }
        assert_eq!(detect("rollout-2026.jsonl.zst", &[0x28, 0xb5, 0x2f, 0xfd, 0]), Some(Format::Codex));
    }
}
