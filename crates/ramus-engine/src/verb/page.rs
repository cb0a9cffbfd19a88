//! `export --to html`: a session as a page, written while it is made.
//!
//! A page begins with a tree of everything in it, so a session is gone through twice: once for the outline, and once for what
//! its entries say. Only one entry is held at a time.

use std::io::{self, Write};
use std::sync::Arc;

use ramus_publish::Outline;
use ramus_publish::html::{Options, Page};
use ramus_redact::{Finding, Redactor};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::transcript::{Include, TranscriptScope, redact, redact_entry};

impl Engine {
    /// Writes a session as a page, without its secrets if there is a redactor. Returns what was taken out.
    pub fn write_page(
        &self,
        session: &mut Session,
        scope: TranscriptScope,
        include: Include,
        redactor: Option<&Redactor>,
        out: &mut dyn Write,
    ) -> Result<Vec<Finding>, EngineError> {
        let mut pass = redactor.map(Redactor::pass);
        let mut outline = Outline::default();
        let mut head = self.each_entry(session, scope, include, &mut |mut entry| {
            if let Some(pass) = &mut pass {
                redact_entry(&mut entry, pass);
            }
            outline.add(&entry);
            Ok(())
        })?;
        if let Some(pass) = &mut pass {
            redact(&mut head, pass);
        }
        // Going through the entries again finds the same secrets, under the same numbers.
        let findings = pass.as_ref().map(|pass| pass.findings().to_vec()).unwrap_or_default();
        let mut page = Page::new(&outline.with_head(&head), &Options::default());
        self.each_entry(session, scope, include, &mut |mut entry| {
            if let Some(pass) = &mut pass {
                redact_entry(&mut entry, pass);
            }
            page.entry(&entry);
            out.write_all(page.take().as_bytes()).map_err(unwritten)
        })?;
        out.write_all(page.finish().as_bytes()).map_err(unwritten)?;
        Ok(findings)
    }
}

fn unwritten(error: io::Error) -> EngineError {
    EngineError::Output(Arc::new(error))
}
