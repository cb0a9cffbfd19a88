//! `read`: a file, or some lines of it, or an image. What was read is what may be edited later.

use std::io::Read;
use std::sync::Arc;

use base64::Engine;
use ramus_model::request::ToolDefinition;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Effect, Plan, Refusal, Tool, about, arguments, define};
use crate::outcome::Outcome;
use crate::workspace::{Intent, Place, PlaceError, Seen, Workspace};

/// How many bytes of a file are read at most.
const MOST_BYTES: u64 = 32 << 20;
/// How many bytes an image may have.
const MOST_IMAGE: usize = 5 << 20;
/// How many lines are shown at most.
const MOST_LINES: usize = 2000;
/// How many bytes are shown at most.
const MOST_SHOWN: usize = 64 << 10;

/// Reads files.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Where files are.
    pub workspace: Arc<Workspace>,
    /// What the session has seen of them.
    pub seen: Arc<Seen>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

impl Tool for Reading {
    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "path": {"type": "string", "description": "Path of the file, relative to the workspace"},
            "offset": {"type": "integer", "minimum": 1, "description": "First line to show, from 1"},
            "limit": {"type": "integer", "minimum": 1, "description": "How many lines to show"},
        });
        define("read", "Reads a text file or an image. Long files are shown in parts.", properties, &["path"])
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let Arguments { path, offset, limit } = arguments(value)?;
        let place = self.workspace.resolve(&path, Intent::Read)?;
        let questions = about("read", &place.text(), value);
        let this = self.clone();
        Ok(Plan::blocking(questions, Effect::Looks, move |_| {
            let content = match contents(&this.workspace, &place) {
                Ok((content, _)) => content,
                Err(error) => return Outcome::failed(error.to_string()),
            };
            this.seen.note(&place, &content);
            show(&place.text(), &content, offset, limit)
        }))
    }
}

/// Reads a whole file, and returns it with what identifies it.
pub(super) fn contents(
    workspace: &Workspace,
    place: &Place,
) -> Result<(Vec<u8>, Option<crate::workspace::Identity>), PlaceError> {
    let file = workspace.open_file(place)?;
    let identity = workspace.identity(&file);
    let mut content = Vec::new();
    let system = |error: std::io::Error| PlaceError::System(place.text(), error.to_string());
    file.take(MOST_BYTES + 1).read_to_end(&mut content).map_err(system)?;
    if content.len() as u64 > MOST_BYTES {
        return Err(PlaceError::System(place.text(), format!("it is longer than {MOST_BYTES} bytes")));
    }
    Ok((content, identity))
}

/// Shows some lines of a content, or a picture. `name` is what it is called.
pub fn show(name: &str, content: &[u8], offset: Option<usize>, limit: Option<usize>) -> Outcome {
    let (offset, limit) = (offset.unwrap_or(1).max(1), limit.unwrap_or(MOST_LINES).clamp(1, MOST_LINES));
    if let Some(kind) = image_kind(content) {
        if content.len() > MOST_IMAGE {
            return Outcome::failed(format!("{name} is an image of more than {MOST_IMAGE} bytes"));
        }
        let data = base64::engine::general_purpose::STANDARD.encode(content);
        return Outcome {
            content: vec![json!({"type": "image", "data": data, "mimeType": kind})],
            ..Outcome::default()
        };
    }
    if content.iter().take(8192).any(|byte| *byte == 0) {
        return Outcome::failed(format!("{name} is binary, {} bytes", content.len()));
    }
    let text = String::from_utf8_lossy(content);
    let total = text.lines().count();
    if offset > total.max(1) {
        return Outcome::failed(format!("{name} has {total} lines; line {offset} is behind its end"));
    }
    let (mut shown, mut count, mut cut) = (String::new(), 0, false);
    for line in text.split_inclusive('\n').skip(offset - 1).take(limit) {
        let room = MOST_SHOWN.saturating_sub(shown.len());
        if line.len() > room {
            cut = true;
            if count == 0 {
                shown.push_str(line.get(..line.floor_char_boundary(room)).unwrap_or_default());
                count = 1;
            }
            break;
        }
        shown.push_str(line);
        count += 1;
    }
    let last = offset + count - usize::from(count > 0);
    let mut notes = Vec::new();
    if cut && count == 1 {
        notes.push("The line is cut.".to_owned());
    }
    if last < total {
        notes.push(format!("Lines {offset} to {last} of {total}; read on with offset {}.", last + 1));
    }
    if matches!(text, std::borrow::Cow::Owned(_)) {
        notes.push("Some bytes are not UTF-8 and are shown as \u{fffd}.".to_owned());
    }
    if !notes.is_empty() {
        shown.push_str(&format!("\n[{}]", notes.join(" ")));
    }
    Outcome::text(shown).with_details(json!({"path": name, "lines": total, "bytes": content.len()}))
}

/// Returns what kind of picture bytes are, if they are one that models look at.
pub fn image_kind(content: &[u8]) -> Option<&'static str> {
    match content {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
