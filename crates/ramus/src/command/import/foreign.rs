//! Importing sessions of other agents: those that are found on this machine, or those that are named.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ramus_engine::{
    BundleOptions, EngineError, ErrorKind, ForeignFailure, ForeignImport, ForeignImported, ForeignProgress,
    ForeignSkip, ForeignStore,
};
use ramus_interchange::Format;

use super::{Import, tell};
use crate::agents;
use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text};

/// How often the line about how far it has come changes.
const EVERY: Duration = Duration::from_millis(100);
/// How often it is looked for what is new.
const PAUSE: Duration = Duration::from_millis(250);

impl Import {
    /// Imports what is found where agents keep their sessions.
    pub(super) fn discovered(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let environment = agents::environment(&invocation.cwd)?;
        let of = self.from.as_deref().map(|name| agents::named(name, |format| format.is_read())).transpose()?;
        let roots = agents::stores(&environment, of);
        let look = |invocation: &Invocation<'_>| Ok(invocation.engine.find_foreign(&roots));
        let stores = look(invocation)?;
        // Nothing is removed by it, so it needs no word of a person where there is none.
        let is_asked = !self.yes && !self.dry_run && of.is_none() && invocation.screen.can_ask();
        if is_asked && stores.iter().any(|store| store.files() > 0) {
            self.ask(invocation, &stores)?;
        }
        if self.watch {
            return self.watch(invocation, &look);
        }
        let imported = self.take(invocation, &stores)?;
        tell::outcome(invocation, &stores, &imported, self.dry_run)?;
        Ok(if imported.failed.is_empty() { Exit::Done } else { Exit::Partial })
    }

    /// Imports what is at a path, as sessions of an agent if one is given.
    pub(super) fn foreign(
        &self,
        invocation: &mut Invocation<'_>,
        path: &Path,
        given: Option<Format>,
    ) -> anyhow::Result<Exit> {
        if self.as_new {
            return Err(Refusal::usage("--as-new is for bundles: sessions of other agents keep their ids").into());
        }
        let look = |invocation: &Invocation<'_>| Ok(vec![invocation.engine.find_foreign_at(path, given)?]);
        if self.watch {
            return self.watch(invocation, &look);
        }
        let stores = look(invocation)?;
        let imported = self.take(invocation, &stores)?;
        if let ([failure], true) = (&*imported.failed, !path.is_dir()) {
            return Err(Refusal::invalid(format!("{}: {}", path.display(), failure.reason)).into());
        }
        tell::outcome(invocation, &stores, &imported, self.dry_run)?;
        Ok(if imported.failed.is_empty() { Exit::Done } else { Exit::Partial })
    }

    fn ask(&self, invocation: &mut Invocation<'_>, stores: &[ForeignStore]) -> anyhow::Result<()> {
        let mut text = Text::new();
        tell::table(&mut text, stores);
        invocation.screen.complain(&text)?;
        let mut question = Text::new();
        match invocation.screen.ask(question.plain("import them? Nothing of theirs is changed."))? {
            Some(false) => Err(Refusal::invalid("nothing was imported").into()),
            Some(true) | None => Ok(()),
        }
    }

    fn take(&self, invocation: &mut Invocation<'_>, stores: &[ForeignStore]) -> anyhow::Result<ForeignImported> {
        let remote = invocation.remote();
        // What a server shall have is read here first, and sent.
        let options = ForeignImport { dry_run: self.dry_run && remote.is_none(), ..ForeignImport::default() };
        let engine = invocation.engine.clone();
        let (mut shown, mut failed) = (Instant::now(), None);
        let mut show = |progress: ForeignProgress| {
            if shown.elapsed() >= EVERY && progress.sources < progress.of_sources {
                shown = Instant::now();
                let mut text = Text::new();
                tell::progress(&mut text, progress);
                failed = invocation.screen.status(&mut text).err().or(failed.take());
            }
        };
        let imported = engine.import_foreign(stores, options, &mut show);
        invocation.screen.clear_status()?;
        failed.map_or(Ok(()), Err)?;
        match remote {
            Some(remote) => self.send(invocation, &remote, imported?),
            None => Ok(imported?),
        }
    }

    /// Sends what was read to a server, session by session, and says what it made of it.
    fn send(
        &self,
        invocation: &Invocation<'_>,
        remote: &Remote,
        read: ForeignImported,
    ) -> anyhow::Result<ForeignImported> {
        let ForeignImported { imported, grown, .. } = read;
        let mut sent = ForeignImported { imported: Vec::new(), grown: Vec::new(), ..read };
        for session in imported.into_iter().chain(grown) {
            let log = invocation.engine.open(session.id.as_str(), &invocation.cwd)?;
            let bundle = remote.kept("cannot keep what is sent", |file| {
                invocation.engine.export_bundle(&[log], BundleOptions::default(), file)?;
                Ok(())
            })?;
            let answer = match remote.wait(remote.client().import(bundle, self.dry_run, false)) {
                // One that went another way there stays as it is, and the others come in.
                Err(error) if is_conflict(&error) => {
                    let (file, agent) = (session.file, Some(session.agent));
                    sent.failed.push(ForeignFailure { file, agent, reason: error.to_string() });
                    continue;
                }
                answer => answer?.into_members(),
            };
            match answer.items("imported").first() {
                None => {
                    sent.unchanged += 1;
                    let (id, agent, reason) = (Some(session.id), Some(session.agent), "the server has it already");
                    sent.skipped.push(ForeignSkip { id, agent, file: session.file, reason });
                }
                Some(one) if one.says("extended") => sent.grown.push(session),
                Some(_) => sent.imported.push(session),
            }
        }
        Ok(sent)
    }

    /// Imports again and again, until interrupted or nobody reads on. Says what came.
    fn watch(
        &self,
        invocation: &mut Invocation<'_>,
        look: &dyn Fn(&Invocation<'_>) -> anyhow::Result<Vec<ForeignStore>>,
    ) -> anyhow::Result<Exit> {
        let (mut known, mut trouble) = (Known::default(), None);
        // Whoever names what is not there is told so. What goes later may come back.
        let mut looked = Some(look(invocation)?);
        loop {
            let began = Instant::now();
            let taken = looked.take().map_or_else(|| look(invocation), Ok);
            let taken = taken.and_then(|stores| self.take(invocation, &stores).map(|imported| (stores, imported)));
            let (stores, mut imported) = match taken {
                Ok(taken) => taken,
                Err(error) if is_passing(&error) => {
                    complain_once(invocation, &error, &mut trouble)?;
                    pause(PAUSE.max(began.elapsed() * 4));
                    continue;
                }
                Err(error) => return Err(error),
            };
            trouble = None;
            let failed = imported.failed.clone();
            // What is wrong is said once, and so is what is left alone.
            imported.failed.retain(|failure| !known.failures.contains(failure));
            let is_quiet = imported.imported.is_empty() && imported.grown.is_empty() && imported.linked.is_empty();
            if !is_quiet || !imported.failed.is_empty() {
                known.keep_new(&mut imported);
                tell::outcome(invocation, &stores, &imported, false)?;
                invocation.screen.flush()?;
            }
            known.failures = failed;
            // Looking must not keep the machine busy, however much there is to look at.
            pause(PAUSE.max(began.elapsed() * 4));
        }
    }
}

/// What was told while watching.
#[derive(Default)]
struct Known {
    failures: Vec<ForeignFailure>,
    /// Sessions and files, by file and id.
    sessions: HashSet<(PathBuf, Option<String>)>,
}

impl Known {
    /// Leaves out of what is left alone what was told before.
    fn keep_new(&mut self, imported: &mut ForeignImported) {
        let sessions = &mut self.sessions;
        for session in imported.imported.iter().chain(&imported.grown) {
            sessions.insert((session.file.clone(), Some(session.id.to_string())));
        }
        imported.skipped.retain(|skip| sessions.insert((skip.file.clone(), skip.id.as_ref().map(ToString::to_string))));
    }
}

/// Says whether an error may be over when it is tried again: somebody else is at work, the disk is full, a file is gone that is being
/// replaced.
fn is_passing(error: &anyhow::Error) -> bool {
    use ErrorKind::{Busy, Conflict, Full, Invalid, Io, NotFound};
    let kind = error.downcast_ref::<EngineError>().map(EngineError::kind);
    kind.is_some_and(|kind| matches!(kind, Busy | Conflict | Full | Invalid | Io | NotFound))
}

/// Tells what is in the way, unless that is somebody who will be done, or it was told already.
fn complain_once(
    invocation: &mut Invocation<'_>,
    error: &anyhow::Error,
    told: &mut Option<String>,
) -> anyhow::Result<()> {
    let is_busy = error.downcast_ref::<EngineError>().is_some_and(|error| error.kind() == ErrorKind::Busy);
    let message = format!("{error:#}; it is tried again");
    if !is_busy && told.as_ref() != Some(&message) {
        invocation.screen.warn(&message)?;
        *told = Some(message);
    }
    Ok(())
}

fn is_conflict(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ramus_client::Error>().is_some_and(|error| error.status() == Some(409))
}

/// Waits until it is worth looking again.
#[expect(clippy::disallowed_methods, reason = "agents write files whenever they like: there is no event to wait for")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
