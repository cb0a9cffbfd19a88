//! Writing: our entries, as pi and oh-my-pi read them.

use std::io::Write;

use hashbrown::HashMap;
use ramus_model::json::{Raw, quote};

use super::Pi;
use crate::compose::Composer;
use crate::emit::hash;
use crate::error::Error;
use crate::losses::Losses;
use crate::origin::{MEMBER, restore, with_members};
use crate::passage::Passage;
use crate::sink::{Report, Start};
use crate::step::{Part, Step, UNSAID, What};

/// Whose sessions are in our own dialect.
const AGENTS: [&str; 2] = ["pi", "omp"];

/// The id of a written session, which is also the name of its file.
pub(super) fn session_id(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let ends_well = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = id.as_bytes();
    let tame =
        id.len() <= 128 && bytes.iter().copied().all(is_plain) && ends_well(bytes.first()) && ends_well(bytes.last());
    if tame { id.to_owned() } else { hash(id) }
}

/// Writes a passage.
pub(super) fn write(pi: &Pi, passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    let start = passage.start();
    let mut writer = Writer {
        out,
        pi,
        start,
        id: session_id(&start.id),
        begun: false,
        left_out: HashMap::new(),
        losses: Losses::default(),
    };
    passage.each(&mut |line| match Step::read(line) {
        Some(step) => writer.step(&step),
        None => Ok(()),
    })?;
    writer.begin()?;
    Ok(writer.losses.finish())
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    pi: &'w Pi,
    start: &'w Start,
    id: String,
    begun: bool,
    /// Entries that were not written, and what they hang from: what hangs from them hangs from that.
    left_out: HashMap<String, Option<String>>,
    losses: Losses,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        let is_records = matches!(step.what, What::Records);
        let own = AGENTS.iter().find_map(|agent| Some((*agent, restore(step.raw, agent)?)));
        match own.filter(|_| is_records) {
            Some((agent, records)) => {
                let mut written = false;
                for record in records {
                    written |= self.restored(step, agent, &record)?;
                }
                if !written {
                    self.leave_out(step);
                }
                Ok(())
            }
            None if is_records => {
                self.leave_out(step);
                self.losses.lose("records that only another agent understands");
                Ok(())
            }
            None => {
                self.begin()?;
                let line = self.entry(step);
                self.line(&line, false)
            }
        }
    }

    fn leave_out(&mut self, step: &Step<'_>) {
        let parent = step.parent.as_deref().map(str::to_owned);
        self.left_out.insert(step.id.clone().into_owned(), parent);
    }

    /// Writes a line as it was. Says whether it was the entry itself.
    fn restored(&mut self, step: &Step<'_>, agent: &str, record: &[u8]) -> Result<bool, Error> {
        let Some(object) = Raw::parse(record).and_then(Raw::object) else {
            // Both pass over what they cannot read, but not in front of the header, and one need not have what the other had.
            match self.begun && agent == if self.pi.omp { "omp" } else { "pi" } {
                true => self.line(record, true)?,
                false => self.losses.lose("damaged lines"),
            }
            return Ok(false);
        };
        match &*object.text("type").unwrap_or_default() {
            "session" if !self.begun => {
                self.begun = true;
                let header = self.header(record);
                self.line(&header, true)?;
                Ok(false)
            }
            // pi refuses a file that starts with a title.
            "title" if !self.pi.omp => Ok(false),
            "title" if !self.begun => {
                self.line(record, true)?;
                Ok(false)
            }
            _ => {
                self.begin()?;
                self.line(record, true)?;
                Ok(object.text("id").as_deref() == Some(&*step.id))
            }
        }
    }

    /// The header as it was, for the session that is written.
    fn header(&self, record: &[u8]) -> Vec<u8> {
        let Some(object) = Raw::parse(record).and_then(Raw::object) else { return record.to_vec() };
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
        for (name, value) in [("id", &self.id), ("cwd", &self.start.cwd)] {
            if object.text(name).as_deref() != Some(value.as_str()) {
                changes.push((name, Some(quoted(value))));
            }
        }
        if object.field("version").and_then(Raw::unsigned).is_none_or(|version| version < 3) {
            return self.new_header();
        }
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.as_deref())).collect();
        let changed = if changes.is_empty() { None } else { with_members(record, &changes) };
        changed.unwrap_or_else(|| record.to_vec())
    }

    fn new_header(&self) -> Vec<u8> {
        let mut composer = Composer::default();
        composer.text("type", "session");
        composer.number("version", 3);
        composer.text("id", &self.id);
        composer.text("timestamp", &self.start.created);
        composer.text("cwd", &self.start.cwd);
        if let Some(title) = &self.start.title {
            composer.text("title", title);
        }
        if let Some(fork) = &self.start.forked_from {
            composer.text("parentSession", &fork.session);
        }
        let mut line = b"{".to_vec();
        line.extend(composer.finish().0);
        line.push(b'}');
        line
    }

    fn begin(&mut self) -> Result<(), Error> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let header = self.new_header();
        self.line(&header, false)
    }

    fn line(&mut self, line: &[u8], original: bool) -> Result<(), Error> {
        self.out.write_all(line)?;
        self.out.write_all(b"\n")?;
        self.losses.record(original);
        Ok(())
    }

    /// An entry without what it keeps of other formats, hanging from something that is written.
    fn entry(&mut self, step: &Step<'_>) -> Vec<u8> {
        let mut parent = step.parent.as_deref().map(str::to_owned);
        while let Some(further) = parent.as_ref().and_then(|parent| self.left_out.get(parent)) {
            parent.clone_from(further);
        }
        let line = step.raw.bytes();
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
        if parent.as_deref() != step.parent.as_deref() {
            changes.push(("parentId", Some(parent.as_deref().map_or_else(|| b"null".to_vec(), quoted))));
        }
        let has_origin = step.raw.field(MEMBER).is_some();
        if has_origin {
            changes.push((MEMBER, None));
        }
        if let Some(message) = self.without_thoughts(step) {
            changes.push(("message", Some(message)));
        }
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.as_deref())).collect();
        let changed = if changes.is_empty() { None } else { with_members(line, &changes) };
        let mut line = changed.unwrap_or_else(|| line.to_vec());
        if let What::Model { provider, model } = &step.what {
            self.name_model(&mut line, provider, model);
        }
        line
    }

    /// An answer that another agent stored, without what its model thought: pi tells every other model thoughts as if they had
    /// been said. None when there are none.
    fn without_thoughts(&mut self, step: &Step<'_>) -> Option<Vec<u8>> {
        let agent = step.raw.field(MEMBER)?.field("agent")?.text()?;
        let What::Answer(answer) = &step.what else { return None };
        let is_own = AGENTS.contains(&&*agent);
        let thoughts = answer.parts.iter().filter(|part| matches!(part, Part::Thinking { .. })).count();
        if is_own || thoughts == 0 {
            return None;
        }
        let message = step.raw.field("message")?;
        let is_thought = |part: &Raw<'_>| part.field("type").and_then(Raw::text).as_deref() == Some("thinking");
        let said: Vec<&[u8]> =
            message.field("content")?.items().filter(|part| !is_thought(part)).map(Raw::bytes).collect();
        let content = [b"[", &*said.join(&b','), b"]"].concat();
        (0..thoughts).for_each(|_| self.losses.lose(UNSAID));
        with_members(message.bytes(), &[("content", Some(&content))])
    }

    /// Names a model in the program's words, if the entry has only those of the other.
    fn name_model(&self, line: &mut Vec<u8>, provider: &str, model: &str) {
        let Some(object) = Raw::parse(line).and_then(Raw::object) else { return };
        let whole = if provider.is_empty() { model.to_owned() } else { format!("{provider}/{model}") };
        let wanted: &[(&str, &str)] =
            if self.pi.omp { &[("model", &whole)] } else { &[("provider", provider), ("modelId", model)] };
        let missing: Vec<_> = wanted.iter().filter(|(name, _)| object.field(name).is_none()).collect();
        if missing.is_empty() || line.pop() != Some(b'}') {
            return;
        }
        for (name, value) in missing {
            line.push(b',');
            quote(name, line);
            line.push(b':');
            quote(value, line);
        }
        line.push(b'}');
    }
}

fn quoted(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    quote(text, &mut out);
    out
}
