//! Answers, with what their calls gave.

use super::{Waiting, Writer};
use crate::compose::Composer;
use crate::error::Error;
use crate::mapping::call_id;
use crate::step::{Answer, Part, Step, What, plain};

impl Writer<'_> {
    /// Writes the answer that waits, and what its calls gave.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        let Some(Waiting { line, results }) = self.answer.take() else { return Ok(()) };
        let Some(step) = Step::read(&line) else { return Ok(()) };
        let results: Vec<_> = results.iter().filter_map(|line| Step::read(line)).collect();
        self.answer(&step, &results)?;
        results.iter().try_for_each(|result| self.told(result))
    }

    pub(super) fn answer(&mut self, step: &Step<'_>, results: &[Step<'_>]) -> Result<(), Error> {
        let What::Answer(answer) = &step.what else { return Ok(()) };
        self.begin()?;
        self.untold(answer);
        let mut composer = self.begin_message(step, "gemini");
        let texts: Vec<_> = answer.parts.iter().filter(|part| matches!(part, Part::Text(_))).collect();
        match texts.as_slice() {
            [Part::Text(text)] => composer.raw("content", *text),
            _ => composer.text("content", &plain(&answer.parts)),
        }
        composer.array("thoughts", |thoughts| {
            for part in &answer.parts {
                if let Part::Thinking { text, redacted: false, .. } = part {
                    thoughts.object("", |thought| {
                        thought.text("subject", "");
                        thought.raw("description", *text);
                        thought.text("timestamp", &step.iso());
                    });
                }
            }
        });
        let usage = &answer.usage;
        composer.object("tokens", |tokens| {
            tokens.number("input", usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write));
            tokens.number("output", usage.output);
            tokens.number("cached", usage.cache_read);
            tokens.number("thoughts", 0);
            tokens.number("tool", 0);
            tokens.number("total", usage.tokens());
        });
        composer.text("model", &answer.model);
        let calls = answer.parts.iter().any(|part| matches!(part, Part::Call { .. }));
        if calls {
            composer.array("toolCalls", |calls| {
                answer.parts.iter().for_each(|part| call(calls, part, results, step));
            });
        }
        if answer.parts.iter().any(|part| matches!(part, Part::Image { .. } | Part::Unknown)) {
            self.losses.lose("parts of answers that are neither text, thought nor call");
        }
        self.composed(composer)
    }

    /// Counts what an answer says that a message of Gemini CLI does not.
    fn untold(&mut self, answer: &Answer<'_>) {
        self.losses.cost(answer);
        self.losses.ending(answer);
        self.losses.provider(answer, "google");
        if answer.usage.cache_write > 0 {
            self.losses.lose("which tokens went into a cache: they are counted as sent");
        }
        for part in &answer.parts {
            match part {
                Part::Thinking { redacted: true, .. } => self.losses.lose("thoughts that only their model can read"),
                Part::Thinking { signature: Some(_), .. } => {
                    self.losses.lose("the seals of thoughts: they are for people to read");
                }
                _ => {}
            }
        }
    }

    /// Writes the message by which the model is told what a call gave.
    fn told(&mut self, step: &Step<'_>) -> Result<(), Error> {
        let mut composer = self.begin_message(step, "user");
        composer.array("content", |content| response(content, step));
        self.composed(composer)
    }
}

fn call(calls: &mut Composer<'_>, part: &Part<'_>, results: &[Step<'_>], step: &Step<'_>) {
    let Part::Call { id, name, arguments } = part else { return };
    let id = id.text().unwrap_or_default();
    let found = results.iter().find(|result| matches!(&result.what, What::Result(result) if result.call == id));
    let failed = matches!(found.map(|found| &found.what), Some(What::Result(result)) if result.is_error);
    calls.object("", |call| {
        call.text("id", &call_id(&id));
        call.raw("name", *name);
        match arguments {
            Some(arguments) => call.raw("args", *arguments),
            None => call.object("args", |_| {}),
        }
        if let Some(found) = found {
            call.array("result", |result| response(result, found));
        }
        let status = match (found, failed) {
            (None, _) => "cancelled",
            (_, true) => "error",
            (_, false) => "success",
        };
        call.text("status", status);
        call.text("timestamp", &found.unwrap_or(step).iso());
    });
}

/// Writes what a call gave, as the model is told of it.
fn response(parts: &mut Composer<'_>, step: &Step<'_>) {
    let What::Result(result) = &step.what else { return };
    parts.object("", |part| {
        part.object("functionResponse", |function| {
            function.text("id", &call_id(&result.call));
            function.text("name", &result.name);
            function.object("response", |response| {
                let name = if result.is_error { "error" } else { "output" };
                match result.parts.as_slice() {
                    [Part::Text(text)] => response.raw(name, *text),
                    parts => response.text(name, &plain(parts)),
                }
            });
        });
    });
    for picture in &result.parts {
        if let Part::Image { mime, data } = picture {
            parts.object("", |part| {
                part.object("inlineData", |inline| {
                    inline.raw("mimeType", *mime);
                    inline.raw("data", *data);
                });
            });
        }
    }
}
