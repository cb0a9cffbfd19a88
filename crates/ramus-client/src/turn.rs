//! A turn that runs at the server: what happens, what it asks, and talking to it.

use std::collections::{HashMap, VecDeque};

use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::client::Client;
use crate::error::Error;
use crate::events::{Event, Events, Lines, lines, position_in, read};
use crate::request::Request;
use crate::session::Session;
use crate::shape::{Order, WhenBusy};

/// A turn. It goes on when this is dropped.
pub struct Turn {
    client: Client,
    session: String,
    run: String,
    state: State,
    last: Option<String>,
    end: Option<Event>,
    /// What it asked while nobody was connected.
    asked: VecDeque<Event>,
    /// What was asked last about a call: that is what an answer is about.
    questions: HashMap<String, String>,
}

enum State {
    /// The connection that started it.
    Started(Lines),
    /// That one was lost; the events of the session are read on.
    Resumed(Events),
    /// It was over when it was looked at again: what is stored up to here is told first.
    Over(Events, u64, Event),
    Ended,
}

impl Turn {
    pub(crate) async fn start(session: &Session<'_>, order: &Order) -> Result<Self, Error> {
        let client = session.client.clone();
        let response = session.ask(Method::POST, &["runs"]).json(order).send("text/event-stream").await?;
        let mut lines = lines(response);
        let server = client.name.clone();
        let silent = || Error::Broken { server, reason: "it did not say which turn it started".into() };
        let first = read(&mut lines).await.ok_or_else(silent)?;
        let run = first.text("run").to_owned();
        let session = session.id.clone();
        Ok(Self {
            client,
            session,
            run,
            state: State::Started(lines),
            last: None,
            end: None,
            asked: VecDeque::new(),
            questions: HashMap::new(),
        })
    }

    /// Returns the name of the turn.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Returns the event that ended it: `run.ended`.
    pub fn end(&self) -> Option<&Event> {
        self.end.as_ref()
    }

    /// Returns what happens next; none when the turn is over. A connection that is lost is made again.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if let Some(asked) = self.asked.pop_front() {
                self.remember(&asked);
                return Ok(Some(asked));
            }
            let event = match &mut self.state {
                State::Ended => return Ok(None),
                State::Started(lines) => match read(lines).await {
                    Some(event) if matches!(event.name.as_str(), "dropped" | "closing") => None,
                    event => event,
                },
                State::Resumed(events) => Some(events.next().await?),
                State::Over(events, position, end) => {
                    let seen = events.last().and_then(position_in).unwrap_or_default();
                    if seen >= *position { Some(end.clone()) } else { Some(events.next().await?) }
                }
            };
            let Some(event) = event else {
                self.come_back().await?;
                continue;
            };
            if let Some(id) = &event.id {
                self.last = Some(id.clone());
            }
            match event.name.as_str() {
                "heartbeat" | "open" => {}
                "run.ended" if event.text("run") == self.run => {
                    self.end = Some(event);
                    self.state = State::Ended;
                }
                "run.ended" => {}
                _ => {
                    self.remember(&event);
                    return Ok(Some(event));
                }
            }
        }
    }

    /// Remembers what was asked about a call. Older servers give their questions no names.
    fn remember(&mut self, event: &Event) {
        if event.name == "permission.asked" && !event.text("question").is_empty() {
            self.questions.insert(event.text("call").to_owned(), event.text("question").to_owned());
        }
    }

    /// Goes on behind the last event, or with the end, if the turn is over by now.
    async fn come_back(&mut self) -> Result<(), Error> {
        let session = self.client.session(&self.session);
        let mut events = session.events(self.last.clone());
        // Watching comes before looking: an end in between is told.
        events.open().await?;
        let run = self.ask(Method::GET, &[]).answer().await?;
        if run.get("status").and_then(Value::as_str) == Some("running") {
            // Questions are not stored: whoever was away is not told of them again.
            let asked = run.get("asked").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
            let asked = asked.map(|data| Event { id: None, name: "permission.asked".into(), data: data.clone() });
            self.asked = asked.collect();
            self.state = State::Resumed(events);
            return Ok(());
        }
        let position = session.ask(Method::GET, &[]).answer().await?.position().unwrap_or_default();
        let end = Event { id: None, name: "run.ended".into(), data: run.into_members() };
        self.state = State::Over(events, position, end);
        Ok(())
    }

    /// Returns what can be said to this turn while it is watched elsewhere.
    pub fn handle(&self) -> Handle {
        Handle { client: self.client.clone(), session: self.session.clone(), run: self.run.clone() }
    }

    /// Says something to the model while it works.
    pub async fn say(&self, text: &str, when: WhenBusy) -> Result<(), Error> {
        self.handle().say(text, when).await
    }

    /// Stops the turn. What it has done stays.
    pub async fn cancel(&self) -> Result<(), Error> {
        self.handle().cancel().await
    }

    /// Allows what a call asks for, this time.
    pub async fn allow(&self, call: &str) -> Result<(), Error> {
        self.reply(call, Map::from_iter([("answer".to_owned(), "once".into())])).await
    }

    /// Refuses what a call asks for; the model is told why.
    pub async fn deny(&self, call: &str, reason: Option<&str>) -> Result<(), Error> {
        self.reply(call, Map::from_iter([("answer".to_owned(), "deny".into()), ("reason".to_owned(), reason.into())]))
            .await
    }

    /// Answers what was asked last about a call, and nothing that is asked about it since.
    async fn reply(&self, call: &str, mut reply: Map<String, Value>) -> Result<(), Error> {
        if let Some(question) = self.questions.get(call) {
            reply.insert("question".to_owned(), question.as_str().into());
        }
        self.handle().answer(call, &reply.into()).await.map(drop)
    }

    fn ask(&self, method: Method, parts: &[&str]) -> Request<'_> {
        let parts: Vec<&str> =
            ["sessions", &self.session, "runs", &self.run].into_iter().chain(parts.iter().copied()).collect();
        Request::new(&self.client, method, &parts)
    }
}

/// What can be said to a turn, by whoever holds this.
#[derive(Clone, Debug)]
pub struct Handle {
    client: Client,
    session: String,
    run: String,
}

impl Handle {
    /// Says something to the model while it works.
    pub async fn say(&self, text: &str, when: WhenBusy) -> Result<(), Error> {
        self.ask(&["messages"]).json(&json!({"text": text, "when": when})).answer().await.map(drop)
    }

    /// Stops the turn. What it has done stays.
    pub async fn cancel(&self) -> Result<(), Error> {
        self.ask(&["cancel"]).answer().await.map(drop)
    }

    /// Answers what a call asks for: `{"answer": "once"}`, `session`, `project` or `deny`, with `pattern` or `reason`,
    /// and with the `question` that is meant.
    pub async fn answer(&self, call: &str, reply: &Value) -> Result<Answer, Error> {
        self.ask(&["permissions", call]).json(reply).answer().await
    }

    fn ask(&self, parts: &[&str]) -> Request<'_> {
        let parts: Vec<&str> =
            ["sessions", &self.session, "runs", &self.run].into_iter().chain(parts.iter().copied()).collect();
        Request::new(&self.client, Method::POST, &parts)
    }
}
