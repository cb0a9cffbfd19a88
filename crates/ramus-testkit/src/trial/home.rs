//! The home every trial starts with: a published session, a draft, a file of version 1 and one with a torn end. Written
//! down byte by byte, so that no code under test had a hand in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_engine::{Clock, Engine};
use ramus_model::{Body, Draft, EntryId};
use ramus_store::{JsonlStore, Layout};
use serde_json::json;

use crate::sim::SimFs;

/// The home directory.
pub const ROOT: &str = "/home/ada/.ramus";
/// The working directory of every session.
pub const CWD: &str = "/shop";
/// A session with an answer.
pub const PUBLISHED: &str = "0a000000-0000-7000-8000-000000000001";
/// A session without one.
pub const DRAFT: &str = "0a000000-0000-7000-8000-000000000002";
/// A session of version 1.
pub const OLD: &str = "0a000000-0000-7000-8000-000000000003";
/// A session whose last line is torn.
pub const TORN: &str = "0a000000-0000-7000-8000-000000000004";

/// A clock that stands still.
struct Still;

const NOW: i64 = 1_772_438_400_000;

impl Clock for Still {
    fn now(&self) -> i64 {
        NOW
    }
}

/// What the clock says, as entries have it.
pub(super) fn now() -> String {
    ramus_model::time::format(NOW)
}

/// Makes an engine over the home on `fs`.
pub fn engine(fs: &SimFs) -> Engine {
    let store = JsonlStore::with_fs(ROOT, Layout::Pi, Arc::new(fs.clone()));
    Engine::new(Arc::new(store), "trial").with_clock(Arc::new(Still))
}

/// Makes a message to append.
pub fn message(id: Option<&str>, role: &str, text: &str) -> Draft {
    let content = json!([{"type": "text", "text": text}]);
    let body = Body::new("message", [("message", json!({"role": role, "content": content, "timestamp": 1}))]);
    Draft { id: id.map(EntryId::from), ..Draft::new(body) }
}

/// Makes a message with a picture that is large enough to be kept outside its line.
pub fn picture(id: &str, number: usize) -> Draft {
    let data = format!("{number:04}").repeat(300);
    let content = json!([{"type": "image", "mimeType": "image/png", "data": data}]);
    let body = Body::new("message", [("message", json!({"role": "user", "content": content, "timestamp": 1}))]);
    Draft { id: Some(EntryId::from(id)), ..Draft::new(body) }
}

/// Puts the first sessions there.
pub fn furnish(fs: &SimFs) {
    for (id, content) in [
        (
            PUBLISHED,
            format!("{}{}{}", header(PUBLISHED, 3), entry("a1", None, "user"), entry("a2", Some("a1"), "assistant")),
        ),
        (DRAFT, format!("{}{}", header(DRAFT, 3), entry("d1", None, "user"))),
        (OLD, format!("{}{}{}", header(OLD, 1), old_entry("user"), old_entry("assistant"))),
        (TORN, format!("{}{}{}", header(TORN, 3), entry("c1", None, "assistant"), torn_end())),
    ] {
        fs.place(&path_of(id), content.as_bytes());
    }
}

/// The start of an entry that a crash cut off.
pub(super) fn torn_end() -> String {
    let mut line = entry("c2", Some("c1"), "user");
    line.truncate(line.len() - 20);
    line
}

/// Where a session of the first home is.
pub(super) fn path_of(id: &str) -> PathBuf {
    let directory = if id == DRAFT { "drafts" } else { "sessions/--shop--" };
    Path::new(ROOT).join(directory).join(format!("2026-03-02T08-00-00-000Z_{id}.jsonl"))
}

fn header(id: &str, version: u32) -> String {
    let version = if version == 1 { String::new() } else { format!(r#""version":{version},"#) };
    format!(r#"{{"type":"session",{version}"id":"{id}","timestamp":"2026-03-02T08:00:00.000Z","cwd":"{CWD}"}}{}"#, "\n")
}

fn entry(id: &str, parent: Option<&str>, role: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    let envelope = format!(r#""id":"{id}","parentId":{parent},"timestamp":"2026-03-02T08:00:01.000Z""#);
    format!(r#"{{"type":"message",{envelope},"message":{}}}{}"#, body(role), "\n")
}

fn old_entry(role: &str) -> String {
    format!(r#"{{"type":"message","timestamp":"2026-03-02T08:00:01.000Z","message":{}}}{}"#, body(role), "\n")
}

fn body(role: &str) -> String {
    format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"from the start"}}],"timestamp":1}}"#)
}
