//! Exporting to the format of another agent.

use std::io::Write;

use anyhow::Context as _;
use ramus_engine::{Directory, Extent, OneFile, Session, spawned_loss};
use ramus_interchange::{Format, Loss, Report};
use serde_json::{Value, json};

use super::{Export, ToScreen};
use crate::command::list;
use crate::failure::{Exit, Refusal};
use crate::file::{self, Access};
use crate::invocation::Invocation;
use crate::render::{Text, json, quantity};

/// What was spawned by a session of a server, of which only its own log was fetched.
pub(crate) fn spawned_there(invocation: &Invocation<'_>, session: &Session) -> anyhow::Result<Option<Loss>> {
    let Some(remote) = invocation.remote() else { return Ok(None) };
    let spawned = list::all_of(&remote, &[("parent", Some(session.id().as_str()))])?;
    Ok(spawned_loss(spawned.len() as u64))
}

impl Export {
    pub(super) fn convert(
        &self,
        invocation: &mut Invocation<'_>,
        session: &Session,
        extent: Extent,
        format: Format,
    ) -> anyhow::Result<Exit> {
        let engine = invocation.engine.clone();
        let one_file = |out: &mut dyn Write| -> anyhow::Result<Report> {
            Ok(engine.convert(session, format, extent, session.start(), &mut OneFile::new(out))?)
        };
        let mut size = 0;
        let mut report = if format == Format::Directory {
            if self.is_stdout() {
                return Err(Refusal::usage("the format has several files").hint("name a directory with -o DIR").into());
            }
            let mut target = Directory::at(&self.output)?;
            let report = engine.convert(session, format, extent, session.start(), &mut target)?;
            target.publish()?;
            report
        } else if self.is_stdout() {
            let mut out = std::io::BufWriter::new(ToScreen(invocation));
            let report = one_file(&mut out)?;
            out.flush()?;
            report
        } else {
            let (report, written) = file::write_stream(&self.output, Access::Private, one_file)
                .with_context(|| format!("cannot write {}", self.output.display()))?;
            size = written;
            report
        };
        report.losses.extend(spawned_there(invocation, session)?);
        invocation.mention_missing_blobs(&session.missing_blobs(), &self.session)?;
        if invocation.screen.wants_json() && !self.is_stdout() {
            let export = json!({
                "session": session.id().as_str(),
                "format": self.to,
                "path": std::path::absolute(&self.output).unwrap_or_else(|_| self.output.clone()),
                "bytes": size,
                "entries": report.entries,
                "lossy": losses_json(&report.losses),
            });
            invocation.screen.json(json::members(json!({"export": export})))?;
            return Ok(Exit::Done);
        }
        tell_losses(invocation, &report.losses)?;
        if !self.is_stdout() {
            let mut text = Text::new();
            let entries = quantity::count(usize::try_from(report.entries).unwrap_or(usize::MAX), "entry", "entries");
            text.plain(&format!("wrote {entries} to ")).plain(&self.output.display().to_string()).end();
            invocation.screen.note(&text)?;
        }
        Ok(Exit::Done)
    }
}

/// Tells what an agent has no words for.
pub(crate) fn tell_losses(invocation: &mut Invocation<'_>, losses: &[Loss]) -> anyhow::Result<()> {
    for loss in losses {
        let often = if loss.count > 1 { format!(" ({} times)", quantity::grouped(loss.count)) } else { String::new() };
        invocation.screen.warn(&format!("not carried over: {}{often}", loss.why))?;
    }
    Ok(())
}

pub(crate) fn losses_json(losses: &[Loss]) -> Vec<Value> {
    losses.iter().map(|loss| json!({"why": loss.why, "line": loss.line, "count": loss.count})).collect()
}
