//! Parts of messages: text, pictures, and calls with what they gave.

use ramus_model::json::Raw;

use super::letters;
use crate::compose::Composer;
use crate::mapping::call_id;
use crate::step::{Part, Step, What, plain};

/// A part that is text or a picture.
pub(super) fn part(part: &Part<'_>) -> Option<Composer<'static>> {
    let mut composer = Composer::default();
    match part {
        Part::Text(text) => {
            composer.text("type", "text");
            composer.raw("text", *text);
        }
        Part::Image { mime, data } => {
            let (mime, data) = (mime.text()?, data.text()?);
            composer.text("type", "file");
            composer.text("mime", &mime);
            composer.text("url", &format!("data:{mime};base64,{data}"));
        }
        _ => return None,
    }
    Some(composer)
}

/// A call with its outcome. One without is what opencode makes of a call that was interrupted.
pub(super) fn tool(
    id: &str,
    name: Raw<'_>,
    arguments: Option<Raw<'_>>,
    found: Option<&Step<'_>>,
    millis: i64,
) -> Composer<'static> {
    let mut composer = Composer::default();
    composer.text("type", "tool");
    composer.text("callID", &call_id(id));
    composer.raw("tool", name);
    composer.object("state", |state| {
        let result =
            found.and_then(|step| if let What::Result(result) = &step.what { Some((step, result)) } else { None });
        let failed = result.is_none_or(|(_, result)| result.is_error);
        state.text("status", if failed { "error" } else { "completed" });
        match arguments {
            Some(arguments) => state.raw("input", arguments),
            None => state.object("input", |_| {}),
        }
        let output = if failed { "error" } else { "output" };
        match result.map(|(_, result)| result.parts.as_slice()) {
            Some([Part::Text(text)]) => state.raw(output, *text),
            Some(parts) => state.text(output, &plain(parts)),
            None => state.text(output, "Tool execution was interrupted"),
        }
        if !failed {
            state.text("title", "");
        }
        state.object("metadata", |_| {});
        state.object("time", |time| {
            time.number("start", millis);
            time.number("end", result.map_or(millis, |(step, _)| step.millis()));
        });
        let pictures: Vec<_> = result
            .iter()
            .flat_map(|(_, result)| &result.parts)
            .filter(|part| matches!(part, Part::Image { .. }))
            .collect();
        if !failed && !pictures.is_empty() {
            state.array("attachments", |files| pictures.into_iter().for_each(|picture| attachment(files, picture, id)));
        }
    });
    composer
}

fn attachment(files: &mut Composer<'_>, picture: &Part<'_>, call: &str) {
    let Part::Image { mime, data } = picture else { return };
    let (mime, data) = (mime.text().unwrap_or_default(), data.text().unwrap_or_default());
    files.object("", |file| {
        file.text("id", &format!("prt_{}", letters(&[call, &data], 26)));
        file.text("sessionID", "ses_attachment");
        file.text("messageID", "msg_attachment");
        file.text("type", "file");
        file.text("mime", &mime);
        file.text("url", &format!("data:{mime};base64,{data}"));
    });
}
