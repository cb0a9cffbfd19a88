//! Reading: lists that share their beginning into a tree.

use hashbrown::HashMap;
use ramus_model::json::{Object, Raw, Shape};
use ramus_model::{EntryId, time};
use rusqlite::Row;
use sha2::{Digest as _, Sha256};

use super::AGENT;
use crate::compose::Composer;
use crate::emit::{Emitter, Hang, New};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::lines::document;
use crate::mapping::Tokens;
use crate::origin::Kept;
use crate::record::Record;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;
use crate::sqlite::{self, Cells};

/// What a conversation is called that nobody has called anything.
const UNTITLED: &str = "新的会话";

/// Reads a conversation, or every one of a database.
pub(super) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let Some(path) = source.database()? else {
        let bytes = document(source.open()?, limits)?;
        let read = conversation(&bytes, Start::default(), None, sink)?;
        return read.ok_or_else(|| Error::NotThisFormat { agent: AGENT, why: "the document has no messages".into() });
    };
    let connection = sqlite::open(&path)?;
    if !sqlite::has_table(&connection, "okc_conversations")? {
        return Err(Error::NotThisFormat { agent: AGENT, why: "the database has no table okc_conversations".into() });
    }
    let mut report = Report::default();
    let mut cells = Cells::new(limits);
    let mut rows = connection.prepare("SELECT * FROM okc_conversations ORDER BY id")?;
    let columns: Vec<String> = rows.column_names().map(str::to_owned).collect();
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let stored = stored(row, &columns, &mut cells)?;
        let gaps = cells.gaps();
        match conversation(&stored.payload, stored.noted, stored.beside.as_deref(), sink)? {
            Some(read) => report.add(read),
            None => {
                report.records += 1;
                report.lost += 1;
                sink.loss(&report.lose(None, "a conversation has no messages"))?;
            }
        }
        for why in gaps {
            sink.loss(&report.lose(None, why))?;
        }
    }
    Ok(report)
}

/// A row of the database.
struct Stored {
    payload: Vec<u8>,
    noted: Start,
    /// What only the columns say.
    beside: Option<Vec<u8>>,
}

/// Reads a row. A payload that cannot be read is made again of what the columns say, as OKCVM does, and kept beside.
fn stored(row: &Row<'_>, columns: &[String], cells: &mut Cells) -> Result<Stored, Error> {
    let mut noted = Noted::default();
    let (mut payload, mut others) = (None, b"{".to_vec());
    for (at, column) in columns.iter().enumerate() {
        let is_payload = column == "payload";
        let value = if is_payload { cells.json_or_value(row, at)? } else { cells.value(row, at)? };
        match noted.place(column) {
            None if is_payload && value.starts_with(b"{") => payload = Some(value),
            Some(place) => *place = Raw::parse(&value).and_then(Raw::text).map(|text| text.into_owned()),
            None if value != b"null" => sqlite::member(&mut others, column, &value),
            None => {}
        }
    }
    others.push(b'}');
    let noted = noted.start();
    let payload = payload.unwrap_or_else(|| {
        cells.miss("a conversation is no object, or too long; what its columns say is there");
        br#"{"messages":[]}"#.to_vec()
    });
    let beside = Some(others).filter(|others| others != b"{}");
    Ok(Stored { payload, noted, beside })
}

/// What the columns of a conversation say, which counts where the payload says nothing.
#[derive(Default)]
struct Noted {
    id: Option<String>,
    title: Option<String>,
    created: Option<String>,
    root: Option<String>,
}

impl Noted {
    fn place(&mut self, column: &str) -> Option<&mut Option<String>> {
        match column {
            "id" => Some(&mut self.id),
            "title" => Some(&mut self.title),
            "created_at" => Some(&mut self.created),
            "workspace_root" => Some(&mut self.root),
            _ => None,
        }
    }

    fn start(self) -> Start {
        // Times of the database have no zone, and are those of UTC.
        let created = self.created.and_then(|text| time::parse(&format!("{}Z", text.replace(' ', "T"))));
        Start {
            id: self.id.unwrap_or_default(),
            title: self.title.filter(|title| !title.is_empty()),
            created: created.map(time::format).unwrap_or_default(),
            cwd: self.root.unwrap_or_default(),
            ..Start::default()
        }
    }
}

/// Reads one conversation; none when it has no messages. The payload is kept whole: most of it says the same again.
fn conversation(
    bytes: &[u8],
    noted: Start,
    beside: Option<&[u8]>,
    sink: &mut dyn Sink,
) -> Result<Option<Report>, Error> {
    let whole = Record::new(1, bytes);
    let messages =
        whole.object().and_then(|object| object.field("messages")).filter(|list| list.shape() == Shape::Array);
    let (Some(object), Some(messages)) = (whole.object(), messages) else { return Ok(None) };
    let mut reader = Reader { emitter: Emitter::new(sink, AGENT, start(&object, noted)), known: HashMap::new() };
    reader.emitter.report.records = 1;
    reader.emitter.keep(Kept::whole(1, &whole.bytes));
    if let Some(beside) = beside {
        reader.emitter.report.records += 1;
        reader.emitter.keep(Kept::whole(1, beside).in_file("columns"));
    }
    let branches = object
        .field("branches")
        .into_iter()
        .flat_map(|branches| branches.fields().map(|(_, branch)| branch).collect::<Vec<_>>());
    for version in branches.flat_map(|branch| branch.field("versions").into_iter().flat_map(Raw::items)) {
        if let Some(list) = version.field("messages") {
            reader.list(list)?;
        }
    }
    // What counts now comes last, so that the conversation stands at its end.
    reader.list(messages)?;
    reader.stand()?;
    reader.emitter.finish().map(Some)
}

fn start(payload: &Object<'_>, noted: Start) -> Start {
    let text = |name: &str| payload.text(name).map(|text| text.into_owned()).filter(|text| !text.is_empty());
    let paths = payload.field("workspace").and_then(|workspace| workspace.field("paths"));
    let root =
        paths.and_then(|paths| ["internal_root", "internalRoot"].iter().find_map(|name| paths.field(name)?.text()));
    Start {
        id: text("id").unwrap_or(noted.id),
        cwd: root.map_or(noted.cwd, |root| root.into_owned()),
        created: payload.field("createdAt").and_then(moment).unwrap_or(noted.created),
        title: text("title").or(noted.title).filter(|title| title != UNTITLED),
        format: Some(Format::Okcvm),
        ..Start::default()
    }
}

/// A time, as text or in milliseconds.
fn moment(raw: Raw<'_>) -> Option<String> {
    let millis = raw.float().map(|millis| millis as i64);
    millis.or_else(|| time::parse(&raw.text()?)).map(time::format)
}

struct Reader<'s> {
    emitter: Emitter<'s>,
    /// The entry that a message became, by where it hangs and what it says.
    known: HashMap<[u8; 32], EntryId>,
}

impl Reader<'_> {
    /// Goes down a list as far as it is known and gives the rest.
    fn list(&mut self, messages: Raw<'_>) -> Result<(), Error> {
        let mut at: Option<EntryId> = None;
        for (index, message) in messages.items().filter_map(Raw::object).enumerate() {
            let mut hash = Sha256::new();
            for part in [at.as_ref().map_or("", |at| at.as_str()).as_bytes(), text_of(&message, "id").as_bytes()] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
            hash.update(message.field("content").map(Raw::bytes).unwrap_or_default());
            let key: [u8; 32] = hash.finalize().into();
            let entry = match self.known.get(&key) {
                Some(entry) => entry.clone(),
                None => self.message(&message, at.as_ref(), index)?,
            };
            self.known.insert(key, entry.clone());
            at = Some(entry);
        }
        self.emitter.move_to(at);
        Ok(())
    }

    fn message(&mut self, message: &Object<'_>, parent: Option<&EntryId>, index: usize) -> Result<EntryId, Error> {
        let mut composer = Composer::new(&[]);
        let content = message.field("content").filter(|content| content.shape() == Shape::Text);
        let role = text_of(message, "role");
        composer.object("message", |said| {
            said.text(
                "role",
                match role.as_str() {
                    "assistant" => "assistant",
                    "system" => "system",
                    _ => "user",
                },
            );
            said.array("content", |parts| {
                if let Some(text) = content {
                    parts.object("", |part| {
                        part.text("type", "text");
                        part.raw("text", text);
                    });
                }
            });
            if role == "assistant" {
                said.text("api", "okcvm");
                said.text("provider", "");
                said.text("model", "");
                Tokens::default().compose(said);
                said.text("stopReason", "stop");
            }
        });
        let (members, _) = composer.finish();
        let id = Some(text_of(message, "id")).filter(|id| !id.is_empty()).unwrap_or_else(|| format!("message-{index}"));
        let time = message.field("timestamp").and_then(moment);
        let new = New {
            kind: "message",
            id: &id,
            parent: parent.map_or(Hang::Root, Hang::Entry),
            timestamp: time.as_deref(),
            members: &members,
            ..New::default()
        };
        self.emitter.entry(&new)
    }

    /// Says where the conversation stands: the list that counts may end before others do.
    fn stand(&mut self) -> Result<(), Error> {
        let at = self.emitter.last().cloned();
        let new = New {
            kind: "custom",
            id: "current",
            parent: at.as_ref().map_or(Hang::Root, Hang::Entry),
            members: br#""customType":"ramus.leaf","data":{"op":"import"}"#,
            inert: true,
            ..New::default()
        };
        self.emitter.entry(&new).map(drop)
    }
}

fn text_of(object: &Object<'_>, name: &str) -> String {
    object.text(name).unwrap_or_default().into_owned()
}
