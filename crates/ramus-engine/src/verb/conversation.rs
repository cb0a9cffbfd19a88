//! `save_conversation`: the whole tree of a client, laid over the tree of a session.
//!
//! What the client sends is kept as it is, in an entry. Messages that the session has not become entries, each behind the one
//! before it, so another version of a message becomes a branch. Messages that the client left out are hidden from it and
//! stay; another order is noted and moves nothing. The invariant: nothing that was said is ever erased by a client that does
//! not mention it.

mod diff;
mod nodes;
mod payload;

use std::collections::HashSet;

use ramus_model::json::{Raw, Shape, Spelled};
use ramus_model::{Body, Draft, EntryId, Parent, Record, Seq, Tree, time};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::append::{ATTEMPTS, overtaken};
use crate::verb::create::{check_title, new_entry_id, title_body};
use crate::verb::info::{GitState, Workspace};
use crate::verb::meta::FREE;
use crate::verb::say::Say;
use diff::{Difference, Node, Said, compare};
use nodes::CLIENT_ID;
pub use nodes::SaidMessage;

/// The free metadata that says where the last payload is, and when it came.
pub const CONVERSATION: &str = "conversation";

/// What is known about the workspace of a client when it saves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Where it is; none leaves what is known as it is.
    pub workspace: Option<Workspace>,
    /// The state it is in; none leaves what is known as it is.
    pub git: Option<GitState>,
}

/// What a client sends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Payload {
    /// What counts of it, as far as it can be understood.
    pub members: Map<String, Value>,
    /// As it is spelled, which is what is kept.
    pub spelled: Spelled,
}

/// What a client saved last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// What it sent, as it was.
    pub payload: Spelled,
    /// When it was first saved, as the client says.
    pub created: String,
    /// When it was saved last. Later each time.
    pub updated: String,
    /// The entries of the list that counts, as the client orders them; none when they are in the order of the tree.
    pub order: Option<Vec<EntryId>>,
    /// The entries that the client left out.
    pub hidden: HashSet<EntryId>,
    /// The last message of the list that counts.
    pub leaf: Option<EntryId>,
}

/// What saving came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The entry that holds the payload.
    pub entry: EntryId,
    /// Messages that were new.
    pub appended: Vec<EntryId>,
    /// How many messages the client left out, now and before.
    pub hidden: usize,
}

impl Engine {
    /// Lays the tree of a client over the tree of a session. Messages are left alone when the payload has none at all.
    pub fn save_conversation(
        &self,
        session: &mut Session,
        payload: &Payload,
        standing: &Standing,
    ) -> Result<Saved, EngineError> {
        let (lists, title) = read(&payload.members)?;
        for _ in 0..ATTEMPTS {
            let known = session.log().len();
            let mut plan = Plan::of(self, session, payload)?;
            plan.messages(lists.clone())?;
            plan.title(title.as_deref());
            let (drafts, saved) = plan.finish(standing);
            let mut doing = Doing::several("conversation", self, session);
            match self.record(session, &mut doing, drafts) {
                // Somebody else was faster, and took an id.
                Err(EngineError::InvalidLine { .. }) if session.log().len() != known => {}
                result => return result.map(|_| saved),
            }
        }
        Err(overtaken(session))
    }
}

/// The lists of messages that a client sends, the one that counts last.
type Lists = Vec<Vec<Said>>;

/// Refuses what cannot be saved as a conversation.
pub fn check_conversation(payload: &Map<String, Value>) -> Result<(), EngineError> {
    read(payload).map(drop)
}

/// Reads the lists of messages and the title.
fn read(payload: &Map<String, Value>) -> Result<(Option<Lists>, Option<String>), EngineError> {
    let title = payload::title(payload)?.map(|title| check_title(&title)).transpose()?;
    Ok((payload::lists(payload)?, title))
}

impl Session {
    /// Returns what a client saved last, if one did and it is still there.
    pub fn conversation(&self) -> Result<Option<Conversation>, EngineError> {
        let noted = self.log().facts().meta().get(&format!("{FREE}{CONVERSATION}"));
        let entry = noted.and_then(|noted| noted.get("entry")).and_then(Value::as_str);
        let Some(seq) = entry.and_then(|entry| self.log().seq_of(entry)) else { return Ok(None) };
        let line = self.line(seq)?;
        let Some(data) = Raw::parse(&line).and_then(|raw| raw.field("data")).and_then(Raw::object) else {
            return Ok(None);
        };
        let text = |name: &str| data.text(name).map(|text| text.into_owned());
        let ids = |name: &str| {
            let list = data.field(name).filter(|list| list.shape() == Shape::Array)?;
            Some(list.items().filter_map(Raw::text).map(|id| EntryId::from(&*id)).collect::<Vec<_>>())
        };
        let Some(payload) = data.field("payload").filter(|raw| raw.shape() == Shape::Object) else { return Ok(None) };
        Ok(Some(Conversation {
            payload: Spelled::of(payload),
            created: text("created").unwrap_or_default(),
            updated: text("updated").unwrap_or_default(),
            order: ids("order"),
            hidden: ids("hidden").unwrap_or_default().into_iter().collect(),
            leaf: text("leaf").map(EntryId::new),
        }))
    }
}

/// The entry that holds a payload as it is spelled.
fn holding(payload: &Spelled, data: &Value) -> Body {
    let (payload, data) = (payload.bytes(), data.to_string());
    let mut spelled = Raw::parse(data.as_bytes()).map(Spelled::of).unwrap_or_default();
    if let Some(payload) = Raw::parse(&payload) {
        spelled.put("payload", payload);
    }
    let body = Body::ramus("conversation", Value::Null);
    let spelled = spelled.bytes();
    match Raw::parse(&spelled) {
        Some(data) => body.with_spelled("data", data),
        None => body,
    }
}

/// What will be written.
struct Plan<'p> {
    engine: &'p Engine,
    session: &'p Session,
    payload: &'p Payload,
    before: Option<Conversation>,
    drafts: Vec<Draft>,
    taken: HashSet<String>,
    appended: Vec<EntryId>,
    order: Option<Vec<EntryId>>,
    hidden: Vec<EntryId>,
    leaf: Option<EntryId>,
    /// Where the leaf goes; none when it stays.
    pointer: Option<Parent>,
}

impl<'p> Plan<'p> {
    fn of(engine: &'p Engine, session: &'p Session, payload: &'p Payload) -> Result<Self, EngineError> {
        let before = session.conversation()?;
        let (drafts, taken, appended) = (Vec::new(), HashSet::new(), Vec::new());
        let leaf = session.said_on_path()?.last().map(|said| session.entry_id(said.seq));
        let order = before.as_ref().and_then(|before| before.order.clone());
        let hidden = before.iter().flat_map(|before| before.hidden.iter().cloned()).collect();
        Ok(Self { engine, session, payload, before, drafts, taken, appended, order, hidden, leaf, pointer: None })
    }

    /// Plans what becomes of messages.
    fn messages(&mut self, lists: Option<Lists>) -> Result<(), EngineError> {
        let Some(lists) = lists else { return Ok(()) };
        let said = self.session.said()?;
        let tree = {
            let shown: HashSet<Seq> = said.iter().map(|said| said.seq).collect();
            Tree::without(self.session.log(), |seq| !shown.contains(&seq))
        };
        let at: std::collections::HashMap<Seq, usize> =
            tree.entries.iter().enumerate().map(|(at, node)| (node.seq, at)).collect();
        let entries: Vec<EntryId> = tree.entries.iter().map(|node| self.session.entry_id(node.seq)).collect();
        let nodes = tree.entries.iter().zip(said).map(|(node, said)| Node {
            parent: node.parent.and_then(|parent| at.get(&parent).copied()),
            said: Said { id: said.id, role: said.role, text: said.text, timestamp: None },
        });
        let difference = compare(nodes.collect(), lists);
        let top = self.top(&tree);
        let entries = self.append(&difference, entries, &top);
        let named = |node: &usize| entries.get(*node).cloned();
        self.hidden = difference.hidden.iter().filter_map(named).collect();
        self.order = difference.order.map(|order| order.iter().filter_map(named).collect());
        let leaf = difference.leaf.as_ref().and_then(named);
        if leaf != self.leaf || !self.appended.is_empty() {
            self.pointer = Some(leaf.clone().map_or(top, Parent::Entry));
        }
        self.leaf = leaf;
        Ok(())
    }

    /// Where a message without one before it hangs: what other such messages hang from.
    fn top(&self, tree: &Tree) -> Parent {
        let log = self.session.log();
        let shows = |seq: &Seq| log.record(*seq).is_some_and(Record::is_visible);
        let above = match tree.roots.first() {
            Some(root) => log.ancestors(Some(*root)).skip(1).find(shows),
            None => log.leaf(),
        };
        above.map_or(Parent::Root, |above| Parent::Entry(self.session.entry_id(above)))
    }

    /// Plans the entries of new messages, and returns the entries of all.
    fn append(&mut self, difference: &Difference, mut entries: Vec<EntryId>, top: &Parent) -> Vec<EntryId> {
        for node in difference.nodes.iter().skip(difference.known) {
            let parent = node.parent.and_then(|parent| entries.get(parent)).cloned();
            let parent = parent.map_or_else(|| top.clone(), Parent::Entry);
            let id = self.draft(&node.said, parent);
            self.appended.push(id.clone());
            entries.push(id);
        }
        entries
    }

    fn draft(&mut self, said: &Said, parent: Parent) -> EntryId {
        let say = Say { role: said.role.clone(), text: said.text.clone(), ..Say::default() };
        let mut members = vec![("message", self.engine.text_message(&say, None))];
        let is_free = |id: &str| !self.taken.contains(id) && self.session.log().seq_of(id).is_none();
        let id = match EntryId::from(said.id.as_str()) {
            id if payload::can_be_id(&said.id) && is_free(id.as_str()) => id,
            _ => {
                members.push((CLIENT_ID, said.id.clone().into()));
                new_entry_id(|id| !is_free(id))
            }
        };
        self.taken.insert(id.to_string());
        let body = Body::new("message", members);
        self.drafts.push(Draft {
            id: Some(id.clone()),
            timestamp: said.timestamp.clone(),
            ..Draft::new(body).under(parent)
        });
        id
    }

    fn title(&mut self, title: Option<&str>) {
        if let Some(title) = title.filter(|title| *title != self.session.title()) {
            self.drafts.push(Draft::new(title_body(title)));
        }
    }

    fn finish(mut self, standing: &Standing) -> (Vec<Draft>, Saved) {
        let entry = new_entry_id(|id| self.taken.contains(id) || self.session.log().seq_of(id).is_some());
        let updated = self.updated();
        let created = match &self.before {
            Some(before) if !before.created.is_empty() => before.created.clone(),
            _ => payload::moment(self.payload.members.get("createdAt"))
                .map_or_else(|| self.session_created(), time::format),
        };
        let ids = |ids: &[EntryId]| ids.iter().map(EntryId::to_string).collect::<Vec<_>>();
        let data = json!({
            "payload": {}, "created": created, "updated": updated, "order": self.order.as_deref().map(ids),
            "hidden": ids(&self.hidden), "leaf": self.leaf.as_ref().map(EntryId::as_str),
        });
        let body = holding(&self.payload.spelled, &data);
        self.drafts.push(Draft { id: Some(entry.clone()), ..Draft::new(body) });
        let noted = json!({"entry": entry.as_str(), "updated": updated});
        let mut set = Map::from_iter([(format!("{FREE}{CONVERSATION}"), noted)]);
        if let Some(Workspace { root, mount, session }) = &standing.workspace {
            set.insert("workspace".into(), json!({"root": root, "mount": mount, "session": session}));
        }
        if let Some(GitState { commit, dirty }) = &standing.git {
            set.insert("git".into(), json!({"commit": commit, "dirty": dirty}));
        }
        self.drafts.push(Draft::new(Body::ramus("meta", json!({"set": set}))));
        if let Some(target) = self.pointer.take() {
            let data = json!({"target": self.leaf.as_ref().map(EntryId::as_str)});
            self.drafts.push(Draft::new(Body::ramus("leaf", data)).under(target));
        }
        (self.drafts, Saved { entry, appended: self.appended, hidden: self.hidden.len() })
    }

    fn session_created(&self) -> String {
        self.session.log().header().map(|header| header.timestamp.clone()).unwrap_or_default()
    }

    /// When this was saved: as the client says, if that is later than before, and now otherwise.
    fn updated(&self) -> String {
        let before = self.before.as_ref().and_then(|before| time::parse(&before.updated));
        let said = payload::moment(self.payload.members.get("updatedAt")).filter(|said| Some(*said) > before);
        let now = || before.map_or(self.engine.now(), |before| self.engine.now().max(before + 1));
        time::format(said.unwrap_or_else(now))
    }
}
