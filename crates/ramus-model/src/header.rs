//! The session header: line 1 of a log, or line 2 behind a title slot.

use crate::id::{EntryId, SessionId};
use crate::json::{Raw, Shape, quote};
use crate::project::Project;

/// The version of the log format that ramus writes.
pub const CURRENT_VERSION: u32 = 3;

/// What the header line of a session says.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The session's id.
    pub id: SessionId,
    /// The format version; 1 when the header names none.
    pub version: u32,
    /// When the session was created, as written.
    pub timestamp: String,
    /// The working directory.
    pub cwd: String,
    /// The title given at creation.
    pub title: Option<String>,
    /// The opaque lineage string of version 3.
    pub parent_session: Option<String>,
    /// What ramus adds.
    pub ramus: RamusHeader,
    /// Whether no header could be read and this one was made up to show what follows.
    pub synthetic: bool,
}

/// The `ramus` member of a header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RamusHeader {
    /// Where this session was forked from, when it was forked by reference.
    pub forked_from: Option<ForkedFrom>,
    /// Where the copied entries of this session come from, when it was forked by copy.
    pub copied_from: Option<Origin>,
    /// The session that spawned this one.
    pub parent: Option<SessionId>,
    /// Who owns the session, when it is not the default owner.
    pub owner: Option<String>,
    /// The version of the engine that created the session.
    pub engine: Option<String>,
    /// The repository that the working directory was in.
    pub project: Option<Project>,
    /// What the log keeps of a deleted origin, when it is a base.
    pub base: Option<Base>,
    /// Where the session was read from, when another agent wrote it.
    pub imported_from: Option<ImportedFrom>,
}

/// The file of another agent that a session was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFrom {
    /// The agent.
    pub agent: String,
    /// The file, as it was called then.
    pub file: String,
}

/// A base: what forks need of an origin that was deleted. Forks count the bytes of the origin, which is longer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// For each offset that a fork names, where the base ends for it. Both ascend.
    pub offsets: Vec<(u64, u64)>,
}

impl Base {
    /// Returns where the base ends for a fork that names `offset` of the origin.
    pub fn end(&self, offset: u64) -> u64 {
        let covered = self.offsets.iter().take_while(|(origin, _)| *origin <= offset);
        covered.last().map_or(0, |(_, end)| *end)
    }
}

/// An entry of another session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The session.
    pub session: SessionId,
    /// The entry.
    pub entry: EntryId,
}

/// A fork by reference: the log starts with the first `offset` bytes of its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkedFrom {
    /// The entry the fork continues from.
    pub origin: Origin,
    /// How many bytes of the origin belong to the fork.
    pub offset: u64,
}

impl Header {
    /// Reads a header line. Like the programs that write it, this insists on a textual id and forgives the rest.
    pub fn read(line: Raw<'_>) -> Option<Self> {
        let text = |name| line.field(name).and_then(Raw::text).map(|text| text.into_owned());
        if text("type")? != "session" {
            return None;
        }
        Some(Self {
            id: SessionId::new(text("id").filter(|id| !id.is_empty())?),
            version: version(line.field("version")),
            timestamp: text("timestamp").unwrap_or_default(),
            cwd: text("cwd").unwrap_or_default(),
            title: text("title").filter(|title| !title.is_empty()),
            parent_session: text("parentSession").or_else(|| text("branchedFrom")),
            ramus: line.field("ramus").map(RamusHeader::read).unwrap_or_default(),
            synthetic: false,
        })
    }

    /// Makes up a header for a log that has none, so that its entries can be shown.
    pub fn synthetic(id: &str) -> Self {
        Self {
            id: SessionId::new(id),
            version: CURRENT_VERSION,
            timestamp: String::new(),
            cwd: String::new(),
            title: None,
            parent_session: None,
            ramus: RamusHeader::default(),
            synthetic: true,
        }
    }

    /// Writes the header as a line, newline included.
    pub fn to_line(&self) -> Vec<u8> {
        let mut out = b"{\"type\":\"session\",\"version\":".to_vec();
        out.extend_from_slice(self.version.to_string().as_bytes());
        let mut member = |name: &str, value: &str| {
            out.push(b',');
            quote(name, &mut out);
            out.push(b':');
            quote(value, &mut out);
        };
        member("id", self.id.as_str());
        member("timestamp", &self.timestamp);
        member("cwd", &self.cwd);
        if let Some(title) = &self.title {
            member("title", title);
        }
        if let Some(parent) = &self.parent_session {
            member("parentSession", parent);
        }
        self.ramus.write(&mut out);
        out.extend_from_slice(b"}\n");
        out
    }
}

/// Only a version that is absent means 1: any other oddity must not make the ids of a file be thrown away.
fn version(raw: Option<Raw<'_>>) -> u32 {
    let Some(raw) = raw.filter(|raw| !raw.is_null()) else { return 1 };
    let spelled = raw.text().and_then(|text| text.trim().parse::<f64>().ok());
    match raw.float().or(spelled) {
        Some(number) if number >= 1.0 => number as u32,
        Some(_) => 1,
        None => CURRENT_VERSION,
    }
}

impl RamusHeader {
    fn read(raw: Raw<'_>) -> Self {
        let text = |raw: Raw<'_>, name| raw.field(name).and_then(Raw::text).map(|text| text.into_owned());
        let origin = |raw: Raw<'_>| {
            Some(Origin { session: SessionId::new(text(raw, "session")?), entry: EntryId::new(text(raw, "entry")?) })
        };
        Self {
            forked_from: raw.field("forkedFrom").and_then(|raw| {
                Some(ForkedFrom { origin: origin(raw)?, offset: raw.field("offset").and_then(Raw::unsigned)? })
            }),
            copied_from: raw.field("copiedFrom").and_then(origin),
            parent: text(raw, "parent").map(SessionId::new),
            owner: text(raw, "owner"),
            engine: text(raw, "engine"),
            project: raw.field("project").and_then(Project::read),
            base: raw.field("base").map(|raw| {
                let pair = |raw: Raw<'_>| {
                    let mut numbers = raw.items().map(Raw::unsigned);
                    Some((numbers.next()??, numbers.next()??))
                };
                Base { offsets: raw.field("offsets").into_iter().flat_map(Raw::items).filter_map(pair).collect() }
            }),
            imported_from: raw
                .field("importedFrom")
                .and_then(|raw| Some(ImportedFrom { agent: text(raw, "agent")?, file: text(raw, "file")? })),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut object = serde_json::Map::new();
        if let Some(fork) = &self.forked_from {
            let mut value = origin_json(&fork.origin);
            value.insert("offset".into(), fork.offset.into());
            object.insert("forkedFrom".into(), value.into());
        }
        if let Some(origin) = &self.copied_from {
            object.insert("copiedFrom".into(), origin_json(origin).into());
        }
        if let Some(parent) = &self.parent {
            object.insert("parent".into(), parent.as_str().into());
        }
        if let Some(owner) = &self.owner {
            object.insert("owner".into(), owner.as_str().into());
        }
        if let Some(engine) = &self.engine {
            object.insert("engine".into(), engine.as_str().into());
        }
        if let Some(project) = &self.project {
            object.insert("project".into(), project.to_json());
        }
        if let Some(base) = &self.base {
            let offsets: Vec<_> = base.offsets.iter().map(|(origin, end)| serde_json::json!([origin, end])).collect();
            object.insert("base".into(), serde_json::json!({ "offsets": offsets }));
        }
        if let Some(ImportedFrom { agent, file }) = &self.imported_from {
            object.insert("importedFrom".into(), serde_json::json!({ "agent": agent, "file": file }));
        }
        if !object.is_empty() {
            out.extend_from_slice(b",\"ramus\":");
            out.extend_from_slice(serde_json::Value::from(object).to_string().as_bytes());
        }
    }
}

fn origin_json(origin: &Origin) -> serde_json::Map<String, serde_json::Value> {
    let mut value = serde_json::Map::new();
    value.insert("session".into(), origin.session.as_str().into());
    value.insert("entry".into(), origin.entry.as_str().into());
    value
}

/// The 256-byte first line that omp 18 keeps a title in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleSlot {
    /// The title.
    pub title: String,
    /// When it was set, as written.
    pub updated_at: String,
}

impl TitleSlot {
    /// Reads a title slot.
    pub fn read(line: Raw<'_>) -> Option<Self> {
        let text = |name| line.field(name).and_then(Raw::text).map(|text| text.into_owned());
        (line.shape() == Shape::Object && text("type")? == "title").then_some(())?;
        Some(Self { title: text("title")?, updated_at: text("updatedAt").unwrap_or_default() })
    }
}
