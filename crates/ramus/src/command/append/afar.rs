//! Entries for a session of a server.

use ramus_client::Method;
use ramus_model::{Depth, Log, Record};
use serde_json::{Map, Value};

use super::lines::{JsonLine, JsonLines};
use super::{Append, mention_sibling};
use crate::failure::{Exit, Failure, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, json};

impl Append {
    /// Sends the lines to a server.
    pub(super) fn send(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let id = remote.id(&self.session)?;
        let mut lines = JsonLines::open(&self.file)?;
        if !self.stream {
            let mut batch = Vec::new();
            while let Some(line) = lines.next()? {
                line.draft()?;
                batch.push(line);
            }
            let sent = send(remote, &id, self.parent.as_deref(), &batch)?;
            acknowledge_sent(invocation, &sent)?;
            if sent.says("is_sibling") {
                mention_sibling(invocation, remote.describe(&id)?.items("leaves").len())?;
            }
            return Ok(Exit::Done);
        }
        let mut parent = self.parent.clone();
        let mut is_sibling = false;
        while let Some(line) = lines.next()? {
            line.draft()?;
            let sent = send(remote, &id, parent.as_deref(), std::slice::from_ref(&line))?;
            if let Err(error) = acknowledge_sent(invocation, &sent) {
                let gone = format!("nobody reads the acknowledgements any more; stopped after line {}", line.number);
                return Err(if Failure::of(&error).is_none() { Refusal::io(gone).into() } else { error });
            }
            if sent.says("is_sibling") && !std::mem::replace(&mut is_sibling, true) {
                mention_sibling(invocation, remote.describe(&id)?.items("leaves").len())?;
            }
            if let (Some(at), Some(entry)) = (&mut parent, sent.items("entries").last()) {
                // What follows hangs from the last entry that others can hang from.
                let stored = remote.get(&["sessions", &id, "entries", &format!("@{}", entry.word("id"))]);
                if is_visible(&remote.wait(stored.bytes())?) {
                    *at = entry.word("id").to_owned();
                }
            }
        }
        Ok(Exit::Done)
    }
}

/// Sends lines as one batch, byte for byte.
fn send(remote: &Remote, id: &str, parent: Option<&str>, lines: &[JsonLine]) -> anyhow::Result<Map<String, Value>> {
    let mut body = b"{\"entries\":[".to_vec();
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            body.push(b',');
        }
        body.extend_from_slice(line.bytes.trim_ascii());
    }
    let rest = parent.map(|parent| format!("],\"parent\":{}}}", Value::from(parent)));
    body.extend_from_slice(rest.as_deref().unwrap_or("]}").as_bytes());
    remote.answer(remote.client().ask(Method::POST, &["sessions", id, "entries"]).body(body))
}

fn acknowledge_sent(invocation: &mut Invocation<'_>, sent: &Map<String, Value>) -> anyhow::Result<()> {
    for written in sent.items("entries") {
        invocation.screen.json(json::members(written.clone()))?;
    }
    invocation.screen.flush()
}

fn is_visible(line: &[u8]) -> bool {
    let log = Log::from_bytes(&[line, b"\n"].concat(), Depth::Envelope);
    log.seqs().filter_map(|seq| log.record(seq)).any(Record::is_visible)
}
