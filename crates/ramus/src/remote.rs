//! A server in the place of the home: `--server URL`.
//!
//! A command that changes something, or tells what the home knows, asks the route of the same name and shows the answer,
//! which has the shape of its own `--json`. A command that draws a session fetches the log into a directory of its own and
//! draws it as it would any other: what is shown is made by the same code, wherever the log is.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{File, Permissions};
use std::future::Future;
use std::io::{BufReader, BufWriter, Seek as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use ramus_client::{Client, Error, Method, Request};
use ramus_engine::{Engine, ImportOptions, is_path};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::failure::Refusal;
use crate::home::Home;
use crate::target::Target;

/// A server, and what was fetched from it.
pub(crate) struct Remote {
    client: Client,
    runtime: Runtime,
    /// The directory that `last` is about.
    cwd: String,
    /// Where logs are that were fetched. They go with it.
    folder: TempDir,
    /// How many entries the logs had.
    fetched: RefCell<HashMap<String, u64>>,
}

impl Remote {
    pub(crate) fn new(client: Client, cwd: String) -> anyhow::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.context("cannot start what the client runs on")?;
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("ramus-").permissions(private).tempdir();
        let folder = folder.context("cannot make a directory for what is fetched")?;
        Ok(Self { client, runtime, cwd, folder, fetched: RefCell::default() })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Returns a home for what is fetched.
    pub(crate) fn home(&self) -> anyhow::Result<Home> {
        Home::pristine(self.folder.path().to_owned())
    }

    /// Waits for the server.
    pub(crate) fn wait<T>(&self, asked: impl Future<Output = Result<T, Error>>) -> anyhow::Result<T> {
        Ok(self.runtime.block_on(asked)?)
    }

    /// Returns what things that wait are run on.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Sends a request and returns the members of the answer.
    pub(crate) fn answer(&self, request: Request<'_>) -> anyhow::Result<Map<String, Value>> {
        Ok(self.wait(request.answer())?.into_members())
    }

    /// Asks a route of the home.
    pub(crate) fn get(&self, parts: &[&str]) -> Request<'_> {
        self.client.ask(Method::GET, parts)
    }

    /// Has something done to the home.
    pub(crate) fn post(&self, parts: &[&str], body: &Value) -> anyhow::Result<Map<String, Value>> {
        self.answer(self.client.ask(Method::POST, parts).json(body))
    }

    /// Has something done to a session.
    pub(crate) fn act(&self, id: &str, route: &str, body: &Value) -> anyhow::Result<Map<String, Value>> {
        self.post(&["sessions", id, route], body)
    }

    /// Changes what is known about a session.
    pub(crate) fn change(&self, id: &str, change: &Value) -> anyhow::Result<Map<String, Value>> {
        self.answer(self.client.ask(Method::PATCH, &["sessions", id]).json(change))
    }

    /// Describes a session.
    pub(crate) fn describe(&self, id: &str) -> anyhow::Result<Map<String, Value>> {
        let mut answer = self.answer(self.get(&["sessions", id]))?;
        Ok(answer.shift_remove("session").map(ramus_wire::members).unwrap_or_default())
    }

    /// Returns how many entries the log of a session has.
    pub(crate) fn position(&self, id: &str) -> anyhow::Result<u64> {
        Ok(self.wait(self.get(&["sessions", id]).answer())?.position().unwrap_or_default())
    }

    /// Finds the id of a session that is worked on as a whole.
    pub(crate) fn id(&self, argument: &str) -> anyhow::Result<String> {
        let target = Target::parse(argument);
        if target.entry.is_some() {
            let message = format!("{argument:?} names an entry, and this command works on a session");
            return Err(Refusal::usage(message).hint("leave out the @ and what follows it").into());
        }
        self.resolve(&target.session)
    }

    /// Finds the id of a session, and what names the entry.
    pub(crate) fn target(&self, argument: &str) -> anyhow::Result<(String, Option<String>)> {
        let target = Target::parse(argument);
        Ok((self.resolve(&target.session)?, target.entry))
    }

    /// Finds the id of a session, and what names the entry that must be named.
    pub(crate) fn entry(&self, argument: &str) -> anyhow::Result<(String, String)> {
        let (session, entry) = self.target(argument)?;
        let missing = || {
            Refusal::usage(format!("{argument:?} names no entry"))
                .hint("say SESSION@ENTRY; SESSION@ is the leaf, and `ramus tree SESSION` shows all entries")
        };
        Ok((session, entry.ok_or_else(missing)?))
    }

    /// Finds the whole id of a session. `this` is `last` there: the server knows no terminals.
    pub(crate) fn resolve(&self, name: &str) -> anyhow::Result<String> {
        if is_path(name) && Path::new(name).is_file() {
            let message = format!("{name:?} is a file of this machine, which the server does not read");
            return Err(Refusal::usage(message).hint("leave out --server, or name a session of the server").into());
        }
        let name = if name == "this" { "last" } else { name };
        self.wait(self.client.resolve(name, Some(&self.cwd)))
    }

    /// Fetches the log of a session into `engine`, with everything that belongs to it, and returns its id.
    pub(crate) fn fetch(&self, engine: &Engine, name: &str) -> anyhow::Result<String> {
        let id = self.resolve(name)?;
        let position = self.position(&id)?;
        if self.fetched.borrow_mut().insert(id.clone(), position) != Some(position) {
            let request = self.get(&["sessions", &id, "export"]).query("to", "json").flag("with_origins", true);
            let options = ImportOptions { bases: true, ..ImportOptions::default() };
            engine.import_bundle(BufReader::new(self.spool(request)?), options)?;
        }
        Ok(id)
    }

    /// Keeps an answer in a file.
    pub(crate) fn spool(&self, request: Request<'_>) -> anyhow::Result<File> {
        self.kept("cannot keep what is fetched", |file| self.wait(request.pieces(&mut |piece| file.write_all(piece))))
    }

    /// Keeps what is written in a file that has no name, from its beginning: it may be larger than memory.
    pub(crate) fn kept(
        &self,
        refused: &'static str,
        write: impl FnOnce(&mut BufWriter<File>) -> anyhow::Result<()>,
    ) -> anyhow::Result<File> {
        let mut file = BufWriter::new(tempfile::tempfile_in(self.folder.path()).context(refused)?);
        write(&mut file)?;
        let mut file = file.into_inner().context(refused)?;
        file.rewind().context(refused)?;
        Ok(file)
    }
}
