//! Outputs that were too long for the transcript. Claude Code writes them to files beside it and tells the model where, with the
//! beginning. The message stays what the model was told; the whole output comes along as a detail of it.

use std::io::Read as _;

use ramus_model::json::{Raw, Shape};

use super::Reader;
use crate::compose::Composer;
use crate::error::Error;
use crate::source::Wanted;

/// What a result begins with whose output is elsewhere.
const SPILLED: &str = "<persisted-output>";
/// The directory of such files.
const DIRECTORY: &str = "tool-results";
/// How much of a text is looked at for the name of the file.
const FRONT: usize = 4096;

/// An output that was too long.
pub(super) struct Spilled {
    file: String,
    text: String,
}

impl Reader<'_> {
    /// Reads the output that a result refers to. One that is not there, or cannot be had, is reported: its beginning stays.
    pub(super) fn spilled(&mut self, line: u64, content: Option<Raw<'_>>) -> Result<Option<Spilled>, Error> {
        let Some(file) = content.and_then(file_named) else { return Ok(None) };
        // Claude Code writes one for each result. Whoever names one again and again would have it read as often.
        if !self.spills.insert(file.clone()) {
            let why =
                "the whole output of a tool is kept with the first result that names it; here its beginning is kept";
            return self.emitter.lose(Some(line), why).map(|()| None);
        }
        let start = &self.emitter.start;
        let session = start.parent.as_deref().unwrap_or(&start.id);
        let most = self.limits.line as u64;
        let mut bytes = Vec::new();
        let name = format!("{session}/{DIRECTORY}/{file}");
        let read = self.source.other(Wanted::Child(&name)).and_then(|reader| match reader {
            Some(reader) => reader.take(most + 1).read_to_end(&mut bytes).map(Some),
            None => Ok(None),
        });
        let why = match read {
            Ok(Some(length)) if length as u64 <= most => {
                return Ok(Some(Spilled { file, text: String::from_utf8_lossy(&bytes).into_owned() }));
            }
            Ok(Some(_)) => "the whole output of a tool is too long; its beginning is kept".to_owned(),
            Ok(None) => "the file with the whole output of a tool is gone; its beginning is kept".to_owned(),
            Err(error) => format!("the whole output of a tool cannot be read ({error}); its beginning is kept"),
        };
        self.emitter.lose(Some(line), why).map(|()| None)
    }
}

impl Spilled {
    /// Writes it as a detail of its message, in the form that moves out of the line when it is long.
    pub(super) fn compose(&self, message: &mut Composer<'_>) {
        message.object("details", |details| {
            details.object("fullOutput", |output| {
                output.text("file", &self.file);
                output.text("content", &self.text);
                output.number("lineCount", self.text.lines().count());
            });
        });
    }
}

/// The name of the file that a result refers to: nothing but a name, whatever stands in front of it.
fn file_named(content: Raw<'_>) -> Option<String> {
    let first = match content.shape() {
        Shape::Text => content,
        _ => content.items().next()?.field("text")?,
    };
    let text = first.text()?;
    let text = text.trim_start().strip_prefix(SPILLED)?;
    let front = text.char_indices().nth(FRONT).map_or(text, |(end, _)| text.get(..end).unwrap_or(text));
    let line = front.lines().find(|line| line.contains(DIRECTORY))?;
    let (_, name) = line.rsplit_once(DIRECTORY)?;
    let name = name.strip_prefix(['/', '\\'])?.trim_end();
    let is_plain = !name.is_empty() && name.len() <= 255 && !name.contains(['/', '\\', '\0']) && name != "..";
    is_plain.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_name_and_nothing_else() {
        let named = |path: &str| {
            let text =
                format!("<persisted-output>\\nOutput too large (1MB). Full output saved to: {path}\\n\\nPreview:\\nx");
            file_named(Raw::parse(format!("\"{text}\"").as_bytes()).unwrap())
        };
        assert_eq!(named("/h/.claude/projects/-w/ID/tool-results/toolu_1.txt").as_deref(), Some("toolu_1.txt"));
        assert_eq!(named("C:\\\\w\\\\ID\\\\tool-results\\\\b.txt").as_deref(), Some("b.txt"));
        for path in ["/x/tool-results/../../secret", "/x/tool-results/..", "/x/tool-results/", "/etc/passwd"] {
            assert_eq!(named(path), None, "{path}");
        }
        assert_eq!(file_named(Raw::parse(b"\"see tool-results/a.txt\"").unwrap()), None);
    }
}
