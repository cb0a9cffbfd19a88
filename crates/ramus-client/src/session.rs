//! What can be done with one session.

use reqwest::Method;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::client::Client;
use crate::error::Error;
use crate::events::Events;
use crate::request::Request;
use crate::shape::{Appended, Order, SessionInfo, Written};
use crate::turn::Turn;

/// A session of a server, by its id.
#[derive(Clone, Debug)]
pub struct Session<'c> {
    pub(crate) client: &'c Client,
    pub(crate) id: String,
}

impl<'c> Session<'c> {
    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Asks a route of the session: `ask(Method::POST, &["undo"])`.
    pub fn ask(&self, method: Method, parts: &[&str]) -> Request<'c> {
        let parts: Vec<&str> = ["sessions", &self.id].into_iter().chain(parts.iter().copied()).collect();
        Request::new(self.client, method, &parts)
    }

    /// Describes it. The position of the answer is what a write can expect.
    pub async fn info(&self) -> Result<SessionInfo, Error> {
        #[derive(serde::Deserialize)]
        struct Described {
            session: SessionInfo,
        }
        self.ask(Method::GET, &[]).answer().await?.read().map(|Described { session }| session)
    }

    /// Appends entries, all or none, and returns when they are durable. `key` has them written once, however often they are
    /// sent; `expected` has them written only when the log has so many entries.
    pub async fn append(&self, entries: &[Value], key: Option<&str>, expected: Option<u64>) -> Result<Appended, Error> {
        let request = self.ask(Method::POST, &["entries"]).json(&json!({"entries": entries})).expecting(expected);
        let request = if let Some(key) = key { request.once(key) } else { request };
        request.answer().await?.read()
    }

    /// Appends one text message.
    pub async fn say(&self, role: &str, text: &str) -> Result<Written, Error> {
        self.ask(Method::POST, &["messages"]).json(&json!({"role": role, "text": text})).answer().await?.read()
    }

    /// Reads messages from the root to the leaf, or to the entry that is named.
    pub async fn messages(&self, entry: Option<&str>, cursor: Option<&str>) -> Result<Answer, Error> {
        self.ask(Method::GET, &["messages"]).maybe("entry", entry).maybe("cursor", cursor).answer().await
    }

    /// Shows what a model would be sent.
    pub async fn context(&self, entry: Option<&str>) -> Result<Answer, Error> {
        self.ask(Method::GET, &["context"]).maybe("entry", entry).answer().await
    }

    /// Shows the tree.
    pub async fn tree(&self) -> Result<Answer, Error> {
        self.ask(Method::GET, &["tree"]).answer().await
    }

    /// Lists the files of a snapshot: the start of its id, its entry, or its label.
    pub async fn snapshot(&self, name: &str) -> Result<Answer, Error> {
        self.ask(Method::GET, &["snapshots", name]).answer().await
    }

    /// Goes on from another entry; none: the next entry becomes a root.
    pub async fn branch(&self, entry: Option<&str>) -> Result<Answer, Error> {
        self.ask(Method::POST, &["branch"]).json(&json!({"entry": entry})).answer().await
    }

    /// Starts a new session from an entry of this one, and returns its id.
    pub async fn fork(&self, entry: Option<&str>, title: Option<&str>) -> Result<String, Error> {
        #[derive(serde::Deserialize)]
        struct Forked {
            session: crate::shape::Made,
        }
        let body = json!({"entry": entry, "title": title});
        self.ask(Method::POST, &["fork"]).json(&body).answer().await?.read().map(|Forked { session }| session.id)
    }

    /// Names an entry, or takes its name away.
    pub async fn label(&self, entry: &str, name: Option<&str>) -> Result<Written, Error> {
        self.ask(Method::POST, &["label"]).json(&json!({"entry": entry, "name": name})).answer().await?.read()
    }

    /// Changes what is known about it: `title`, `model`, `cwd`, `tags`, `starred`, `metadata`.
    pub async fn change(&self, change: &Value) -> Result<Answer, Error> {
        self.ask(Method::PATCH, &[]).json(change).answer().await
    }

    /// Takes back what was done last.
    pub async fn undo(&self) -> Result<Answer, Error> {
        self.ask(Method::POST, &["undo"]).answer().await
    }

    /// Removes it for good, or only says what would be removed.
    pub async fn delete(&self, dry_run: bool) -> Result<Answer, Error> {
        self.ask(Method::DELETE, &[]).flag("dry_run", dry_run).answer().await
    }

    /// Writes it as a bundle that loses nothing, and hands that on as it comes.
    pub async fn export(&self, take: &mut (dyn FnMut(&[u8]) -> std::io::Result<()> + Send)) -> Result<(), Error> {
        self.ask(Method::GET, &["export"]).query("to", "json").pieces(take).await
    }

    /// Starts a turn and watches it. The turn goes on whoever watches.
    pub async fn run(&self, order: &Order) -> Result<Turn, Error> {
        Turn::start(self, order).await
    }

    /// Watches it from now on, or from behind the event with this id.
    pub fn events(&self, after: Option<String>) -> Events {
        Events::new(self.client, &["sessions", &self.id, "events"], after)
    }

    /// Watches it from behind a position of its log as it is now.
    pub fn events_behind(&self, position: u64) -> Events {
        self.events(None).behind(position)
    }
}
