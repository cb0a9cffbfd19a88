//! `create`: a new session, which stays a draft until a model has answered in it.

use std::cell::RefCell;

use ramus_model::json::Raw;
use ramus_model::permission::Rule;
use ramus_model::resolve::NAMESPACE;
use ramus_model::{Body, CURRENT_VERSION, EntryId, Header, RamusHeader, SessionId};
use ramus_store::{Hold, NewLog, Residence};
use serde_json::{Map, Value, json};

use crate::engine::{DEFAULT_OWNER, Engine};
use crate::error::EngineError;
use crate::operation::Doing;
use crate::project;
use crate::session::{Session, find, header_of, load};
use crate::sidecar::Found;
use crate::verb::meta::FREE;
use crate::verb::permission::permission_body;

/// What a new session starts with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewSession {
    /// The working directory.
    pub cwd: String,
    /// The title; none for one made from the time.
    pub title: Option<String>,
    /// The model, as `provider/name`.
    pub model: Option<String>,
    /// The session that spawns this one.
    pub parent: Option<SessionId>,
    /// The owner; none for the parent's, or the engine's where there is no parent.
    pub owner: Option<String>,
    /// What its model may do, beside what settings say.
    pub permission: Vec<Rule>,
}

impl Engine {
    /// Makes a session.
    pub fn create(&self, new: NewSession) -> Result<Session, EngineError> {
        self.create_as(new_session_id(), new, Map::new())
    }

    /// Makes a session with an id that its caller chose, and free metadata. Its messages are numbered under a name that no
    /// earlier session of this id had. An id that is taken is a conflict.
    pub fn create_called(
        &self,
        id: &SessionId,
        new: NewSession,
        metadata: Map<String, Value>,
    ) -> Result<Session, EngineError> {
        self.create_chosen(id, new, metadata.into_iter().map(|(key, value)| (format!("{FREE}{key}"), value)).collect())
    }

    /// Makes a session with an id that stands for a name of an order; `order` tells what was ordered from everything else that
    /// could be ordered under that name, and is kept.
    pub fn create_ordered(&self, id: &SessionId, new: NewSession, order: &str) -> Result<Session, EngineError> {
        self.create_chosen(id, new, Map::from_iter([(ORDER.to_owned(), order.into())]))
    }

    fn create_chosen(
        &self,
        id: &SessionId,
        new: NewSession,
        mut set: Map<String, Value>,
    ) -> Result<Session, EngineError> {
        if !is_tame(id) {
            let reason = "an id that is chosen has 1 to 64 letters, digits and dashes";
            return Err(EngineError::Invalid(reason.into()));
        }
        set.insert(NAMESPACE.to_owned(), new_namespace().into());
        // Nobody takes the id between looking and making.
        let _alone = self.store.hold_forks(Hold::Exclusive)?;
        if self.is_taken(id)? {
            return Err(EngineError::Conflict(format!("the id {:?} is taken", id.as_str())));
        }
        self.create_as(id.clone(), new, set)
    }

    /// Says whether an id is taken: by a session, or by what forks of a deleted one read.
    pub fn is_taken(&self, id: &SessionId) -> Result<bool, EngineError> {
        Ok(find(self.store.as_ref(), id)?.is_some() || self.store.find_base(id)?.is_some())
    }

    /// Says whose a new session is; none for the default owner. What works for a session belongs to whoever has that.
    fn owner_of(&self, new: &NewSession) -> Result<Option<String>, EngineError> {
        let parent = match (&new.owner, &new.parent) {
            (None, Some(parent)) => find(self.store.as_ref(), parent)?,
            _ => None,
        };
        let owner = match parent {
            Some(parent) => header_of(self.store.as_ref(), &parent)?.and_then(|header| header.ramus.owner),
            None => new.owner.clone().or_else(|| self.owner.clone()),
        };
        Ok(owner.filter(|owner| owner != DEFAULT_OWNER))
    }

    fn create_as(&self, id: SessionId, new: NewSession, set: Map<String, Value>) -> Result<Session, EngineError> {
        let timestamp = self.timestamp();
        let title = new.title.as_deref().map(check_title).transpose()?;
        let owner = self.owner_of(&new)?;
        let header = Header {
            id: id.clone(),
            version: CURRENT_VERSION,
            timestamp: timestamp.clone(),
            cwd: new.cwd.clone(),
            title: title.clone(),
            parent_session: new.parent.as_ref().map(ToString::to_string),
            ramus: RamusHeader {
                parent: new.parent,
                owner,
                engine: Some(engine_version()),
                project: project::find(&new.cwd),
                ..RamusHeader::default()
            },
            synthetic: false,
        };
        let mut bytes = header.to_line();
        let mut last: Option<EntryId> = None;
        let bodies = title.map(|title| title_body(&title)).into_iter().chain(match new.model {
            Some(model) => Some(model_body(&model)?),
            None => None,
        });
        let meta = (!set.is_empty()).then(|| Body::ramus("meta", json!({"set": set})));
        let bodies = bodies.chain(permission_body(&new.permission)).chain(meta);
        let mut doing = Doing::called("create", self, id.as_str());
        for body in bodies.map(|body| doing.mark(body)) {
            let entry = new_entry_id(|id| last.as_ref().is_some_and(|last| last.as_str() == id));
            bytes.extend(body.to_line(&entry, last.as_ref(), &timestamp));
            last = Some(entry);
        }
        let location = self.store.create(&NewLog::draft(id.clone(), &new.cwd, &timestamp), &bytes)?;
        self.bus.wrote(&id, 0);
        load(&self.store, location, ramus_model::Depth::Envelope)
    }
}

impl Engine {
    /// A header for a file whose own could not be read: the one its sidecar remembers, or a new one. In our home a file is
    /// found by the id in its name, so that one is kept.
    pub(crate) fn create_header_for(&self, session: &Session) -> Header {
        let remembered = Found::read(self.store.as_ref(), session.location());
        let remembered = remembered.and_then(|found| Header::read(Raw::parse(found.checkpoint.header().as_bytes())?));
        if let Some(header) = remembered.filter(|header| header.ramus.forked_from.is_none()) {
            return header;
        }
        Header {
            id: if session.residence() == Residence::InPlace {
                new_session_id()
            } else {
                session.location().id.clone()
            },
            timestamp: self.timestamp(),
            cwd: session.cwd().to_owned(),
            ramus: RamusHeader { engine: Some(engine_version()), ..RamusHeader::default() },
            synthetic: false,
            ..Header::synthetic("")
        }
    }
}

/// The version that is stamped into what this engine makes.
pub(crate) fn engine_version() -> String {
    format!("ramus {}", env!("CARGO_PKG_VERSION"))
}

/// Says whether an id can be part of a name in the file system as it is.
pub(crate) fn is_tame(id: &SessionId) -> bool {
    let id = id.as_str();
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// What the messages of a session are numbered under whose id another one may have had.
fn new_namespace() -> String {
    format!("ramus-{}", new_entry_id(|_| false))
}

/// An entry that says so, and what the session was ordered with.
pub(crate) fn chosen_body(order: &str) -> Body {
    Body::ramus("meta", json!({"set": {NAMESPACE: new_namespace(), ORDER: order}}))
}

impl Session {
    /// Returns what tells the order that the session was made with from others, when its id stands for the name of one.
    pub fn order(&self) -> Option<&str> {
        self.log().facts().meta().get(ORDER).and_then(Value::as_str)
    }
}

pub(crate) fn new_session_id() -> SessionId {
    SessionId::new(uuid::Uuid::now_v7().to_string())
}

/// Draws an entry id of eight hex digits that is not `taken`; longer when that keeps failing.
pub(crate) fn new_entry_id(taken: impl Fn(&str) -> bool) -> EntryId {
    for _ in 0..100 {
        let id = hex::encode(random_bytes());
        if !taken(&id) {
            return EntryId::new(id);
        }
    }
    EntryId::new(uuid::Uuid::new_v4().simple().to_string())
}

/// Draws four random bytes. The system is asked for sixteen at a time: asking costs more than all the rest of an id.
fn random_bytes() -> [u8; 4] {
    thread_local!(static SPARE: RefCell<Vec<[u8; 4]>> = const { RefCell::new(Vec::new()) });
    SPARE.with_borrow_mut(|spare| {
        spare.pop().unwrap_or_else(|| {
            // Of a random UUID bytes 6 and 8 are not all random.
            let [a, b, c, d, e, f, _, g, _, h, i, j, k, l, ..] = uuid::Uuid::new_v4().into_bytes();
            spare.extend([[a, b, c, d], [e, f, g, h]]);
            [i, j, k, l]
        })
    })
}

/// The key of the metadata that says what a session was ordered with.
const ORDER: &str = "order";

/// The longest title; it stands in the header, which is read whenever sessions are looked for.
const MAX_TITLE: usize = 4096;

/// Cleans a title and refuses an empty one.
pub(crate) fn check_title(title: &str) -> Result<String, EngineError> {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err(EngineError::Invalid("a title cannot be empty".into()));
    }
    if title.len() > MAX_TITLE {
        return Err(EngineError::Invalid(format!("a title can have at most {MAX_TITLE} bytes, not {}", title.len())));
    }
    Ok(title)
}

/// A title as pi reads it.
pub(crate) fn title_body(title: &str) -> Body {
    Body::new("session_info", [("name", Value::from(title))])
}

/// A change of the default model in both dialects: `model` for omp, `provider` and `modelId` for pi.
pub(crate) fn model_body(model: &str) -> Result<Body, EngineError> {
    let (provider, name) = split_model(model)?;
    Ok(Body::new(
        "model_change",
        [
            ("provider", Value::from(provider)),
            ("modelId", Value::from(name)),
            ("model", Value::from(model)),
            ("role", Value::from("default")),
        ],
    ))
}

/// Splits `provider/name`.
pub(crate) fn split_model(model: &str) -> Result<(&str, &str), EngineError> {
    match model.split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok((provider, name)),
        _ => Err(EngineError::Invalid(format!("a model is named PROVIDER/NAME, not {model:?}"))),
    }
}
