//! `artifacts`: what tools made along a path, newest first, each address once.

use std::collections::HashSet;

use ramus_model::json::Raw;
use ramus_model::{EntryId, Kind, Seq};
use serde_json::Value;

use crate::error::EngineError;
use crate::session::Session;

/// Something that a tool made.
#[derive(Clone, Debug, PartialEq)]
pub struct Artifact {
    /// The entry that tells of it, which hangs below the result of the call.
    pub entry: EntryId,
    /// Where that is.
    pub seq: Seq,
    /// The call that made it.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What it is, as the tool describes it.
    pub artifact: Value,
}

impl Artifact {
    /// Returns where it can be looked at, if it can.
    pub fn url(&self) -> Option<&str> {
        self.artifact.get("url").and_then(Value::as_str)
    }

    fn read(session: &Session, seq: Seq) -> Result<Option<Self>, EngineError> {
        let line = session.line(seq)?;
        let raw = Raw::parse(&line);
        let name = raw.and_then(|raw| raw.field("customType")).and_then(Raw::text);
        if name.is_none_or(|name| name != "ramus.artifact") {
            return Ok(None);
        }
        let data = session.data_of(seq)?.unwrap_or_default();
        let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (call, tool) = (text("call"), text("tool"));
        let artifact = data.get("artifact").cloned().unwrap_or_default();
        Ok(Some(Self { entry: session.entry_id(seq), seq, call, tool, artifact }))
    }
}

impl Session {
    /// Returns what tools made on the path to an entry, newest first. Of several with one address the newest counts.
    pub fn artifacts(&self, leaf: Option<Seq>) -> Result<Vec<Artifact>, EngineError> {
        let log = self.log();
        let (mut seen, mut artifacts) = (HashSet::new(), Vec::new());
        for seq in log.ancestors(leaf).filter(|seq| log.record(*seq).is_some_and(|record| record.kind == Kind::Custom))
        {
            if let Some(artifact) = Artifact::read(self, seq)?
                && artifact.url().is_none_or(|url| seen.insert(url.to_owned()))
            {
                artifacts.push(artifact);
            }
        }
        Ok(artifacts)
    }
}
