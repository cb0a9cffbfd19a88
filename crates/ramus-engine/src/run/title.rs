//! A title for a session that has none, asked of the model when its first turn is over.
//!
//! The invariant: a turn never depends on it. Whatever goes wrong, the session keeps the title that is made from its time.

use std::time::Duration;

use futures_util::StreamExt as _;
use ramus_model::context::provider::{Outgoing, Speaker, text_part};
use ramus_model::delta::Answering;
use ramus_model::operation::Operations;
use ramus_model::request::{Request, Thinking};
use ramus_model::{Draft, Role, title};
use ramus_provider::Resolved;
use ramus_store::Residence;
use tokio::runtime::Handle;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::create::{check_title, title_body};

/// What the model is told. Servers that stand in for a model know such requests by it.
pub const TITLE_INSTRUCTIONS: &str = "You name conversations between a person and a coding agent. Answer with the title \
alone: at most eight words, in the language of the person, without quotes and without a full stop. Do not answer the \
conversation.";

/// The most tokens of a title.
const TOKENS: u64 = 30;

/// How much of the conversation the model is shown, in characters of each message.
const SHOWN: usize = 2_000;

/// How long a title is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

impl Engine {
    /// Asks the model for a title and gives it to the session, unless it has one. Returns the title that it got.
    pub fn make_title(
        &self,
        session: &mut Session,
        model: &Resolved,
        runtime: &Handle,
    ) -> Result<Option<String>, EngineError> {
        if title::given(session.log()).is_some() || session.residence() == Residence::InPlace {
            return Ok(None);
        }
        let Some(request) = request(session, model)? else { return Ok(None) };
        let Some(mut stream) = model.provider.title(request) else { return Ok(None) };
        let listen = async {
            let mut answer = Answering::default();
            while let Some(piece) = stream.next().await {
                answer.take(piece.ok()?);
            }
            Some(answer.text())
        };
        // A timer is made inside the runtime that it belongs to.
        let said = runtime.block_on(async { tokio::time::timeout(PATIENCE, listen).await });
        let Some(title) = said.ok().flatten().and_then(|said| tidy(&said)) else { return Ok(None) };
        self.title_of_turn(session, &title)?;
        Ok(Some(title))
    }
}

impl Engine {
    /// Gives a title as part of the turn that it was made for: who takes the turn back takes its title back.
    fn title_of_turn(&self, session: &mut Session, title: &str) -> Result<(), EngineError> {
        let last = Operations::of(session.log(), &session.lines()).next_operation()?;
        let turn = last.filter(|last| last.name == "run");
        let mut doing = match &turn {
            Some(turn) => Doing::called("run", self, &turn.id).goes_on(),
            None => Doing::one("rename", self),
        };
        self.record(session, &mut doing, vec![Draft::new(title_body(&check_title(title)?))]).map(drop)
    }
}

/// Makes the request from what was said first, and what was answered.
fn request(session: &Session, model: &Resolved) -> Result<Option<Request>, EngineError> {
    let log = session.log();
    let mut shown = String::new();
    let mut is_said = false;
    for seq in log.path(log.leaf()) {
        let role = log.record(seq).map(|record| record.role);
        let (Some(role @ (Role::User | Role::Assistant)), Some(message)) = (role, session.message(seq)?) else {
            continue;
        };
        let name = if role == Role::User { "person" } else { "agent" };
        let text: String = message.text().chars().take(SHOWN).collect();
        is_said |= role == Role::User && !text.trim().is_empty();
        shown.push_str(&format!("<{name}>\n{text}\n</{name}>\n"));
        if role == Role::Assistant && !text.trim().is_empty() {
            break;
        }
    }
    if !is_said {
        return Ok(None);
    }
    let parts = vec![text_part(&format!("{shown}\nWhat is the title of this conversation?"))];
    Ok(Some(Request {
        model: model.model.clone(),
        system: TITLE_INSTRUCTIONS.to_owned(),
        messages: vec![Outgoing { entry: None, speaker: Speaker::User, parts, by: None }],
        tools: Vec::new(),
        max_tokens: Some(TOKENS),
        thinking: Thinking::Off,
        cache_key: None,
    }))
}

/// Makes one short line of what a model said; none when nothing of it is left.
fn tidy(said: &str) -> Option<String> {
    let said = said.trim_start();
    title::made_of(said.strip_prefix("Title:").unwrap_or(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_may_say_that_it_says_a_title() {
        assert_eq!(tidy("\nTitle: \"Sort a list.\"\nmore").as_deref(), Some("Sort a list"));
        assert_eq!(tidy(" \n"), None);
    }
}
