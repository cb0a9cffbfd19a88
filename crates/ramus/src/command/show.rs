//! `show`: the conversation along a path.

use clap::Args;
use ramus_engine::{Selection, Session, SessionInfo, View};
use ramus_model::{EntryId, Kind, Record, Role, Seq};
use serde_json::{Map, Value, json};

use crate::cli::how_many;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::conversation::{Conversation, Turn};
use crate::render::preview::{self, Preview};
use crate::render::{Answer as _, Text, glyphs, json, style};

/// How much of an entry that is no message is shown.
const NOTE: usize = 300;

const EXAMPLES: &str = "\
Shows the path from the root to the leaf, or to the entry that is named. Tool calls and results are folded to one line; \
`ramus entry` prints them whole.

Examples:
  ramus show last
  ramus show 0190@start
  ramus show 0190 --limit 20 --json | jq -r .next_cursor";

/// How many messages a server is asked for at a time.
const PAGE: usize = 10_000;

/// Show the conversation along a path
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Show {
    /// The session, and where its path ends; the leaf when no entry is named
    #[arg(value_name = "SESSION[@ENTRY]")]
    target: String,
    /// Show at most so many messages
    #[arg(long, value_name = "N", value_parser = how_many)]
    limit: Option<usize>,
    /// Go on behind this message: the `next_cursor` of the page before
    #[arg(long, value_name = "C")]
    cursor: Option<String>,
    /// Show changes, labels, metadata and replaced entries too
    #[arg(long)]
    all: bool,
}

/// One thing to show: a message, or with --all any other entry.
struct Shown {
    seq: Seq,
    id: EntryId,
    parent: Option<EntryId>,
    timestamp: String,
    label: Option<String>,
    kind: Kind,
    hidden: bool,
    preview: Preview,
    view: Option<View>,
}

impl Show {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote().filter(|_| invocation.screen.wants_json() && !self.all) {
            return self.ask(invocation, &remote);
        }
        let (session, entry) = invocation.session_and_entry(&self.target)?;
        let leaf = entry.or_else(|| session.log().leaf());
        let selection = if self.all {
            session.page_of(everything(&session, leaf), self.limit, self.cursor.as_deref())?
        } else {
            session.select_messages(leaf, self.limit, self.cursor.as_deref())?
        };
        let mut info = invocation.engine.describe(&session, &invocation.cwd)?;
        if let Some(remote) = invocation.remote() {
            // What was fetched of a fork stands on its own.
            info.entries = remote.describe(session.id().as_str())?.count("entries");
        }
        let unreadable = if invocation.screen.wants_json() {
            self.print_json(invocation, &session, &info, &selection)?
        } else {
            self.tell(invocation, &session, &info, &selection)?
        };
        // Reading may have shown what opening did not.
        invocation.mention_damage(session.log(), &self.target)?;
        invocation.mention_unreadable(unreadable, &self.target)?;
        invocation.mention_missing_blobs(&session.missing_blobs(), &self.target)?;
        Ok(Exit::Done)
    }

    /// Asks a server for messages: a page, or all when nobody said how many.
    fn ask(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let (id, entry) = remote.target(&self.target)?;
        let mut cursor = self.cursor.clone();
        let mut whole: Option<Map<String, Value>> = None;
        loop {
            let request = remote.get(&["sessions", &id, "messages"]).maybe("entry", entry.as_ref());
            let request = request.maybe("cursor", cursor.as_ref());
            let mut page = remote.answer(request.query("limit", self.limit.unwrap_or(PAGE).to_string()))?;
            cursor = page.maybe("next_cursor").map(str::to_owned);
            let answer = match &mut whole {
                None => whole.insert(page),
                Some(answer) => {
                    if let (Some(Value::Array(all)), Some(Value::Array(more))) =
                        (answer.get_mut("messages"), page.get_mut("messages"))
                    {
                        all.append(more);
                    }
                    answer.insert("next_cursor".into(), json!(cursor));
                    answer
                }
            };
            if self.limit.is_some() || cursor.is_none() {
                let is_damaged = answer.get("session").is_some_and(|session| session.says("damaged"));
                invocation.screen.json(std::mem::take(answer))?;
                invocation.mention_if_damaged(is_damaged, &self.target)?;
                return Ok(Exit::Done);
            }
        }
    }

    /// Reads one entry of a page; none when it does not show.
    fn shown(&self, session: &Session, (seq, parent): (Seq, Option<Seq>)) -> anyhow::Result<Option<Shown>> {
        if self.all {
            return Shown::entry(session, seq);
        }
        session.view(seq, parent)?.map(|view| Shown::message(session, view)).transpose()
    }

    /// Prints message by message: a long session need not fit in memory. Returns how many could not be read.
    fn print_json(
        &self,
        invocation: &mut Invocation<'_>,
        session: &Session,
        info: &SessionInfo,
        selection: &Selection,
    ) -> anyhow::Result<usize> {
        let object = match invocation.remote() {
            // Where it is and what is shared of it is for the server to say.
            Some(remote) => remote.describe(session.id().as_str())?,
            None => json::whole(session, info, &invocation.prices()?, &invocation.engine.open_shares()?),
        };
        let head = json::members(json!({"session": object, "next_cursor": selection.next_cursor}));
        let mut list = invocation.screen.json_list(head, "messages")?;
        let mut unreadable = 0;
        for entry in &selection.entries {
            match self.shown(session, *entry)? {
                Some(shown) => list.push(&shown.to_json().into())?,
                None => unreadable += 1,
            }
        }
        list.end()?;
        Ok(unreadable)
    }

    /// Returns how many messages could not be read.
    fn tell(
        &self,
        invocation: &mut Invocation<'_>,
        session: &Session,
        info: &SessionInfo,
        selection: &Selection,
    ) -> anyhow::Result<usize> {
        let cost = info.usage.cost(&invocation.prices()?);
        let screen = &mut invocation.screen;
        let conversation = Conversation::new(session, screen.width(), screen.is_terminal());
        let on_path = |leaf: &&EntryId| session.leaf().as_ref() != Some(leaf);
        let branches = session.leaves().iter().filter(on_path).count();
        let mut text = Text::new();
        conversation.header(&mut text, info, branches, cost);
        screen.text(&text)?;
        let mut unreadable = 0;
        for (at, entry) in selection.entries.iter().enumerate() {
            let Some(shown) = self.shown(session, *entry)? else {
                unreadable += 1;
                continue;
            };
            text.clear();
            if at == 0 || shown.starts_paragraph() {
                text.end();
            }
            conversation.turn(&mut text, &shown.turn());
            screen.text(&text)?;
        }
        if let Some(cursor) = &selection.next_cursor {
            text.clear();
            text.end().styled(style::DIM, &format!("there is more: --cursor {cursor}")).end();
            screen.text(&text)?;
        }
        Ok(unreadable)
    }
}

/// The path, and every entry of this session that is on no branch: labels, metadata, replaced entries.
fn everything(session: &Session, leaf: Option<Seq>) -> Vec<Seq> {
    let log = session.log();
    let mut path = log.path(leaf);
    path.sort_unstable();
    let shared = log.len() - log.own_len();
    let hidden = |seq: &Seq| !log.record(*seq).is_some_and(Record::is_visible) && seq.number() as usize > shared;
    log.seqs().filter(|seq| path.binary_search(seq).is_ok() || hidden(seq)).collect()
}

impl Shown {
    fn message(session: &Session, view: View) -> anyhow::Result<Self> {
        let record = session.log().record(view.seq);
        let kind = record.map_or(Kind::Unknown, |record| record.kind);
        let speaker = match record {
            // Only its line knows what a custom message is about.
            Some(record) if kind == Kind::CustomMessage => {
                Preview::of_entry(&session.line(view.seq)?, record, 0, &glyphs::of_terminal().signs()).speaker
            }
            _ => preview::of_role(&view.message),
        };
        Ok(Self {
            seq: view.seq,
            id: view.id.clone(),
            parent: view.parent.clone(),
            timestamp: view.timestamp.clone(),
            label: view.label.clone(),
            kind,
            hidden: false,
            preview: Preview {
                type_name: kind.wire().unwrap_or_default().to_owned(),
                role: Some(view.message.role_name.clone()),
                speaker,
                text: String::new(),
            },
            view: Some(view),
        })
    }

    /// Describes any entry of the log; none when it is gone.
    fn entry(session: &Session, seq: Seq) -> anyhow::Result<Option<Self>> {
        let log = session.log();
        let Some(record) = log.record(seq) else { return Ok(None) };
        let line = session.line(seq)?;
        let parent = record.parent();
        let mut shown = match session.view(seq, parent)? {
            Some(view) => Self::message(session, view)?,
            None => Self {
                seq,
                id: session.entry_id(seq),
                parent: parent.map(|parent| session.entry_id(parent)),
                timestamp: timestamp(&line),
                label: log.facts().label(log.id(seq)).map(str::to_owned),
                kind: record.kind,
                hidden: false,
                preview: Preview::of_entry(&line, record, NOTE, &glyphs::of_terminal().signs()),
                view: None,
            },
        };
        shown.hidden = !record.is_visible();
        Ok(Some(shown))
    }

    fn to_json(&self) -> Map<String, Value> {
        let mut object = match &self.view {
            Some(view) => json::message(view),
            None => json::members(json!({
                "id": self.id.as_str(),
                "seq": self.seq.number(),
                "parent": self.parent.as_ref().map(EntryId::as_str),
                "role": self.preview.role,
                "text": self.preview.text,
                "parts": [],
                "tokens": 0,
                "timestamp": self.timestamp,
                "label": self.label,
            })),
        };
        object.insert("type".into(), self.preview.type_name.clone().into());
        object.insert("hidden".into(), self.hidden.into());
        object
    }

    /// Says whether it stands apart from what comes before. Results of tools follow their calls closely.
    fn starts_paragraph(&self) -> bool {
        self.view.as_ref().is_some_and(|view| !self.hidden && view.message.role != Role::ToolResult)
    }

    fn turn(&self) -> Turn<'_> {
        Turn {
            seq: self.seq,
            id: self.id.as_str(),
            speaker: &self.preview.speaker,
            kind: self.kind,
            label: self.label.as_deref(),
            timestamp: &self.timestamp,
            message: self.view.as_ref().filter(|_| !self.hidden).map(|view| &view.message),
            note: &self.preview.text,
            changed: self.view.as_ref().and_then(|view| view.changed),
        }
    }
}

fn timestamp(line: &[u8]) -> String {
    use ramus_model::json::Raw;
    let stored = Raw::parse(line).and_then(|raw| raw.field("timestamp")).and_then(Raw::text);
    stored.unwrap_or_default().into_owned()
}
