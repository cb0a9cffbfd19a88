//! ATIF 1.8: one path as a trajectory, for those who study what agents do. Written, not read.

use std::io::Write;

use ramus_model::time;

use crate::codec::{Codec, Place};
use crate::compose::Composer;
use crate::error::Error;
use crate::limits::Limits;
use crate::losses::Losses;
use crate::passage::Passage;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::step::{self, Answer, Part, Step, What, parts, plain};
use crate::target::Target;

/// Writes trajectories.
pub(crate) struct Atif;

impl Codec for Atif {
    fn read_within(&self, _: &dyn Source, _: Limits, _: &mut dyn Sink) -> Result<Report, Error> {
        Err(Error::Unsupported("trajectories are written, not read".into()))
    }

    fn write(&self, passage: &dyn Passage, target: &mut dyn Target) -> Result<Report, Error> {
        let mut out = target.create(&self.place(passage.start()).file)?;
        write(passage, &mut *out)
    }

    fn place(&self, start: &Start) -> Place {
        Place { file: format!("{}.json", crate::emit::hash(&start.id)), ..Place::default() }
    }
}

fn write(passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    let start = passage.start();
    let mut head = Composer::default();
    head.text("schema_version", "ATIF-v1.8");
    head.text("session_id", &start.id);
    head.object("agent", |agent| {
        agent.text("name", start.format.map_or("ramus", crate::format::Format::name));
        agent.text("version", start.version.as_deref().unwrap_or(env!("CARGO_PKG_VERSION")));
    });
    out.write_all(b"{")?;
    out.write_all(&head.finish().0)?;
    out.write_all(b",\"steps\":[")?;
    let mut writer = Writer { out, steps: 0, prompt: 0, output: 0, answer: None, losses: Losses::default() };
    passage.each(&mut |line| match Step::read(line) {
        Some(step) => writer.step(&step),
        None => Ok(()),
    })?;
    writer.settle()?;
    let mut tail = Composer::default();
    tail.object("final_metrics", |metrics| {
        metrics.number("total_prompt_tokens", writer.prompt);
        metrics.number("total_completion_tokens", writer.output);
        metrics.number("total_steps", writer.steps);
    });
    writer.out.write_all(b"],")?;
    writer.out.write_all(&tail.finish().0)?;
    writer.out.write_all(b"}\n")?;
    Ok(writer.losses.finish())
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    steps: u64,
    prompt: u64,
    output: u64,
    /// An answer waits for what its calls give: both are one step.
    answer: Option<(Vec<u8>, Vec<Vec<u8>>)>,
    losses: Losses,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        match &step.what {
            What::Result(_) => match &mut self.answer {
                Some((_, results)) => results.push(step.raw.bytes().to_vec()),
                None => self.losses.lose("results without a call"),
            },
            What::Answer(_) => {
                self.settle()?;
                self.answer = Some((step.raw.bytes().to_vec(), Vec::new()));
            }
            What::User(said) | What::Note(said) => self.said(step, "user", &plain(said), false)?,
            What::System => {
                let content = step.raw.field("message").and_then(|message| message.field("content"));
                self.said(step, "system", &plain(&parts(content)), false)?;
            }
            What::Compaction { summary, .. } => self.said(step, "system", &summary.text().unwrap_or_default(), true)?,
            What::Title(_) => self.losses.lose("the title"),
            What::Model { .. } => self.losses.lose("changes of model: each answer names its own"),
            What::Records => self.losses.lose("records that only another agent understands"),
            What::Other(kind) if kind.starts_with("ramus.") => {}
            What::Other(kind) => self.losses.lose(format!("entries of type {kind}")),
        }
        Ok(())
    }

    fn said(&mut self, step: &Step<'_>, source: &str, text: &str, summary: bool) -> Result<(), Error> {
        self.settle()?;
        let mut composer = self.begin(step, source);
        composer.text("message", text);
        if summary {
            composer.object("extra", |extra| extra.flag("compaction", true));
        }
        self.put(composer)
    }

    fn begin(&mut self, step: &Step<'_>, source: &str) -> Composer<'static> {
        self.steps += 1;
        let mut composer = Composer::default();
        composer.number("step_id", self.steps);
        composer.text("timestamp", &time::format(step.millis()));
        composer.text("source", source);
        composer
    }

    fn put(&mut self, composer: Composer<'_>) -> Result<(), Error> {
        self.out.write_all(if self.steps > 1 { b",\n{" } else { b"\n{" })?;
        self.out.write_all(&composer.finish().0)?;
        self.out.write_all(b"}")?;
        self.losses.record(false);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Error> {
        let Some((line, results)) = self.answer.take() else { return Ok(()) };
        let Some(step) = Step::read(&line) else { return Ok(()) };
        let What::Answer(answer) = &step.what else { return Ok(()) };
        let results: Vec<_> = results.iter().filter_map(|line| Step::read(line)).collect();
        let mut composer = self.begin(&step, "agent");
        if !answer.model.is_empty() {
            composer.text("model_name", &answer.model);
        }
        composer.text("message", &plain(&answer.parts));
        let thoughts = thoughts(answer);
        if !thoughts.is_empty() {
            composer.text("reasoning_content", &thoughts);
        }
        if answer.parts.iter().any(|part| matches!(part, Part::Call { .. })) {
            composer.array("tool_calls", |calls| answer.parts.iter().for_each(|part| call(calls, part)));
        }
        if !results.is_empty() {
            composer.object("observation", |observation| {
                observation.array("results", |list| results.iter().for_each(|step| outcome(list, step)));
            });
        }
        let usage = answer.usage;
        self.prompt = self.prompt.saturating_add(usage.prompt());
        self.output = self.output.saturating_add(usage.output);
        composer.object("metrics", |metrics| {
            metrics.number("prompt_tokens", usage.prompt());
            metrics.number("completion_tokens", usage.output);
            metrics.number("cached_tokens", usage.cache_read);
            if let Some(micros) = usage.cost_micros.filter(|micros| *micros > 0) {
                metrics.number("cost_usd", micros as f64 / 1e6);
            }
        });
        self.put(composer)
    }
}

fn thoughts(answer: &Answer<'_>) -> String {
    let texts = answer.parts.iter().filter_map(|part| match part {
        Part::Thinking { text, redacted: false, .. } => text.text(),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn call(calls: &mut Composer<'_>, part: &Part<'_>) {
    let Part::Call { id, name, arguments } = part else { return };
    calls.object("", |call| {
        call.raw("tool_call_id", *id);
        call.raw("function_name", *name);
        match arguments {
            Some(arguments) => call.raw("arguments", *arguments),
            None => call.object("arguments", |_| {}),
        }
    });
}

fn outcome(list: &mut Composer<'_>, step: &Step<'_>) {
    let What::Result(step::Result { call, parts, .. }) = &step.what else { return };
    list.object("", |outcome| {
        outcome.text("source_call_id", call);
        outcome.text("content", &plain(parts));
    });
}
