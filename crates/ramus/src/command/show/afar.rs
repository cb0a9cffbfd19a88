//! Messages of a session at a server.

use serde_json::{Map, Value, json};

use super::Show;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::Answer as _;

/// How many messages a server is asked for at a time.
const PAGE: usize = 10_000;

impl Show {
    /// Asks a server for messages: a page, or all when nobody said how many.
    pub(super) fn ask(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let (id, entry) = remote.target(&self.target)?;
        let mut cursor = self.cursor.clone();
        let mut whole: Option<Map<String, Value>> = None;
        loop {
            let request = remote.get(&["sessions", &id, "messages"]).maybe("entry", entry.as_ref());
            let request = request.maybe("cursor", cursor.as_ref());
            let mut page = remote.answer(request.query("limit", self.limit.unwrap_or(PAGE).to_string()))?;
            cursor = page.maybe("next_cursor").map(str::to_owned);
            let answer = match &mut whole {
                None => whole.insert(page),
                Some(answer) => {
                    if let (Some(Value::Array(all)), Some(Value::Array(more))) =
                        (answer.get_mut("messages"), page.get_mut("messages"))
                    {
                        all.append(more);
                    }
                    answer.insert("next_cursor".into(), json!(cursor));
                    answer
                }
            };
            if self.limit.is_some() || cursor.is_none() {
                let is_damaged = answer.get("session").is_some_and(|session| session.says("damaged"));
                invocation.screen.json(std::mem::take(answer))?;
                invocation.mention_if_damaged(is_damaged, &self.target)?;
                return Ok(Exit::Done);
            }
        }
    }
}
