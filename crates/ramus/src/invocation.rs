//! What every command works with: an engine over a home, the current directory, and a screen.

use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context as _;
use ramus_engine::settings::Settings;
use ramus_engine::settings::project::{self, Trust};
use ramus_engine::{Engine, EngineError, Resumed, Session, prices};
use ramus_model::usage::Prices;
use ramus_model::{BlobHash, Log, Seq};
use ramus_store::{JsonlStore, Location, Residence, Terminal};

use crate::failure::Refusal;
use crate::home::Home;
use crate::progress;
use crate::remote::Remote;
use crate::render::{Answer as _, quantity};
use crate::screen::Screen;
use crate::target::Target;
use crate::terminal;

/// How long a command waits for the prompt history at its end.
const HISTORY_PATIENCE: Duration = Duration::from_secs(5);

/// Whether a command may read what comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// It may.
    Open,
    /// It is not meant for this command.
    Closed,
}

/// One run of a command.
pub(crate) struct Invocation<'s> {
    pub(crate) home: Home,
    pub(crate) engine: Engine,
    store: JsonlStore,
    /// The directory the command was started in.
    pub(crate) cwd: String,
    /// The terminal it was started in, if any.
    terminal: Option<Terminal>,
    pub(crate) screen: &'s mut Screen,
    pub(crate) stdin: Stdin,
    /// The server, when there is one in the place of the home. Then the engine is that of what was fetched.
    remote: Option<Rc<Remote>>,
    /// The file that tokens are read from, when one is named.
    pub(crate) token_file: Option<PathBuf>,
}

impl<'s> Invocation<'s> {
    pub(crate) fn new(home: Home, screen: &'s mut Screen) -> anyhow::Result<Self> {
        let cwd = std::env::current_dir().context("there is no current directory")?;
        let terminal = terminal::current();
        let (engine, store) = home.engine()?;
        store.check().map_err(EngineError::from)?;
        // Whoever comes after an import that was interrupted finds all of it, or nothing.
        engine.settle_imports()?;
        let engine = if screen.can_show_progress() { progress::shown_by(engine) } else { engine };
        let cwd = cwd.to_string_lossy().into_owned();
        Ok(Self { terminal, stdin: Stdin::Open, ..Self::within(home, engine, store, cwd, screen) })
    }

    /// Makes an invocation that works with the sessions of a server.
    pub(crate) fn at(home: Home, remote: Remote, screen: &'s mut Screen) -> anyhow::Result<Self> {
        let cwd = std::env::current_dir().context("there is no current directory")?;
        let (engine, store) = remote.home()?.engine()?;
        let here = Self::within(home, engine, store, cwd.to_string_lossy().into_owned(), screen);
        Ok(Self { stdin: Stdin::Open, remote: Some(Rc::new(remote)), ..here })
    }

    /// Returns the server, when there is one in the place of the home.
    pub(crate) fn remote(&self) -> Option<Rc<Remote>> {
        self.remote.clone()
    }

    /// Makes an invocation within a program that has an engine already.
    pub(crate) fn within(home: Home, engine: Engine, store: JsonlStore, cwd: String, screen: &'s mut Screen) -> Self {
        Self { engine, store, home, cwd, terminal: None, screen, stdin: Stdin::Closed, remote: None, token_file: None }
    }

    /// Returns the engine and the store below it.
    pub(crate) fn parts(&self) -> (Engine, JsonlStore) {
        (self.engine.clone(), self.store.clone())
    }

    /// Returns paths that somebody wrote here, for a session that works in `directory`: whoever is in it means what is
    /// where they are. Elsewhere they mean what is in the directory.
    pub(crate) fn paths_in(&self, directory: &Path, written: &[PathBuf]) -> Vec<PathBuf> {
        let here = Path::new(&self.cwd);
        let is_within = match (here.canonicalize(), directory.canonicalize()) {
            (Ok(here), Ok(directory)) => here.starts_with(directory),
            _ => here.starts_with(directory),
        };
        let one = |path: &PathBuf| if is_within { here.join(path) } else { path.clone() };
        written.iter().map(one).collect()
    }

    /// The same for a session of a server.
    pub(crate) fn paths_at(&self, remote: &Remote, id: &str, written: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
        if written.is_empty() {
            return Ok(Vec::new());
        }
        let session = remote.describe(id)?;
        Ok(self.paths_in(Path::new(session.word("cwd")), written))
    }

    /// Opens a session for a command that works on a whole one.
    pub(crate) fn session(&self, argument: &str) -> anyhow::Result<Session> {
        Ok(self.engine.open(&self.session_name(argument)?, &self.cwd)?)
    }

    /// Opens a session and finds the entry that was named, if any.
    pub(crate) fn session_and_entry(&self, argument: &str) -> anyhow::Result<(Session, Option<Seq>)> {
        let target = Target::parse(argument);
        let session = self.engine.open(&self.named(target.session)?, &self.cwd)?;
        let entry = target.entry.map(|entry| session.resolve(&entry)).transpose()?;
        Ok((session, entry))
    }

    /// Opens a session for its next turn, which goes on from the entry that was named or from the leaf.
    pub(crate) fn turn(&self, argument: &str) -> anyhow::Result<Resumed> {
        let target = Target::parse(argument);
        let name = self.named(target.session)?;
        let Some(entry) = target.entry.filter(|entry| !entry.is_empty()) else {
            return Ok(self.engine.resume(&name, &self.cwd)?);
        };
        let session = self.engine.open(&name, &self.cwd)?;
        let entry = session.resolve(&entry)?;
        Ok(Resumed::at(session, Some(entry))?)
    }

    /// Opens a session for a command that works on one entry of it.
    pub(crate) fn entry(&self, argument: &str) -> anyhow::Result<(Session, Seq)> {
        let (session, entry) = self.session_and_entry(argument)?;
        let missing = || {
            Refusal::usage(format!("{argument:?} names no entry"))
                .hint("say SESSION@ENTRY; SESSION@ is the leaf, and `ramus tree SESSION` shows all entries")
        };
        Ok((session, entry.ok_or_else(missing)?))
    }

    /// Returns what names the session in an argument that must not name an entry.
    pub(crate) fn session_name(&self, argument: &str) -> anyhow::Result<String> {
        let target = Target::parse(argument);
        if target.entry.is_some() {
            let message = format!("{argument:?} names an entry, and this command works on a session");
            return Err(Refusal::usage(message).hint("leave out the @ and what follows it").into());
        }
        self.named(target.session)
    }

    /// Replaces `this` by the session it stands for.
    fn named(&self, reference: String) -> anyhow::Result<String> {
        if let Some(remote) = &self.remote {
            return remote.fetch(&self.engine, &reference);
        }
        if reference != "this" {
            return Ok(reference);
        }
        let recent = self.engine.locate_recent(&self.cwd, self.terminal.as_ref())?;
        let file = recent.path.as_deref().and_then(Path::to_str).filter(|_| recent.residence == Residence::InPlace);
        Ok(file.map_or_else(|| recent.id.to_string(), str::to_owned))
    }

    /// Ends a command that wrote to a session: what it wrote is as durable as the settings promise, the terminal
    /// remembers where it was, and what the session has to say is passed on.
    pub(crate) fn finish(&mut self, session: &mut Session) -> anyhow::Result<()> {
        self.engine.end_turn(session)?;
        self.remember(session.location())?;
        self.mention(session)
    }

    /// Remembers which session this terminal is in. Trouble with that is told and harms nothing.
    pub(crate) fn remember(&mut self, session: &Location) -> anyhow::Result<()> {
        let Some(terminal) = &self.terminal else { return Ok(()) };
        match self.engine.remember(terminal, &self.cwd, session) {
            Ok(()) => Ok(()),
            Err(error) => self.screen.warn(&format!("this terminal is not remembered: {error}")),
        }
    }

    /// Reads what models cost, for a command that tells it in passing: a file of the user's that makes no sense is told
    /// and left out.
    pub(crate) fn prices(&mut self) -> anyhow::Result<Prices> {
        match self.home.prices() {
            Ok(prices) => Ok(prices),
            Err(error) => {
                self.screen.warn(&format!("costs are told without your prices: {error}"))?;
                Ok(prices::known()?)
            }
        }
    }

    /// Returns the settings that hold in a directory. Those of its project count when they are trusted; otherwise it is said
    /// that they do not.
    pub(crate) fn settings_in(&mut self, directory: &str) -> anyhow::Result<Settings> {
        let trust = Trust::of_home(self.home.root());
        let mut settings = self.home.settings().clone();
        for found in project::find(directory) {
            match found {
                Err(refused) => {
                    let told = format!("{} does not count: {}", refused.path.display(), refused.reason);
                    self.screen.warn(&told)?;
                }
                Ok(file) if !trust.holds(&file)? => {
                    let told = "does not count, because it is not trusted as it is; read it, then `ramus trust`";
                    self.screen.warn(&format!("{} {told}", file.path.display()))?;
                }
                Ok(file) => settings = settings.with_project_file(&file.text, &file.path.display().to_string())?,
            }
        }
        Ok(settings)
    }

    /// Gives the prompt history a moment to store what was said. Trouble with it is told and harms nothing.
    pub(crate) fn close_history(&mut self) -> anyhow::Result<()> {
        self.engine.close_history(HISTORY_PATIENCE).iter().try_for_each(|told| self.screen.warn(told))
    }

    /// Passes on what was found out about the home.
    pub(crate) fn mention_home(&mut self) -> anyhow::Result<()> {
        let notices = self.store.take_notices().into_iter().chain(self.engine.take_catalogue_notices());
        notices.collect::<Vec<_>>().iter().try_for_each(|notice| self.screen.warn(notice))
    }

    /// Passes on what a session has to say about itself.
    pub(crate) fn mention(&mut self, session: &Session) -> anyhow::Result<()> {
        for notice in session.notices() {
            self.screen.warn(&notice)?;
        }
        Ok(())
    }

    /// Says that what is shown may be incomplete.
    pub(crate) fn mention_damage(&mut self, log: &Log, argument: &str) -> anyhow::Result<()> {
        self.mention_if_damaged(log.is_damaged(), argument)
    }

    /// Says it, if it is so.
    pub(crate) fn mention_if_damaged(&mut self, is_damaged: bool, argument: &str) -> anyhow::Result<()> {
        if is_damaged {
            let session = Target::parse(argument).session;
            self.screen.warn(&format!("the session is damaged; `ramus doctor {session}` tells what is wrong"))?;
        }
        Ok(())
    }

    /// Says that messages turned out to be damaged when they were read, and were left out.
    pub(crate) fn mention_unreadable(&mut self, messages: usize, argument: &str) -> anyhow::Result<()> {
        if messages > 0 {
            let session = Target::parse(argument).session;
            let count = quantity::count(messages, "message is", "messages are");
            self.screen.warn(&format!("{count} damaged and left out; `ramus doctor {session}` tells what is wrong"))?;
        }
        Ok(())
    }

    /// Says that something that is kept beside the session could not be had.
    pub(crate) fn mention_missing_blobs(&mut self, missing: &[BlobHash], argument: &str) -> anyhow::Result<()> {
        if !missing.is_empty() {
            let session = Target::parse(argument).session;
            let count = quantity::count(missing.len(), "blob is", "blobs are");
            self.screen.warn(&format!(
                "{count} missing or damaged; `ramus doctor {session}` tells which entries it is about"
            ))?;
        }
        Ok(())
    }

    /// Returns a directory the way sessions record it: as if the command had been started there.
    pub(crate) fn directory(&self, named: &Path) -> anyhow::Result<String> {
        let whole = std::path::absolute(named).with_context(|| format!("cannot use {}", named.display()))?;
        // What is gone cannot be asked where it really is, but what it was in can.
        let mut real = PathBuf::new();
        for part in whole.components() {
            match part {
                Component::ParentDir => {
                    real.pop();
                }
                part => {
                    real.push(part);
                    real = real.canonicalize().unwrap_or(real);
                }
            }
        }
        Ok(real.to_string_lossy().into_owned())
    }
}
