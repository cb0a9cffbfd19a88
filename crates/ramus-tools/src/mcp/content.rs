//! What a server answers, as the parts of a result. It may be anything and of any length; what a model is shown is neither.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use crate::outcome::Outcome;

/// How much text of a result is shown, in bytes.
const SHOWN: usize = 32 << 10;

/// The longest picture, in characters of base64.
const LONGEST_IMAGE: usize = 8 << 20;

/// The pictures that models can be shown.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What a later version of the protocol may bring.
const UNKNOWN: &str = "[something of a kind that cannot be shown]";

/// Makes the result of a call.
pub(super) fn outcome(result: CallToolResult) -> Outcome {
    let is_error = result.is_error.unwrap_or_default();
    let mut room = SHOWN;
    let mut content: Vec<Value> = result.content.into_iter().filter_map(|block| part(block, &mut room)).collect();
    if content.is_empty()
        && let Some(structured) = result.structured_content
    {
        content.extend(text(structured.to_string(), &mut room));
    }
    if content.is_empty() {
        content.push(json!({"type": "text", "text": "(no output)"}));
    }
    Outcome { content, is_error, ..Outcome::default() }
}

fn part(block: ContentBlock, room: &mut usize) -> Option<Value> {
    match block {
        ContentBlock::Text(said) => text(said.text, room),
        ContentBlock::Image(image) => {
            let is_image = IMAGES.contains(&image.mime_type.as_str())
                && image.data.len() <= LONGEST_IMAGE
                && STANDARD.decode(&image.data).is_ok_and(|bytes| !bytes.is_empty());
            if is_image {
                return Some(json!({"type": "image", "data": image.data, "mimeType": image.mime_type}));
            }
            text("[a picture that cannot be shown]".to_owned(), room)
        }
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text: said, .. } => text(format!("[{uri}]\n{said}"), room),
            ResourceContents::BlobResourceContents { uri, .. } => text(format!("[{uri}: not text]"), room),
            _ => text(UNKNOWN.to_owned(), room),
        },
        ContentBlock::ResourceLink(link) => text(format!("[{}: {}]", link.name, link.uri), room),
        ContentBlock::Audio(_) => text("[sound, which cannot be shown]".to_owned(), room),
        _ => text(UNKNOWN.to_owned(), room),
    }
}

/// A text as far as there is room for it; none when there is none left.
fn text(mut said: String, room: &mut usize) -> Option<Value> {
    if *room == 0 {
        return None;
    }
    if said.len() > *room {
        let end = said.char_indices().map(|(at, _)| at).take_while(|at| at <= room).last().unwrap_or_default();
        let total = said.len();
        said.truncate(end);
        said.push_str(&format!("\n[cut: {end} of {total} bytes are shown]"));
        *room = 0;
    } else {
        *room -= said.len();
    }
    Some(json!({"type": "text", "text": said}))
}
