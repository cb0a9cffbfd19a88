//! ATIF 1.8: one path as a trajectory, for those who study what agents do. Written, not read.

use std::borrow::Cow;
use std::io::Write;

use hashbrown::{HashMap, HashSet};
use ramus_model::message::Usage;
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
    let mut writer = Writer {
        out,
        steps: 0,
        answers: 0,
        late: late(passage)?,
        calls: HashSet::new(),
        totals: Usage::default(),
        cost_micros: 0,
        title: start.title.clone(),
        last: String::new(),
        answer: None,
        losses: Losses::default(),
    };
    passage.each(&mut |line| match Step::read(line) {
        Some(step) => writer.step(&step),
        None => Ok(()),
    })?;
    writer.settle()?;
    writer.losses.directory(&start.cwd);
    let mut tail = Composer::default();
    tail.object("final_metrics", |metrics| {
        metrics.number("total_prompt_tokens", writer.totals.prompt());
        metrics.number("total_completion_tokens", writer.totals.output);
        metrics.number("total_cached_tokens", writer.totals.cache_read);
        if writer.cost_micros > 0 {
            metrics.number("total_cost_usd", writer.cost_micros as f64 / 1e6);
        }
        metrics.number("total_steps", writer.steps);
    });
    tail.object("extra", |extra| {
        if let Some(title) = &writer.title {
            extra.text("title", title);
        }
        extra.text("branch", &writer.last);
    });
    writer.out.write_all(b"],")?;
    writer.out.write_all(&tail.finish().0)?;
    writer.out.write_all(b"}\n")?;
    Ok(writer.losses.finish())
}

/// The results that come behind something else than the answer that asked for them, by the number of the answer. A step can only
/// hold results of its own calls, so they are looked for first.
fn late(passage: &dyn Passage) -> Result<HashMap<usize, Vec<Vec<u8>>>, Error> {
    let mut late: HashMap<usize, Vec<Vec<u8>>> = HashMap::new();
    let mut asked: HashMap<String, usize> = HashMap::new();
    let (mut answers, mut is_open) = (0, false);
    passage.each(&mut |line| {
        let Some(step) = Step::read(line) else { return Ok(()) };
        match &step.what {
            What::Answer(answer) => {
                (answers, is_open) = (answers + 1, true);
                asked.extend(calls_of(answer).map(|call| (call, answers)));
            }
            What::Result(result) => match asked.get(&*result.call) {
                Some(number) if !is_open || *number != answers => late.entry(*number).or_default().push(line.to_vec()),
                _ => {}
            },
            What::User(_) | What::Note(_) | What::System | What::Compaction { .. } => is_open = false,
            _ => {}
        }
        Ok(())
    })?;
    Ok(late)
}

fn calls_of(answer: &Answer<'_>) -> impl Iterator<Item = String> {
    let id = |part: &Part<'_>| if let Part::Call { id, .. } = part { id.text() } else { None }.map(Cow::into_owned);
    answer.parts.iter().filter_map(id)
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    steps: u64,
    answers: usize,
    late: HashMap<usize, Vec<Vec<u8>>>,
    /// Every call that was met.
    calls: HashSet<String>,
    totals: Usage,
    cost_micros: u64,
    title: Option<String>,
    /// The entry that the path ends with.
    last: String,
    /// An answer waits for what its calls give: both are one step.
    answer: Option<Waiting>,
    losses: Losses,
}

/// An answer, the calls it makes, and what they gave by now.
struct Waiting {
    line: Vec<u8>,
    calls: HashSet<String>,
    results: Vec<Vec<u8>>,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        match &step.what {
            What::Result(result) => match &mut self.answer {
                Some(waiting) if waiting.calls.contains(&*result.call) => {
                    waiting.results.push(step.raw.bytes().to_vec());
                }
                // One that came late is in the step of its call.
                _ if self.calls.contains(&*result.call) => {}
                _ => self.losses.lose("results without a call"),
            },
            What::Answer(answer) => {
                self.settle()?;
                self.answers += 1;
                let open: HashSet<String> = calls_of(answer).collect();
                self.calls.extend(open.iter().cloned());
                self.answer = Some(Waiting { line: step.raw.bytes().to_vec(), calls: open, results: Vec::new() });
            }
            What::User(said) | What::Note(said) => {
                self.losses.untold(said);
                self.said(step, "user", &plain(said), false)?;
            }
            What::System => {
                let content = step.raw.field("message").and_then(|message| message.field("content"));
                self.said(step, "system", &plain(&parts(content)), false)?;
            }
            What::Compaction { summary, .. } => self.said(step, "system", &summary.text().unwrap_or_default(), true)?,
            What::Title(title) => self.title = title.text().map(Cow::into_owned),
            What::Model { .. } => self.losses.lose("changes of model: each answer names its own"),
            What::Records => self.losses.lose("records that only another agent understands"),
            What::Other(kind) if kind.starts_with("ramus.") => self.losses.own(kind),
            What::Other(kind) => self.losses.kind(kind),
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
        step.id.as_ref().clone_into(&mut self.last);
        let mut composer = Composer::default();
        composer.number("step_id", self.steps);
        composer.text("timestamp", &time::format(step.millis()));
        composer.text("source", source);
        composer
    }

    /// Writes a step.
    fn put(&mut self, composer: Composer<'_>) -> Result<(), Error> {
        self.out.write_all(if self.steps > 1 { b",\n{" } else { b"\n{" })?;
        self.out.write_all(&composer.finish().0)?;
        self.out.write_all(b"}")?;
        self.losses.record(false);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Error> {
        let Some(Waiting { line, mut results, .. }) = self.answer.take() else { return Ok(()) };
        results.extend(self.late.remove(&self.answers).unwrap_or_default());
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
        self.untold(answer, &results);
        if !answer.provider.is_empty() {
            self.losses.lose("whose a model is");
        }
        if answer.usage.cache_write > 0 {
            self.losses.lose("which tokens went into a cache: they are counted as sent");
        }
        let usage = answer.usage;
        self.totals.input = self.totals.input.saturating_add(usage.input);
        self.totals.output = self.totals.output.saturating_add(usage.output);
        self.totals.cache_read = self.totals.cache_read.saturating_add(usage.cache_read);
        self.totals.cache_write = self.totals.cache_write.saturating_add(usage.cache_write);
        self.cost_micros = self.cost_micros.saturating_add(usage.cost_micros.unwrap_or_default());
        composer.object("metrics", |metrics| {
            metrics.number("prompt_tokens", usage.prompt());
            metrics.number("completion_tokens", usage.output);
            metrics.number("cached_tokens", usage.cache_read);
            if let Some(micros) = usage.cost_micros.filter(|micros| *micros > 0) {
                metrics.number("cost_usd", micros as f64 / 1e6);
            }
        });
        if matches!(&*answer.stop, "error" | "aborted" | "length") {
            composer.object("extra", |extra| {
                extra.text("stop_reason", &answer.stop);
                if let Some(error) = answer.error {
                    extra.raw("error", error);
                }
            });
        }
        self.put(composer)
    }

    /// Counts what a step does not say. Thoughts that a person can read are said.
    fn untold(&mut self, answer: &Answer<'_>, results: &[Step<'_>]) {
        let is_said = |part: &Part<'_>| matches!(part, Part::Thinking { redacted: false, .. });
        let parts: Vec<_> = answer.parts.iter().filter(|part| !is_said(part)).copied().collect();
        self.losses.untold(&parts);
        for step in results {
            if let What::Result(result) = &step.what {
                self.losses.untold(&result.parts);
            }
        }
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
    let What::Result(step::Result { call, parts, is_error, .. }) = &step.what else { return };
    list.object("", |outcome| {
        outcome.text("source_call_id", call);
        outcome.text("content", &plain(parts));
        if *is_error {
            outcome.object("extra", |extra| extra.flag("is_error", true));
        }
    });
}
