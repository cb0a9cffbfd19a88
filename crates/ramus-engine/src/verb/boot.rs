//! `boot`: the root of a session, seeded once: what the session is, where it works, and a word of welcome.
//!
//! It happens with the first chat and never by reading. Booting again changes nothing and tells what the first time said;
//! a reset clears it.

use ramus_model::json::Raw;
use ramus_model::{Body, Draft, EntryId, Kind, Record, Seq};
use serde_json::{Value, json};

use crate::engine::{DEFAULT_OWNER, Engine};
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;

/// What a session is greeted with when nobody says.
pub const WELCOME: &str = "What shall we work on?";

/// How a session is seeded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// A word of welcome, for people; none for the usual one.
    pub welcome: Option<String>,
    /// A system message, for models.
    pub system: Option<String>,
}

/// A session that was seeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Booted {
    /// The entry that says so.
    pub entry: EntryId,
    /// The word of welcome.
    pub welcome: String,
    /// Where the session works, as it was described then.
    pub workspace: Value,
    /// Whether it happened now.
    pub is_new: bool,
}

impl Engine {
    /// Seeds the root of a session, unless that was done. A session in which something was said already is left as it is,
    /// and that is none.
    pub fn boot(&self, session: &mut Session, boot: &Boot) -> Result<Option<Booted>, EngineError> {
        if let Some(seq) = session.boot_entry()? {
            return session.booted(seq).map(Some);
        }
        let is_said = |seq: Seq| session.log().record(seq).is_some_and(|record| record.kind == Kind::Message);
        if session.log().visible().any(is_said) {
            return Ok(None);
        }
        let info = session.workspace();
        let data = json!({
            "welcome": boot.welcome.as_deref().unwrap_or(WELCOME),
            "session": {"id": session.id().as_str(), "namespace": session.namespace(), "owner": session.owner()},
            "workspace": {
                "cwd": session.cwd(), "root": info.root, "mount": info.mount,
                "project": session.project().map(|project| project.to_json()),
            },
        });
        let mut drafts = vec![Draft::new(Body::ramus("boot", data))];
        if let Some(system) = &boot.system {
            let content = json!([{"type": "text", "text": system}]);
            let message = json!({"role": "system", "content": content, "timestamp": self.now()});
            drafts.push(Draft::new(Body::new("message", [("message", message)])));
        }
        let mut doing = Doing::several("boot", self, session);
        let appended = self.record(session, &mut doing, drafts)?;
        let seq = appended.entries.first().map(|written| written.seq);
        let booted = seq.map(|seq| session.booted(seq)).transpose()?;
        Ok(booted.map(|booted| Booted { is_new: true, ..booted }))
    }
}

impl Session {
    /// Returns the word of welcome of a session that was seeded.
    pub fn welcome(&self) -> Result<Option<String>, EngineError> {
        let Some(seq) = self.boot_entry()? else { return Ok(None) };
        Ok(Some(self.booted(seq)?.welcome))
    }

    /// Finds the entry that a session was seeded with.
    fn boot_entry(&self) -> Result<Option<Seq>, EngineError> {
        let log = self.log();
        let may_be = |record: &Record| record.kind == Kind::Custom && record.parent().is_none();
        for seq in log.visible().filter(|seq| log.record(*seq).is_some_and(may_be)) {
            let line = self.line(seq)?;
            let name = Raw::parse(&line).and_then(|raw| raw.field("customType")).and_then(Raw::text);
            if name.is_some_and(|name| name == "ramus.boot") {
                return Ok(Some(seq));
            }
        }
        Ok(None)
    }

    fn booted(&self, seq: Seq) -> Result<Booted, EngineError> {
        let data = self.data_of(seq)?.unwrap_or_default();
        let welcome = data.get("welcome").and_then(Value::as_str).unwrap_or_default().to_owned();
        let workspace = data.get("workspace").cloned().unwrap_or_default();
        Ok(Booted { entry: self.entry_id(seq), welcome, workspace, is_new: false })
    }

    /// Returns who owns the session.
    pub fn owner(&self) -> &str {
        let owner = self.log().header().and_then(|header| header.ramus.owner.as_deref());
        owner.unwrap_or(DEFAULT_OWNER)
    }
}
