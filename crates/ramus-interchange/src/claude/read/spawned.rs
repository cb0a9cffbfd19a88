//! A session and the agents it spawned: in transcripts of their own, or, in older versions, between the lines of the session or
//! in a file beside it.

use std::io::Read as _;

use ramus_model::json::Raw;

use super::super::format;
use super::front::Front;
use super::{Chain, Reader};
use crate::error::Error;
use crate::limits::Limits;
use crate::lines::Lines;
use crate::origin::Kept;
use crate::sink::{Report, Sink, Start};
use crate::source::{Source, Wanted};

/// What the transcript of a spawned agent is called.
const PREFIX: &str = "agent-";
/// How many lines are looked at to find out whose agent it was.
const FRONT: usize = 16;
/// The longest description of an agent that is read.
const LONGEST: u64 = 1 << 20;

/// Reads a session and those of the agents it spawned.
pub(crate) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let stem = source.name().strip_suffix(".jsonl").unwrap_or(source.name()).to_owned();
    if let Some(agent) = stem.strip_prefix(PREFIX)
        && let Some(session) = spawner(source, limits)?
    {
        let start = Start { id: format!("{session}.{agent}"), ..child(&session) };
        return Ok(Reader::new(source, limits, sink, start, Chain::Any).read(source.open()?)?.report);
    }
    let mut start = Start { id: stem, format: format(), ..Start::default() };
    let mut front = Front::of(source.open()?, limits)?;
    front.fill(&mut start);
    let mut main = Reader::new(source, limits, sink, start, Chain::Main);
    main.leaves = front.leaves;
    let main = main.read(source.open()?)?;
    let (mut report, session, inline) = (main.report, main.session, main.passed_over);
    if inline {
        // Older versions wrote the lines of spawned agents between the others.
        let start = Start { id: format!("{session}.sidechains"), ..child(&session) };
        report.add(Reader::new(source, limits, sink, start, Chain::Side).read(source.open()?)?.report);
    }
    for name in source.children()? {
        let Some(name) = name.strip_suffix(".jsonl") else { continue };
        let Some(reader) = source.other(Wanted::Child(&format!("{name}.jsonl")))? else { continue };
        let agent = name.rsplit('/').next().unwrap_or(name);
        let agent = agent.strip_prefix(PREFIX).unwrap_or(agent);
        let about = About::read(source, name)?;
        let start = Start { id: format!("{session}.{agent}"), title: about.title(), ..child(&session) };
        let mut child = Reader::new(source, limits, sink, start, Chain::Any);
        if let Some(kept) = about.kept(name) {
            child.emitter.report.records += 1;
            child.emitter.keep(kept);
        }
        report.add(child.read(reader)?.report);
    }
    Ok(report)
}

fn child(session: &str) -> Start {
    Start { parent: Some(session.to_owned()), format: format(), ..Start::default() }
}

/// The session whose agent wrote a file beside it; none when the file is a session of its own. Its lines name both.
fn spawner(source: &dyn Source, limits: Limits) -> Result<Option<String>, Error> {
    let mut lines = Lines::new(source.open()?, limits);
    for _ in 0..FRONT {
        let Some(line) = lines.next()? else { break };
        let Some(object) = line.bytes.and_then(Raw::parse).and_then(Raw::object) else { continue };
        if let Some(session) = object.text("sessionId").filter(|session| !session.is_empty()) {
            let is_side = object.field("isSidechain").and_then(Raw::flag).unwrap_or_default();
            return Ok(is_side.then(|| session.into_owned()));
        }
    }
    Ok(None)
}

/// What Claude Code noted about an agent, in a file beside its transcript.
struct About(Option<Vec<u8>>);

impl About {
    fn read(source: &dyn Source, name: &str) -> Result<Self, Error> {
        let Some(reader) = source.other(Wanted::Child(&format!("{name}{META}")))? else { return Ok(Self(None)) };
        let mut bytes = Vec::new();
        reader.take(LONGEST).read_to_end(&mut bytes)?;
        Ok(Self(Some(bytes).filter(|bytes| !bytes.trim_ascii().is_empty())))
    }

    /// What the agent was to do, and which it was.
    fn title(&self) -> Option<String> {
        let about = Raw::parse(self.0.as_deref()?.trim_ascii())?.object()?;
        let text = |name: &str| about.text(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        match (text("description"), text("agentType")) {
            (Some(task), Some(kind)) => Some(format!("{task} (@{kind})")),
            (task, kind) => task.or_else(|| kind.map(|kind| format!("@{kind}"))),
        }
    }

    fn kept(self, name: &str) -> Option<Kept> {
        let file = name.rsplit('/').next().unwrap_or(name);
        Some(Kept::whole(0, self.0?.trim_ascii()).in_file(&format!("{file}{META}")))
    }
}

/// What the name of such a file ends with.
const META: &str = ".meta.json";
