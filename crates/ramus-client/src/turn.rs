//! A turn that runs at the server: what happens, what it asks, and talking to it.

use std::collections::{HashMap, VecDeque};

use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::client::Client;
use crate::error::Error;
use crate::events::{ATTEMPTS, Event, Events, Lines, is_passing, lines, pause, position_in, read};
use crate::request::Request;
use crate::session::Session;
use crate::shape::{Order, WhenBusy};

/// A turn. It goes on when this is dropped.
pub struct Turn {
    client: Client,
    session: String,
    /// What was ordered, and what makes it the same when it is ordered again.
    order: Order,
    key: String,
    run: String,
    state: State,
    last: Option<String>,
    end: Option<Event>,
    /// What it asked while nobody was connected.
    asked: VecDeque<Event>,
    /// What was asked last about a call: that is what an answer is about.
    questions: HashMap<String, String>,
    /// How often in a row the connection was lost.
    failures: u32,
    /// Whether the server is another one since.
    is_restarted: bool,
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
        let (client, id) = (session.client.clone(), session.id.clone());
        let key = uuid::Uuid::new_v4().simple().to_string();
        let (first, lines) = ordered(session, order, &key).await?;
        Ok(Self {
            client,
            session: id,
            order: order.clone(),
            key,
            run: first.text("run").to_owned(),
            state: State::Started(lines),
            last: None,
            end: None,
            asked: VecDeque::new(),
            questions: HashMap::new(),
            failures: 0,
            is_restarted: false,
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

    /// Says whether the server was started anew while the turn ran, which ends turns.
    pub fn is_restarted(&self) -> bool {
        self.is_restarted
    }

    /// Returns what happens next; none when the turn is over. A connection that is lost is made again, a few times, also to a
    /// server that is away for a moment.
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
                State::Resumed(events) => events.of_connection().await?,
                State::Over(events, position, end) => {
                    let seen = events.last().and_then(position_in).unwrap_or_default();
                    if seen >= *position { Some(end.clone()) } else { Some(events.next().await?) }
                }
            };
            let Some(event) = event else {
                self.come_back().await?;
                continue;
            };
            // A connection that only opens has told nothing yet.
            if event.name != "open" {
                self.failures = 0;
            }
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

    /// Goes on where the connection was lost, as soon as the server is there.
    async fn come_back(&mut self) -> Result<(), Error> {
        loop {
            if self.failures > 0 {
                tokio::time::sleep(pause(self.failures)).await;
            }
            self.failures += 1;
            match self.look_again().await {
                Err(error) if is_passing(&error) && self.failures <= ATTEMPTS => {}
                Ok(()) if self.failures > ATTEMPTS => {
                    let reason = "it ends again and again".to_owned();
                    return Err(Error::Broken { server: self.client.name.clone(), reason });
                }
                done => return done,
            }
        }
    }

    /// Goes on behind the last event, or with the end, if the turn is over by now.
    async fn look_again(&mut self) -> Result<(), Error> {
        let client = self.client.clone();
        let session = client.session(&self.session);
        let mut events = session.events(self.last.clone());
        // Watching comes before looking: an end in between is told.
        events.open().await?;
        let run = match self.ask(Method::GET, &[]).answer().await {
            Ok(run) => run.into_members(),
            // A server that was started since knows turns by their keys, and what became of them from the log.
            Err(error) if error.status() == Some(404) => {
                self.is_restarted = true;
                // Words for another turn may have been heard: they are not said again.
                if self.order.when_busy != WhenBusy::Reject {
                    return Err(Error::Restarted { server: self.client.name.clone() });
                }
                let (first, lines) = ordered(&session, &self.order, &self.key).await?;
                first.text("run").clone_into(&mut self.run);
                if first.text("status") == "running" {
                    self.state = State::Started(lines);
                    return Ok(());
                }
                first.data
            }
            Err(error) => return Err(error),
        };
        if run.get("status").and_then(Value::as_str) == Some("running") {
            // Questions are not stored: whoever was away is not told of them again.
            let asked = run.get("asked").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
            let asked = asked.map(|data| Event { id: None, name: "permission.asked".into(), data: data.clone() });
            self.asked = asked.collect();
            self.state = State::Resumed(events);
            return Ok(());
        }
        let position = session.ask(Method::GET, &[]).answer().await?.position().unwrap_or_default();
        let end = Event { id: None, name: "run.ended".into(), data: run };
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

/// Orders a turn; returns what the server says of it first, and what follows.
async fn ordered(session: &Session<'_>, order: &Order, key: &str) -> Result<(Event, Lines), Error> {
    let server = session.client.name.clone();
    let response = session.ask(Method::POST, &["runs"]).json(order).once(key).send("text/event-stream").await?;
    let mut lines = lines(response);
    let silent = || Error::Broken { server, reason: "it did not say which turn it started".into() };
    let first = read(&mut lines).await.ok_or_else(silent)?;
    Ok((first, lines))
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
