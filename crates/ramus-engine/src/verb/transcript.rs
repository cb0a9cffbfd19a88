//! What of a session is shown to people elsewhere: for HTML, Markdown and shares.
//!
//! A transcript of a path holds what is on that path and nothing else of the log.

use std::collections::HashMap;

use ramus_model::blob::Restore;
use ramus_model::json::Raw;
use ramus_model::message::{self, Message};
use ramus_model::{Record, Role, Seq};
use ramus_publish::transcript::{Entry, Part, Speaker, Transcript};
use ramus_redact::Pass;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::workspace::Name;

/// Which entries a transcript holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptScope {
    /// Every branch, on the way to this leaf.
    Whole(Option<Seq>),
    /// The path to an entry, and nothing else.
    Path(Option<Seq>),
}

/// What of each entry a transcript holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Include {
    /// What people and models said.
    pub messages: bool,
    /// How calls changed files.
    pub diffs: bool,
    /// Calls of tools and their results.
    pub tools: bool,
    /// What models thought.
    pub thinking: bool,
    /// What the system was told, entries this version does not know, and the working directory.
    pub system: bool,
}

impl Include {
    /// Everything there is.
    pub fn everything() -> Self {
        Self { messages: true, diffs: true, tools: true, thinking: true, system: true }
    }
}

impl Engine {
    /// Makes a transcript of a session.
    pub fn transcript(
        &self,
        session: &mut Session,
        scope: TranscriptScope,
        include: Include,
    ) -> Result<Transcript, EngineError> {
        let mut entries = Vec::new();
        let mut transcript = self.each_entry(session, scope, include, &mut |entry| {
            entries.push(entry);
            Ok(())
        })?;
        transcript.entries = entries;
        Ok(transcript)
    }

    /// Hands out the entries of a transcript one after the other, and returns the transcript without them. Memory does not
    /// grow with what they say.
    pub(crate) fn each_entry(
        &self,
        session: &mut Session,
        scope: TranscriptScope,
        include: Include,
        take: &mut dyn FnMut(Entry) -> Result<(), EngineError>,
    ) -> Result<Transcript, EngineError> {
        let log = session.log();
        let (leaf, seqs): (Option<Seq>, Vec<Seq>) = match scope {
            TranscriptScope::Whole(leaf) => (leaf, log.visible().collect()),
            TranscriptScope::Path(leaf) => (leaf, log.path(leaf)),
        };
        let mut transcript = Transcript {
            title: session.title(),
            session: session.id().to_string(),
            cwd: if include.system { session.cwd().to_owned() } else { String::new() },
            created: log.header().map(|header| header.timestamp.clone()).unwrap_or_default(),
            ..Transcript::default()
        };
        let mut places: HashMap<Seq, usize> = HashMap::new();
        for seq in seqs {
            let Some(mut entry) = session.shown_entry(seq, include)? else { continue };
            let above = session.log().ancestors(session.log().record(seq).and_then(Record::parent));
            entry.parent = above.into_iter().find_map(|above| places.get(&above).copied());
            if include.diffs && entry.result.is_some() {
                self.add_diffs(session, seq, &mut entry, &mut transcript.notes)?;
            }
            if entry.parts.is_empty() {
                continue;
            }
            places.insert(seq, places.len());
            take(entry)?;
        }
        transcript.leaf = session.log().ancestors(leaf).find_map(|seq| places.get(&seq).copied());
        Ok(transcript)
    }

    /// Adds how a call changed files. Snapshots that cannot be read are told, not left out silently.
    fn add_diffs(
        &self,
        session: &mut Session,
        result: Seq,
        entry: &mut Entry,
        notes: &mut Vec<String>,
    ) -> Result<(), EngineError> {
        let steps: Vec<_> = session
            .notes_behind(result)?
            .into_iter()
            .filter(|(_, note)| note.name == Name::Files)
            .flat_map(|(_, note)| note.steps)
            .collect();
        if steps.is_empty() {
            return Ok(());
        }
        let missing = || EngineError::Invalid("nothing is kept of the directory".into());
        let glance = match self.glance_at_snapshots(session).and_then(|glance| glance.ok_or_else(missing)) {
            Ok(glance) => glance,
            Err(error) => {
                note_once(notes, format!("Changes of files are not shown: {error}"));
                return Ok(());
            }
        };
        for (before, after) in steps {
            match glance.diff(before, after, &[]) {
                Ok(diffs) => entry.parts.extend(
                    diffs
                        .into_iter()
                        .map(|diff| Part::Diff { path: diff.path.to_string_lossy().into_owned(), diff: diff.diff }),
                ),
                Err(error) => note_once(notes, format!("Some changes of files are not shown: {error}")),
            }
        }
        Ok(())
    }
}

fn note_once(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// Takes secrets out of every text of a transcript.
pub fn redact(transcript: &mut Transcript, pass: &mut Pass<'_>) {
    transcript.each_text(&mut |entry, text| redact_text(entry, text, pass));
}

/// Takes secrets out of every text of an entry.
pub(crate) fn redact_entry(entry: &mut Entry, pass: &mut Pass<'_>) {
    entry.each_text(&mut |entry, text| redact_text(entry, text, pass));
}

fn redact_text(entry: &str, text: &mut String, pass: &mut Pass<'_>) {
    if let std::borrow::Cow::Owned(redacted) = pass.redact(text, entry) {
        *text = redacted;
    }
}

impl Session {
    /// One entry as far as it is to be shown.
    fn shown_entry(&self, seq: Seq, include: Include) -> Result<Option<Entry>, EngineError> {
        let line = self.restored(self.line(seq)?.into(), Restore::Everything);
        let Some(raw) = Raw::parse(&line) else { return Ok(None) };
        let text = |name: &str| raw.field(name).and_then(Raw::text).unwrap_or_default().into_owned();
        let id = self.entry_id(seq);
        let label = self.log().facts().label(id.as_str()).map(str::to_owned);
        let mut entry = Entry {
            id: id.to_string(),
            parent: None,
            speaker: Speaker::Other,
            role: text("type"),
            label,
            time: text("timestamp"),
            model: None,
            result: None,
            parts: Vec::new(),
        };
        match Message::of_entry(raw) {
            Some(message) => fill(&mut entry, message, &text("customType"), include),
            None if include.system && is_unknown(raw) => {
                entry.parts.push(Part::Other(text("type"), String::from_utf8_lossy(&line).into_owned()));
            }
            None => {}
        }
        Ok(Some(entry))
    }
}

/// Whether an entry is of a kind that this version does not know; those it knows have views of their own.
fn is_unknown(raw: Raw<'_>) -> bool {
    let kind = raw.field("type").and_then(Raw::text).unwrap_or_default();
    let custom = raw.field("customType").and_then(Raw::text).unwrap_or_default();
    let is_known = matches!(
        &*kind,
        "model_change"
            | "thinking_level_change"
            | "label"
            | "session_info"
            | "title_change"
            | "mode_change"
            | "session_init"
    );
    !(is_known || kind == "custom" && custom.starts_with("ramus."))
}

fn fill(entry: &mut Entry, message: Message, custom: &str, include: Include) {
    entry.speaker = match message.role {
        Role::User => Speaker::User,
        Role::Assistant => Speaker::Assistant,
        Role::ToolResult => Speaker::Tool,
        Role::System => Speaker::System,
        _ if message.role_name.ends_with("Summary") => Speaker::Summary,
        _ => Speaker::Other,
    };
    entry.role = if custom.is_empty() { message.role_name } else { custom.to_owned() };
    entry.model = message.answer.and_then(|answer| answer.model);
    entry.result = message.result.map(|result| (result.name, result.is_error));
    let is_told = match entry.speaker {
        Speaker::System => include.system,
        Speaker::Tool => include.tools,
        _ => include.messages,
    };
    let parts = message.parts.into_iter().filter_map(|part| match part {
        message::Part::Text(text) => is_told.then_some(Part::Text(text)),
        message::Part::Thinking(text) => include.thinking.then_some(Part::Thinking(text)),
        message::Part::Image { mime, data } => is_told.then_some(Part::Image { mime, data }),
        message::Part::ToolCall { name, arguments, .. } => {
            include.tools.then_some(Part::Call { name, input: arguments })
        }
        message::Part::Unknown(kind, text) => include.system.then_some(Part::Other(kind, text)),
    });
    entry.parts = parts.collect();
}
