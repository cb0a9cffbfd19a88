//! The end of the document: what is known about the session.

use ramus_model::json::{Raw, Shape};
use ramus_model::time;

use super::{VERSION, Writer, quoted};
use crate::compose::Composer;
use crate::error::Error;
use crate::origin::with_members;
use crate::sink::Report;

/// What is known about one session and holds for no other, and what is lost with it.
const OF_ANOTHER: [(&str, &str); 2] =
    [("share", "the share: it shows the session it was made of"), ("parentID", PARENT)];
const PARENT: &str = "the session that spawned this one";
/// The same of its times.
const STATES: [(&str, &str); 2] =
    [("archived", "that the session was archived"), ("compacting", "that the session was being summarised")];

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

    /// What was known, with the id and directory of now. Nothing of it allows anything, and what holds for the session it was
    /// does not hold for another.
    fn known(&mut self, info: &[u8]) -> Option<Vec<u8>> {
        let object = Raw::parse(info)?.object()?;
        let is_moved = object.text("id").as_deref() != Some(&self.session);
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
        for (name, value) in
            [("id", Some(&self.session)), ("directory", Some(&self.start.cwd)), ("title", self.title.as_ref())]
        {
            if let Some(value) = value.filter(|value| object.text(name).as_deref() != Some(value)) {
                changes.push((name, Some(quoted(value))));
            }
        }
        let there = |name: &str| object.field(name).filter(|value| !value.is_null());
        if let Some(rules) = there("permission")
            && (is_moved || !only_denies(rules))
        {
            changes.push(("permission", None));
            self.losses.lose("permissions: nothing that came from elsewhere allows anything");
        }
        if there("revert").is_some() && (is_moved || !self.is_reverted) {
            changes.push(("revert", None));
            self.losses.lose("that messages were reverted");
        }
        if is_moved {
            for (name, why) in OF_ANOTHER.into_iter().filter(|(name, _)| there(name).is_some()) {
                changes.push((name, None));
                self.losses.lose(why);
            }
            let states = STATES.iter().filter(|(name, _)| there("time").is_some_and(|time| time.field(name).is_some()));
            let states: Vec<_> = states.collect();
            states.iter().for_each(|(_, why)| self.losses.lose(*why));
            let gone: Vec<_> = states.iter().map(|(name, _)| (*name, None)).collect();
            if let Some(time) = there("time").and_then(|time| with_members(time.bytes(), &gone)) {
                changes.push(("time", Some(time)));
            }
        }
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.as_deref())).collect();
        with_members(info, &changes)
    }

    fn new_info(&mut self) -> Vec<u8> {
        if self.start.parent.is_some() {
            self.losses.lose(PARENT);
        }
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

/// Says whether rules take rights away and give none.
fn only_denies(rules: Raw<'_>) -> bool {
    let denies = |rule: Raw<'_>| rule.field("action").and_then(Raw::text).as_deref() == Some("deny");
    rules.shape() == Shape::Array && rules.items().all(denies)
}
