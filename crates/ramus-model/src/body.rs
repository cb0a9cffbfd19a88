//! Bodies: what an entry says beyond its envelope, checked before it is written and kept byte for byte.

use std::sync::LazyLock;

use memchr::memmem;
use serde_json::Value;

use crate::blob::{self, Blob, BlobHash};
use crate::id::EntryId;
use crate::json::{Raw, Shape, quote};
use crate::kind::{Kind, Marker, RAMUS_PREFIX, is_inert};

/// The member that marks a record as the later version of the entry whose id it bears. Programs that know nothing of it
/// index entries by id and take the last, so they show the later version too.
pub const SUPERSEDES: &str = "ramusSupersedes";

/// Why something cannot be an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The text is not one JSON object.
    #[error("not a JSON object")]
    NotAnObject,
    /// There is no `type`, or it is reserved for the header.
    #[error("{0}")]
    Type(String),
    /// A member is not what the type requires.
    #[error("{0}")]
    Member(String),
}

/// The type and members of an entry, envelope excluded, with every value as it was spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    type_name: String,
    /// Names and values as spelled, quotes of the names included.
    members: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Where a new entry hangs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Parent {
    /// From whatever the leaf is when it is written.
    #[default]
    Leaf,
    /// From nothing: a new root.
    Root,
    /// From this entry.
    Entry(EntryId),
}

/// An entry to be written: a body, and the parts of the envelope the caller insists on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The body.
    pub body: Body,
    /// The id, or none to have one made.
    pub id: Option<EntryId>,
    /// Where it hangs.
    pub parent: Parent,
    /// When it happened, as written, or none for now.
    pub timestamp: Option<String>,
}

impl Body {
    /// Makes a body of a type with members.
    pub fn new(type_name: &str, members: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let members = members.into_iter().map(|(name, value)| (quoted(name), value.to_string().into_bytes()));
        Self { type_name: type_name.to_owned(), members: members.collect() }
    }

    /// Makes one of our own entries: a `custom` entry of type `ramus.<name>`.
    pub fn ramus(name: &str, data: Value) -> Self {
        Self::new("custom", [("customType", Value::from(format!("{RAMUS_PREFIX}{name}"))), ("data", data)])
    }

    /// Takes over the type and members of a stored record, envelope excluded.
    pub fn of_record(record: Raw<'_>) -> Option<Self> {
        let type_name = record.field("type").and_then(Raw::text)?.into_owned();
        let of_body = |name: &Raw<'_>| name.text().is_none_or(|name| !is_envelope(&name) && name != SUPERSEDES);
        let members = record.raw_fields().filter(|(name, _)| of_body(name));
        let members = members.map(|(name, value)| (name.bytes().to_vec(), value.bytes().to_vec()));
        Some(Self { type_name, members: members.collect() })
    }

    /// Marks the body as the later version of the entry whose id it will bear.
    #[must_use]
    pub fn superseding(mut self) -> Self {
        self.members.insert(0, (quoted(SUPERSEDES), b"true".to_vec()));
        self
    }

    /// Gives a member another value.
    #[must_use]
    pub fn with(mut self, name: &str, value: &Value) -> Self {
        let name = quoted(name);
        self.members.retain(|(member, _)| *member != name);
        self.members.push((name, value.to_string().into_bytes()));
        self
    }

    /// Gives a member another value, as it is spelled.
    #[must_use]
    pub fn with_spelled(mut self, name: &str, value: Raw<'_>) -> Self {
        let name = quoted(name);
        self.members.retain(|(member, _)| *member != name);
        self.members.push((name, value.bytes().to_vec()));
        self
    }

    /// Moves what is too large for a line to blobs and drops transient members. None when the body stays as it is.
    pub fn externalised(&self) -> Option<(Self, Vec<Blob>)> {
        if !matches!(self.kind(), Kind::Message | Kind::CustomMessage) || !self.may_be_externalised() {
            return None;
        }
        let changed = blob::externalise(&self.to_line(&EntryId::from(""), None, ""))?;
        Some((Raw::parse(&changed.line).and_then(Self::of_record)?, changed.blobs))
    }

    /// Returns the blobs that the body names.
    pub fn blobs(&self) -> Vec<BlobHash> {
        static NAME: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("sha256:"));
        match self.members.iter().any(|(_, value)| NAME.find(value).is_some()) {
            true => blob::named(&self.to_line(&EntryId::from(""), None, "")),
            false => Vec::new(),
        }
    }

    /// Says whether anything in the body could have to leave it. Most bodies have none of these words, and looking for them
    /// is much cheaper than taking the body apart.
    fn may_be_externalised(&self) -> bool {
        static WORDS: LazyLock<[memmem::Finder<'static>; 5]> = LazyLock::new(|| {
            // A word that is spelled with escapes could be any of the others.
            ["image", "partialJson", "jsonlEvents", "lineCount", "\\u"].map(memmem::Finder::new)
        });
        let mentions = |value: &[u8]| {
            // A picture that is too small to leave need not be looked for.
            let from = usize::from(value.len() < blob::MIN_IMAGE_CHARS);
            WORDS.iter().skip(from).any(|word| word.find(value).is_some())
        };
        // No text has more units than bytes.
        self.members.iter().any(|(name, value)| value.len() > blob::MAX_TEXT_UNITS || mentions(value) || mentions(name))
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        Kind::from_wire(self.type_name.as_bytes())
    }

    /// Says whether the entry will be inert: metadata hangs from the leaf and never becomes it.
    pub fn is_inert(&self) -> bool {
        let custom_type = self.member("customType").and_then(Raw::text).filter(|_| self.kind() == Kind::Custom);
        is_inert(self.kind(), custom_type.map_or(Marker::None, |text| Marker::from_custom_type(&text)))
    }

    /// Says whether the entry claims to be one of ours, whatever its type: `customType` begins with our prefix. One that says
    /// it twice claims it once.
    pub fn is_ours(&self) -> bool {
        let says = |spelled: &[u8], what: fn(&str) -> bool| {
            Raw::parse(spelled).and_then(Raw::text).is_some_and(|text| what(&text))
        };
        let mut named = self.members.iter().filter(|(name, _)| says(name, |name| name == "customType"));
        named.any(|(_, value)| says(value, |value| value.starts_with(RAMUS_PREFIX)))
    }

    /// Returns the bytes of a member.
    pub fn member(&self, name: &str) -> Option<Raw<'_>> {
        let is_name = |member: &[u8]| Raw::parse(member).and_then(Raw::text).is_some_and(|member| member == name);
        let found = self.members.iter().rev().find(|(member, _)| is_name(member))?;
        Raw::parse(&found.1)
    }

    /// Writes the entry as a line, newline included.
    pub fn to_line(&self, id: &EntryId, parent: Option<&EntryId>, timestamp: &str) -> Vec<u8> {
        let mut out = b"{\"type\":".to_vec();
        quote(&self.type_name, &mut out);
        out.extend_from_slice(b",\"id\":");
        quote(id.as_str(), &mut out);
        out.extend_from_slice(b",\"parentId\":");
        match parent {
            Some(parent) => quote(parent.as_str(), &mut out),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"timestamp\":");
        quote(timestamp, &mut out);
        for (name, value) in &self.members {
            out.push(b',');
            out.extend_from_slice(name);
            out.push(b':');
            // A value may come from a pretty-printed document; between tokens a newline is only whitespace.
            out.extend(value.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
        }
        out.extend_from_slice(b"}\n");
        out
    }
}

impl Draft {
    /// Wraps a body that takes everything else as it comes.
    pub fn new(body: Body) -> Self {
        Self { body, id: None, parent: Parent::Leaf, timestamp: None }
    }

    /// Hangs the entry from `parent`.
    #[must_use]
    pub fn under(mut self, parent: Parent) -> Self {
        self.parent = parent;
        self
    }

    /// Reads a draft from the JSON of an entry: `type` and its members; `id`, `parentId` and `timestamp` are optional.
    pub fn parse(text: &[u8]) -> Result<Self, BodyError> {
        Self::of(Raw::parse(text).ok_or(BodyError::NotAnObject)?)
    }

    /// Makes a draft of an entry that was read.
    pub fn of(raw: Raw<'_>) -> Result<Self, BodyError> {
        if raw.shape() != Shape::Object {
            return Err(BodyError::NotAnObject);
        }
        if std::str::from_utf8(raw.bytes()).is_err() {
            return Err(BodyError::Member("the entry is not valid UTF-8".into()));
        }
        let type_name = raw.field("type").and_then(Raw::text).unwrap_or_default();
        if matches!(&*type_name, "" | "session" | "title") {
            return Err(BodyError::Type(match &*type_name {
                "" => "an entry needs a textual \"type\"".into(),
                reserved => format!("the type {reserved:?} belongs to the header, not to an entry"),
            }));
        }
        check(raw).map_err(BodyError::Member)?;
        let body = Body::of_record(raw).ok_or(BodyError::NotAnObject)?;
        Ok(Self { body, id: entry_id(raw)?, parent: parent(raw)?, timestamp: timestamp(raw)? })
    }
}

fn quoted(name: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 2);
    quote(name, &mut out);
    out
}

fn is_envelope(name: &str) -> bool {
    matches!(name, "type" | "id" | "parentId" | "timestamp")
}

fn entry_id(raw: Raw<'_>) -> Result<Option<EntryId>, BodyError> {
    let Some(value) = raw.field("id").filter(|value| !value.is_null()) else { return Ok(None) };
    match value.text() {
        Some(id) if is_entry_id(&id) => Ok(Some(EntryId::from(&*id))),
        _ => Err(BodyError::Member("\"id\" must be 1 to 128 letters, digits, '-', '_', '.' or ':'".into())),
    }
}

/// Ids that callers may choose: printable, free of the characters that references to entries use.
fn is_entry_id(id: &str) -> bool {
    (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
}

fn parent(raw: Raw<'_>) -> Result<Parent, BodyError> {
    match raw.field("parentId") {
        None => Ok(Parent::Leaf),
        Some(value) if value.is_null() => Ok(Parent::Root),
        Some(value) => match value.text() {
            Some(id) if !id.is_empty() => Ok(Parent::Entry(EntryId::from(&*id))),
            _ => Err(BodyError::Member("\"parentId\" must be an entry id or null".into())),
        },
    }
}

fn timestamp(raw: Raw<'_>) -> Result<Option<String>, BodyError> {
    let Some(value) = raw.field("timestamp").filter(|value| !value.is_null()) else { return Ok(None) };
    match value.text() {
        Some(text) if crate::time::parse(&text).is_some() => Ok(Some(text.into_owned())),
        _ => Err(BodyError::Member("\"timestamp\" must be an ISO-8601 time with a zone".into())),
    }
}

/// Checks that a record has what readers of its type rely on. Unknown types may look as they like.
pub(crate) fn check(raw: Raw<'_>) -> Result<(), String> {
    let type_name = raw.field("type").and_then(Raw::text).unwrap_or_default();
    let shape = |name: &str| raw.field(name).map(Raw::shape);
    let need = |good: bool, what: &str| if good { Ok(()) } else { Err(format!("a {type_name} entry needs {what}")) };
    let text = |name: &str| shape(name) == Some(Shape::Text);
    match Kind::from_wire(type_name.as_bytes()) {
        Kind::Message => {
            let role = raw.field("message").and_then(|message| message.field("role")).map(Raw::shape);
            need(role == Some(Shape::Text), "an object \"message\" with a textual \"role\"")
        }
        Kind::ModelChange => need(text("model") || text("modelId"), "\"model\", or \"provider\" and \"modelId\""),
        Kind::Compaction | Kind::BranchSummary => need(text("summary"), "a textual \"summary\""),
        Kind::Custom | Kind::CustomMessage => need(text("customType"), "a textual \"customType\""),
        Kind::Label => need(text("targetId"), "a textual \"targetId\""),
        Kind::TtsrInjection => need(shape("injectedRules") == Some(Shape::Array), "an array \"injectedRules\""),
        Kind::ModeChange => need(text("mode"), "a textual \"mode\""),
        Kind::ContextEdit => need(text("targetId"), "a textual \"targetId\""),
        Kind::SessionInfo => need(text("name"), "a textual \"name\""),
        Kind::TitleChange => need(text("title"), "a textual \"title\""),
        Kind::ThinkingLevelChange | Kind::SessionInit | Kind::ResetBoundary | Kind::Unknown => Ok(()),
    }
}
