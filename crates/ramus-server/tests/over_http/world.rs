//! A server over a home in a temporary directory, with a model that follows a script.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ramus_catalogue::History;
use ramus_engine::run::{Asker, Delegate, Inbox, Run, Task};
use ramus_engine::settings::Settings;
use ramus_engine::{Engine, Retention, Session};
use ramus_model::permission::{Action, Layer, Permissions, Rule};
use ramus_model::request::ToolDefinition;
use ramus_model::usage::{ModelName, Prices};
use ramus_provider::{Deltas, Facts, Provider, Resolved, Scripted};
use ramus_redact::Redactor;
use ramus_server::{
    Access, Address, ApiError, Config, Equipped, Home, Limits, Line, Log, ModelQuery, Order, Role, Server, Stop, Token,
    Workshop,
};
use ramus_store::{JsonlStore, Layout};
use ramus_tools::tool::artifact::Gallery;
use ramus_tools::tool::deploy::Deploying;
use ramus_tools::tool::slides::Presenting;
use ramus_wire::model::Listed;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::runtime::{Handle, Runtime};

use crate::http::{Request, Response};

/// A server, and a home that outlives it.
pub(crate) struct World {
    pub(crate) home: TempDir,
    /// Where sessions of clients work.
    pub(crate) workspaces: TempDir,
    pub(crate) token: String,
    pub(crate) other: String,
    /// May only look at what the user of the home has.
    pub(crate) viewer: String,
    /// May have turns run there.
    pub(crate) prompter: String,
    /// Could do everything there once.
    pub(crate) expired: String,
    /// Who may come in.
    pub(crate) access: Option<Access>,
    pub(crate) address: SocketAddr,
    pub(crate) lines: Arc<Mutex<Vec<String>>>,
    stop: Stop,
    runtime: Option<Runtime>,
    task: Option<tokio::task::JoinHandle<()>>,
    script: String,
    limits: Limits,
    /// Names that it answers under too.
    hosts: Vec<String>,
    /// Whether turns may do everything.
    allows: Arc<AtomicBool>,
}

/// Follows a script in every turn.
struct Bench {
    engine: Engine,
    script: String,
    allows: Arc<AtomicBool>,
}

/// Follows a script, and never comes up with a title.
#[derive(Debug)]
struct Pondering(Scripted);

impl Provider for Pondering {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn api(&self) -> &'static str {
        self.0.api()
    }

    fn stream(&self, request: ramus_model::request::Request) -> Deltas {
        self.0.stream(request)
    }

    fn title(&self, _: ramus_model::request::Request) -> Option<Deltas> {
        Some(Box::pin(futures_util::stream::pending()))
    }
}

/// The agent whose sessions wait for their titles.
pub(crate) const PONDERING: &str = "pondering";

impl Workshop for Bench {
    fn equip(
        &self,
        session: &mut Session,
        order: &Order,
        asker: Option<Arc<dyn Asker>>,
        inbox: &Inbox,
        _: &Handle,
    ) -> Result<Equipped, ApiError> {
        let script = Scripted::new(&self.script, "a test").map_err(|error| ApiError::usage(error.to_string()))?;
        let model = ModelName { provider: "scripted".into(), model: "script".into() };
        let titles = order.agent.as_deref() == Some(PONDERING);
        let provider: Arc<dyn Provider> = if titles { Arc::new(Pondering(script)) } else { Arc::new(script) };
        let mut run = Run::new(Resolved { provider, model });
        if matches!(order.model.as_deref(), Some("none/none" | "none/late")) {
            return Err(ApiError::usage("no model is chosen"));
        }
        run.permissions = Permissions::default();
        if self.allows.load(Ordering::Relaxed) {
            let rule = Rule::new("*", "*", Action::Allow);
            run.permissions = Permissions::default().with(Layer::User, [rule]);
        }
        run.snapshots = false;
        let workspace = ramus_tools::Workspace::open(Path::new(session.cwd()), &[])
            .map_err(|error| ApiError::invalid(error.to_string()))?;
        let workspace = Arc::new(workspace);
        let tools = ramus_tools::tools(&workspace, ramus_tools::tool::bash::Settings::default());
        run.tools = tools.into_iter().map(Arc::from).collect();
        let gallery = Gallery { workspace, session: session.id().to_string() };
        run.tools.push(Arc::new(Deploying { gallery: gallery.clone() }));
        run.tools.push(Arc::new(Presenting { gallery }));
        if let Some(asker) = asker {
            run.asker = asker;
        }
        if order.agent.as_deref() == Some(LEADING) {
            let delegate = Delegate { name: "helper".into(), ..Delegate::default() };
            run.tools.push(Arc::new(Task::new(&self.engine, session, &run, inbox, vec![delegate])));
        }
        Ok(Equipped { engine: self.engine.clone(), run, titles, kept: Box::new(()) })
    }

    fn check(&self, _: &Session, order: &Order) -> Result<(), ApiError> {
        match order.model.as_deref() {
            Some("none/none") => Err(ApiError::usage("no model is chosen")),
            _ => Ok(()),
        }
    }

    fn counting(&self, _: &Session) -> Result<Engine, ApiError> {
        Ok(self.engine.clone())
    }

    fn redactor(&self) -> Redactor {
        Redactor::new()
    }

    fn retention(&self) -> Result<Retention, ApiError> {
        Ok(Retention::of(&Settings::defaults()?)?)
    }

    fn places(&self) -> Result<Vec<ramus_interchange::place::Root>, ApiError> {
        Ok(Vec::new())
    }

    fn tools(&self, session: &Session, order: &Order, _: &Handle) -> Result<Vec<ToolDefinition>, ApiError> {
        let name = order.agent.clone().unwrap_or_else(|| "nobody".into());
        Ok(vec![ToolDefinition { name, description: session.cwd().into(), parameters: json!({}) }])
    }

    fn models(&self, query: &ModelQuery, directory: &str) -> Result<Map<String, Value>, ApiError> {
        // What was asked comes back as what a model is called.
        let model = ModelName { provider: query.provider.clone().unwrap_or_default(), model: directory.into() };
        let listed = Listed { model, facts: Facts::default(), price: None, obstacle: None };
        Ok(ramus_wire::model::list(&[listed], "2026-01-01"))
    }

    fn settings(&self, _: &str) -> Result<Settings, ApiError> {
        Ok(Settings::defaults()?)
    }
}

/// The agent who can give work to another, called `helper`.
pub(crate) const LEADING: &str = "leading";

/// How many lines of the log are kept: in long runs nobody reads them.
const MOST_LINES: usize = 10_000;

/// An answer of two words.
pub(crate) const TWO_WORDS: &str = "answers = [{ steps = [{ text = [\"two \", \"words\"] }] }]";

pub(crate) fn engine(home: &Path) -> Engine {
    let store = JsonlStore::new(home, Layout::Pi);
    Engine::new(Arc::new(store), "server")
        .with_catalogue(home)
        .with_history(Arc::new(History::at(home)))
        .with_approvals(home)
        .with_snapshots(home)
        .with_shares(home)
        .with_foreign(home)
}

impl World {
    pub(crate) fn start() -> Self {
        Self::with(TWO_WORDS, Limits::default())
    }

    /// Starts a server that answers under these names too.
    pub(crate) fn under(hosts: &[&str]) -> Self {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        Self::made(TWO_WORDS, Limits::default(), hosts)
    }

    pub(crate) fn with(script: &str, limits: Limits) -> Self {
        Self::made(script, limits, Vec::new())
    }

    fn made(script: &str, limits: Limits, hosts: Vec<String>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (token, other) = (Token::random().reveal().to_owned(), Token::random().reveal().to_owned());
        let lines = Arc::default();
        let mut world = Self {
            home,
            workspaces: tempfile::tempdir().unwrap(),
            token,
            other,
            viewer: Token::random().reveal().to_owned(),
            prompter: Token::random().reveal().to_owned(),
            expired: Token::random().reveal().to_owned(),
            access: None,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            lines,
            stop: Stop::default(),
            runtime: None,
            task: None,
            script: script.into(),
            limits,
            hosts,
            allows: Arc::default(),
        };
        world.serve();
        world
    }

    fn serve(&mut self) {
        let engine = engine(self.home.path());
        let (ours, theirs) = (Token::new(&*self.token).unwrap(), Token::new(&*self.other).unwrap());
        let (viewer, prompter) = (Token::new(&*self.viewer).unwrap(), Token::new(&*self.prompter).unwrap());
        let expired = Token::new(&*self.expired).unwrap();
        let access = Access::new("default", &ours)
            .with("bob", &theirs, Role::Admin)
            .with("default", &viewer, Role::View)
            .with("default", &prompter, Role::Prompt)
            .with("default", &expired, Role::Admin)
            .until(1);
        self.access = Some(access.clone());
        let lines = Arc::clone(&self.lines);
        let home = Home {
            engine: engine.clone(),
            durability: ramus_engine::Durability::Full,
            prices: Prices::default(),
            directory: self.home.path().display().to_string(),
            access,
            workshop: Arc::new(Bench { engine, script: self.script.clone(), allows: Arc::clone(&self.allows) }),
            log: Log::new(move |line: &Line| {
                let mut lines = lines.lock().unwrap();
                if lines.len() < MOST_LINES {
                    lines.push(line.to_json().to_string());
                }
            }),
        };
        let config = Config {
            limits: self.limits,
            hosts: self.hosts.clone(),
            log_requests: true,
            workspaces: Some(self.workspaces.path().to_owned()),
            ..Config::default()
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::bind(config, home)).unwrap();
        let Address::Tcp(address) = server.address() else { panic!("not an address") };
        self.address = *address;
        self.stop = server.stopper();
        self.task = Some(runtime.spawn(server.run()));
        self.runtime = Some(runtime);
    }

    /// Lets turns do everything without asking.
    pub(crate) fn allow_everything(&self) {
        self.allows.store(true, Ordering::Relaxed);
    }

    /// Returns what the logs of a home hold, as text.
    pub(crate) fn logs(home: &Path) -> Vec<String> {
        let (mut logs, mut open) = (Vec::new(), vec![home.to_owned()]);
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                    logs.push(String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned());
                }
            }
        }
        logs
    }

    /// Ends the server and starts another one on the same home.
    pub(crate) fn restart(&mut self) {
        self.end();
        self.serve();
    }

    pub(crate) fn end(&mut self) {
        self.stop.stop();
        if let (Some(runtime), Some(task)) = (&self.runtime, self.task.take()) {
            runtime.block_on(async { tokio::time::timeout(crate::http::PATIENCE, task).await.unwrap().unwrap() });
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// How many tasks the server has, all connections among them.
    pub(crate) fn tasks(&self) -> usize {
        self.runtime.as_ref().map_or(0, |runtime| runtime.metrics().num_alive_tasks())
    }

    pub(crate) fn request(&self, method: &str, target: &str) -> Request {
        Request::new(method, target).header("authorization", &format!("Bearer {}", self.token))
    }

    pub(crate) fn as_bob(&self, method: &str, target: &str) -> Request {
        Request::new(method, target).header("authorization", &format!("Bearer {}", self.other))
    }

    /// Asks as somebody who may have turns run and no more.
    pub(crate) fn as_prompter(&self, method: &str, target: &str) -> Request {
        Request::new(method, target).header("authorization", &format!("Bearer {}", self.prompter))
    }

    pub(crate) fn get(&self, target: &str) -> Response {
        self.request("GET", target).send(self.address)
    }

    pub(crate) fn post(&self, target: &str, body: &Value) -> Response {
        self.request("POST", target).json(body).send(self.address)
    }

    pub(crate) fn put(&self, target: &str, body: &Value) -> Response {
        self.request("PUT", target).json(body).send(self.address)
    }

    pub(crate) fn delete(&self, target: &str) -> Response {
        self.request("DELETE", target).send(self.address)
    }

    /// Asks for something that must work.
    pub(crate) fn read(&self, target: &str) -> Value {
        let response = self.get(target);
        assert_eq!(response.status, 200, "{target}: {}", String::from_utf8_lossy(&response.body));
        response.json()
    }

    /// Makes a session and returns its id.
    pub(crate) fn session(&self) -> String {
        let made = self.post("/api/v1/sessions", &json!({"title": "a session"}));
        assert_eq!(made.status, 201, "{}", String::from_utf8_lossy(&made.body));
        made.json()["session"]["id"].as_str().unwrap().to_owned()
    }

    /// Appends messages to a session and returns their positions.
    pub(crate) fn append(&self, session: &str, texts: &[&str]) -> Vec<u64> {
        let entries: Vec<Value> = texts.iter().map(|text| message(text)).collect();
        let answer = self.post(&format!("/api/v1/sessions/{session}/entries"), &json!({"entries": entries}));
        assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
        answer.json()["entries"].as_array().unwrap().iter().map(|entry| entry["seq"].as_u64().unwrap()).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A message of a person.
pub(crate) fn message(text: &str) -> Value {
    json!({"type": "message", "message": {"role": "user", "content": text}})
}

/// What a tool said. It comes along with its event.
pub(crate) fn result(bytes: usize) -> Value {
    json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "c", "toolName": "t",
        "content": [{"type": "text", "text": "x".repeat(bytes)}], "isError": false}})
}
