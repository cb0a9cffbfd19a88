//! The end of the document: what is known about the session.

use ramus_model::json::Raw;
use ramus_model::time;

use super::{VERSION, Writer, quoted};
use crate::compose::Composer;
use crate::error::Error;
use crate::origin::with_members;
use crate::sink::Report;

impl Writer<'_> {
    /// Ends the document with what is known about the session.
    pub(super) fn finish(mut self) -> Result<Report, Error> {
        self.settle()?;
        if !self.begun {
            self.out.write_all(b"{\"messages\":[\n")?;
        }
        self.out.write_all(b"\n],\n\"info\":")?;
        let info = self.info.take().and_then(|info| self.known(&info)).unwrap_or_else(|| self.new_info());
        self.out.write_all(&info)?;
        self.out.write_all(b"}\n")?;
        Ok(self.losses.finish())
    }

    /// What was known, with the id and directory of now.
    fn known(&self, info: &[u8]) -> Option<Vec<u8>> {
        let object = Raw::parse(info)?.object()?;
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
        for (name, value) in
            [("id", Some(&self.session)), ("directory", Some(&self.start.cwd)), ("title", self.title.as_ref())]
        {
            if let Some(value) = value.filter(|value| object.text(name).as_deref() != Some(value)) {
                changes.push((name, Some(quoted(value))));
            }
        }
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.as_deref())).collect();
        with_members(info, &changes)
    }

    fn new_info(&self) -> Vec<u8> {
        let created = time::parse(&self.start.created).unwrap_or_default();
        let mut composer = Composer::default();
        composer.text("id", &self.session);
        composer.text("slug", "imported-session");
        composer.text("projectID", "global");
        composer.text("directory", &self.start.cwd);
        composer.text("title", self.title.as_deref().unwrap_or("Imported session"));
        composer.text("version", self.start.version.as_deref().unwrap_or(VERSION));
        composer.object("time", |time| {
            time.number("created", created);
            time.number("updated", self.clock.max(created));
        });
        let mut info = b"{".to_vec();
        info.extend(composer.finish().0);
        info.push(b'}');
        info
    }
}
