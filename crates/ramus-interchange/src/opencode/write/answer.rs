//! Answers, with the outcomes of their calls, and summaries, which are answers too.

use ramus_model::json::Raw;

use super::part::{part, tool};
use super::{Waiting, Writer};
use crate::compose::Composer;
use crate::error::Error;
use crate::step::{Answer, Part, Step, UNSAID, What};

impl Writer<'_> {
    /// Writes the answer that waits, with what its calls gave.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        let Some(Waiting { line, results }) = self.answer.take() else { return Ok(()) };
        let Some(step) = Step::read(&line) else { return Ok(()) };
        let What::Answer(answer) = &step.what else { return Ok(()) };
        let results: Vec<_> = results.iter().filter_map(|line| Step::read(line)).collect();
        self.model = (answer.provider.clone().into_owned(), answer.model.clone().into_owned());
        self.losses.ending(answer);
        let mut parts = Vec::new();
        for said in &answer.parts {
            match said {
                // What opencode thought itself was written as it was.
                Part::Thinking { .. } => self.losses.lose(UNSAID),
                Part::Unknown => self.losses.lose("parts of answers that are neither text nor call"),
                Part::Call { id, name, arguments } => {
                    let id = id.text().unwrap_or_default();
                    let found =
                        results.iter().find(|step| matches!(&step.what, What::Result(result) if result.call == id));
                    if let Some(What::Result(result)) = found.map(|step| &step.what)
                        && result.is_error
                        && result.parts.iter().any(|part| matches!(part, Part::Image { .. }))
                    {
                        self.losses.lose("pictures in what calls gave that failed");
                    }
                    parts.push(tool(&id, *name, *arguments, found, step.millis()));
                }
                Part::Text(text) if text.is_blank() => {}
                other => parts.extend(part(other)),
            }
        }
        self.answering(&step, answer, false, parts)
    }

    fn answering(
        &mut self,
        step: &Step<'_>,
        answer: &Answer<'_>,
        summary: bool,
        parts: Vec<Composer<'static>>,
    ) -> Result<(), Error> {
        let asked = match self.asked.clone() {
            Some(asked) => asked,
            // An answer answers something.
            None => self.asking(step, Vec::new())?,
        };
        let created = self.clock.max(step.millis());
        let cwd = self.start.cwd.clone();
        let usage = answer.usage;
        let facts = |info: &mut Composer<'_>| {
            info.object("time", |time| {
                time.number("created", created);
                time.number("completed", created);
            });
            info.text("parentID", &asked);
            info.text("modelID", &answer.model);
            info.text("providerID", &answer.provider);
            info.text("mode", "build");
            info.text("agent", "build");
            info.object("path", |path| {
                path.text("cwd", &cwd);
                path.text("root", &cwd);
            });
            if summary {
                info.flag("summary", true);
            }
            info.number("cost", usage.cost_micros.unwrap_or_default() as f64 / 1e6);
            info.object("tokens", |tokens| {
                tokens.number("input", usage.input);
                tokens.number("output", usage.output);
                tokens.number("reasoning", 0);
                tokens.object("cache", |cache| {
                    cache.number("read", usage.cache_read);
                    cache.number("write", usage.cache_write);
                });
            });
            info.text("finish", finish(&answer.stop));
        };
        self.fresh(step, "assistant", facts, parts).map(drop)
    }

    /// Writes a summary: a message that asks for it, and the answer that it is.
    pub(super) fn compaction(
        &mut self,
        step: &Step<'_>,
        summary: Raw<'_>,
        first_kept: Option<&str>,
    ) -> Result<(), Error> {
        let tail = first_kept.and_then(|kept| self.messages.get(kept)).cloned();
        let mut marker = Composer::default();
        marker.text("type", "compaction");
        marker.flag("auto", false);
        if let Some(tail) = &tail {
            marker.text("tail_start_id", tail);
        }
        let asked = self.asking(step, vec![marker])?;
        let before = self.asked.replace(asked.clone());
        let answer =
            Answer { provider: self.model.0.clone().into(), model: self.model.1.clone().into(), ..Answer::default() };
        self.answering(step, &answer, true, part(&Part::Text(summary)).into_iter().collect())?;
        self.messages.insert(step.id.clone().into_owned(), asked);
        self.asked = before;
        Ok(())
    }
}

fn finish(stop: &str) -> &'static str {
    match stop {
        "toolUse" => "tool-calls",
        "length" => "length",
        _ => "stop",
    }
}
