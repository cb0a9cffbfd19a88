//! A project, a home, a session, and an agent that does what a test says: writes and removes files in calls of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_agent::Event;
use ramus_engine::run::{Run, TurnResult, inbox};
use ramus_engine::{
    Durability, Engine, NewSession, RestoreOptions, RestoreReport, RevertReport, Session, SnapshotEntry,
};
use ramus_model::request::ToolDefinition;
use ramus_model::usage::ModelName;
use ramus_model::{EntryId, Role, Seq};
use ramus_provider::{Resolved, Scripted};
use ramus_store::{JsonlStore, Layout};
use ramus_tools::{Effect, Outcome, Plan, Reach, Refusal, Tool};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A tool that writes what it is told, removes what has no text, changes modes (`~chmod PATH`, behind all else), and looks when it is
/// told nothing. When it is told which of that is its own, a person does the rest at the same moment.
pub(crate) struct Hand {
    root: PathBuf,
}

impl Tool for Hand {
    fn definition(&self) -> ToolDefinition {
        let parameters = json!({"type": "object"});
        ToolDefinition { name: "hand".into(), description: "Changes files.".into(), parameters }
    }

    fn plan(&self, arguments: &Value) -> Result<Plan, Refusal> {
        let (root, files) = (self.root.clone(), arguments.get("files").cloned());
        let effect = if files.is_some() { Effect::Changes } else { Effect::Looks };
        let own = arguments.get("own").and_then(Value::as_array);
        let own = own.map(|own| Reach::of(own.iter().filter_map(Value::as_str).map(|path| self.root.join(path))));
        let plan = Plan::blocking(Vec::new(), effect, move |_| {
            for (path, text) in files.as_ref().and_then(Value::as_object).into_iter().flatten() {
                match path.strip_prefix("~chmod ") {
                    Some(path) => set_mode(&root.join(path), text.as_str().unwrap()),
                    None => put(&root, path, text.as_str()),
                }
            }
            Outcome::text("done")
        });
        Ok(match own {
            Some(own) => plan.within(own),
            None => plan,
        })
    }
}

fn set_mode(path: &Path, mode: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(u32::from_str_radix(mode, 8).unwrap())).unwrap();
}

/// Writes a file, or removes it.
pub(crate) fn put(root: &Path, path: &str, text: Option<&str>) {
    let path = root.join(path);
    match text {
        Some(text) => {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
        }
        None => drop(fs::remove_file(&path)),
    }
}

/// What one call does: paths, and what is written to them; none removes the file.
pub(crate) type Call<'c> = &'c [(&'c str, Option<&'c str>)];

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) engine: Engine,
    pub(crate) session: Session,
    runtime: Runtime,
    /// Where the agent's tools work, if not in the project.
    elsewhere: Option<PathBuf>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::in_directory(None)
    }

    pub(crate) fn in_directory(cwd: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir_all(folder.path().join("project")).unwrap();
        let project = folder.path().join("project").canonicalize().unwrap();
        let engine = Engine::new(Arc::new(JsonlStore::new(&home, Layout::Pi)), "test").with_snapshots(&home);
        let engine = engine.with_durability(Durability::Os);
        let cwd = cwd.map_or_else(|| project.display().to_string(), str::to_owned);
        let session = engine.create(NewSession { cwd, ..NewSession::default() }).unwrap();
        Self { folder, engine, session, runtime: Runtime::new().unwrap(), elsewhere: None }
    }

    /// Has the agent work in another directory, or in the project again.
    pub(crate) fn tools_in(&mut self, elsewhere: Option<&str>) {
        self.elsewhere = elsewhere.map(PathBuf::from);
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    /// Whether anything was ever kept of the project.
    pub(crate) fn has_store(&self) -> bool {
        self.folder.path().join("home/snapshots").exists()
    }

    pub(crate) fn put(&self, path: &str, text: Option<&str>) {
        put(&self.project(), path, text);
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.project().join(path)).ok()
    }

    /// Every file of the project with its content.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (root, mut files, mut rest) = (self.project(), BTreeMap::new(), vec![self.project()]);
        while let Some(directory) = rest.pop() {
            for entry in fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    rest.push(path);
                } else {
                    files.insert(path.strip_prefix(&root).unwrap().to_owned(), fs::read(&path).unwrap());
                }
            }
        }
        files
    }

    /// Runs a turn in which the agent makes these calls, one answer each. After each, `meanwhile` is told its number.
    pub(crate) fn turn_with(
        &mut self,
        prompt: &str,
        calls: &[Value],
        mut meanwhile: impl FnMut(usize, &Path),
    ) -> TurnResult {
        let answer = |arguments: &Value| json!({"steps": [{"call": {"name": "hand", "arguments": arguments}}]});
        let mut answers: Vec<Value> = calls.iter().map(answer).collect();
        answers.push(json!({"steps": [{"text": format!("That was {prompt}.")}]}));
        let script = toml::to_string(&json!({"answers": answers})).unwrap();
        let model = ModelName { provider: "scripted".into(), model: "test".into() };
        let provider = Arc::new(Scripted::new(&script, "test").unwrap());
        let mut run = Run::new(Resolved { provider, model }).with_prompt(prompt);
        run.tools = vec![Arc::new(Hand { root: self.elsewhere.clone().unwrap_or_else(|| self.project()) })];
        let (root, mut ended) = (self.project(), 0);
        let mut watcher = |event: &Event| {
            if let Event::ToolEnd { is_error, result, .. } = event {
                assert!(!is_error, "{result:?}");
                ended += 1;
                meanwhile(ended, &root);
            }
        };
        self.engine.run(&mut self.session, run, self.runtime.handle(), inbox(), &mut watcher).unwrap()
    }

    pub(crate) fn turn(&mut self, prompt: &str, calls: &[Call<'_>]) -> TurnResult {
        let calls: Vec<Value> = calls.iter().map(|call| changing(call)).collect();
        self.turn_with(prompt, &calls, |_, _| ())
    }

    /// The answers that ended turns on the path, oldest first.
    pub(crate) fn answers(&self) -> Vec<Seq> {
        let log = self.session.log();
        let is_answer = |seq: &Seq| {
            log.record(*seq).is_some_and(|record| record.role == Role::Assistant)
                && self.session.message(*seq).unwrap().is_some_and(|message| message.calls().next().is_none())
        };
        log.path(log.leaf()).into_iter().filter(is_answer).collect()
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        let page = self.session.messages(self.session.log().leaf(), None, None).unwrap();
        page.messages.iter().map(|view| view.message.text()).collect()
    }

    pub(crate) fn snapshots(&self) -> Vec<SnapshotEntry> {
        self.engine.snapshots(&self.session).unwrap()
    }

    pub(crate) fn restore(&mut self, name: &str, options: &RestoreOptions) -> RestoreReport {
        let target = self.engine.find_snapshot(&self.session, name).unwrap();
        self.engine.restore(&mut self.session, &target, options).unwrap()
    }

    pub(crate) fn revert(&mut self, target: Seq) -> RevertReport {
        self.engine.revert(&mut self.session, target, &RestoreOptions::default()).unwrap()
    }

    pub(crate) fn unrevert(&mut self) -> RevertReport {
        self.engine.unrevert(&mut self.session, &RestoreOptions::default()).unwrap()
    }

    pub(crate) fn leaf(&self) -> Option<EntryId> {
        self.session.leaf()
    }
}

/// The arguments of a call that changes files.
pub(crate) fn changing(call: Call<'_>) -> Value {
    // Scripts have no null.
    let spelled = |text: Option<&str>| text.map_or(Value::from(false), Value::from);
    let files: serde_json::Map<_, _> = call.iter().map(|(path, text)| ((*path).to_owned(), spelled(*text))).collect();
    json!({"files": files})
}

/// The paths of a plan, each with whether something stands against it.
pub(crate) fn told(plan: &ramus_snapshot::Plan) -> Vec<(String, bool)> {
    plan.steps.iter().map(|step| (step.path.display().to_string(), step.conflict.is_some())).collect()
}
