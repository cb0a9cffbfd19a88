//! Importing a bundle: all of its sessions or none.

use std::fs::File;
use std::io::{BufReader, Read};

use anyhow::Context as _;
use ramus_engine::ImportOptions;
use serde_json::{Map, Value};

use super::Import;
use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, quantity, style};

/// Where a bundle comes from.
pub(super) enum Source {
    /// A file that stands at its beginning.
    File(File),
    /// Something that comes as it comes.
    Stream(Box<dyn Read>),
}

impl Import {
    pub(super) fn bundle(&self, invocation: &mut Invocation<'_>, source: Source) -> anyhow::Result<Exit> {
        if self.watch {
            return Err(Refusal::usage("a bundle does not grow: --watch is for the sessions of other agents").into());
        }
        let answer = match invocation.remote() {
            Some(remote) => {
                let bundle = match source {
                    Source::File(file) => file,
                    // How much it is must be known before it is sent.
                    Source::Stream(mut input) => remote.kept("cannot keep the bundle", |file| {
                        std::io::copy(&mut input, file).context("cannot read the bundle")?;
                        Ok(())
                    })?,
                };
                let sent = remote.client().import(bundle, self.dry_run, self.as_new);
                remote.wait(sent)?.into_members()
            }
            None => {
                let options = ImportOptions { dry_run: self.dry_run, as_new: self.as_new, bases: false };
                let input: Box<dyn Read> = match source {
                    Source::File(file) => Box::new(file),
                    Source::Stream(input) => input,
                };
                let input = BufReader::with_capacity(1 << 18, input);
                ramus_wire::import::imported(&invocation.engine.import_bundle(input, options)?, self.dry_run)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            self.tell(invocation, &answer)?;
        }
        Ok(Exit::Done)
    }

    fn tell(&self, invocation: &mut Invocation<'_>, answer: &Map<String, Value>) -> anyhow::Result<()> {
        let mut text = Text::new();
        for session in answer.items("imported") {
            text.styled(style::ID, session.word("id")).spaces(2);
            let what = if session.says("extended") { "extended" } else { "imported" };
            let entries = quantity::count(session.count("entries"), "entry", "entries");
            let branches = quantity::count(session.count("branches"), "branch", "branches");
            text.plain(&format!("{what}  {entries}, {branches}")).end();
        }
        for one in answer.items("skipped") {
            let reason = one.word("reason");
            text.styled(style::ID, one.word("id")).spaces(2).styled(style::DIM, &format!("skipped: {reason}")).end();
        }
        let snapshots = answer.count("snapshots");
        if snapshots > 0 {
            let came = quantity::count(snapshots, "snapshot", "snapshots");
            text.plain(&format!("{came} of files came along")).end();
        }
        invocation.screen.text(&text)?;
        if self.dry_run {
            let mut text = Text::new();
            invocation.screen.note(text.plain("nothing was imported: this was a dry run").end())?;
        }
        Ok(())
    }
}
