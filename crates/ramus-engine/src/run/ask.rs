//! Making requests and listening to the answers.

use futures_util::StreamExt as _;
use ramus_agent::{Failure, Input, Prepared};
use ramus_model::blob::Restore;
use ramus_model::budget;
use ramus_model::context::provider::{self, Outgoing, Speaker};
use ramus_model::json::Raw;
use ramus_model::request::{Request, ToolDefinition};
use ramus_model::tokens;
use ramus_provider::ProviderError;

use super::Running;
use crate::error::EngineError;
use crate::verb::compact::Compact;

/// What a model is told when its answer was cut off.
const GO_ON: &str = "Your answer was cut off. Continue exactly where it stopped, without repeating anything.";

impl Running<'_> {
    /// Makes the request from the path as it is now.
    pub(super) fn prepare(&mut self, degrade: u8) -> Result<Prepared, String> {
        self.make_request(degrade).map_err(|error| error.to_string())
    }

    fn make_request(&mut self, degrade: u8) -> Result<Prepared, EngineError> {
        let session = &*self.session;
        let context = session.context(session.log().leaf())?;
        let lines = session.restored_lines(Restore::Everything);
        let mut messages = provider::messages(session.log(), &context, &lines)?;
        simplify(&mut messages, degrade);
        let facts = self.run.facts.clone();
        if let Some(window) = facts.window {
            let reserved = budget::max_tokens(window, 0, self.run.max_tokens, facts.output);
            budget::cut_results(&mut messages, budget::result_tokens(window, reserved));
        }
        let tools = self.run.tools.iter().map(|tool| tool.definition()).collect::<Vec<_>>();
        let counter = &*self.engine.counter;
        let besides = self.fixed_tokens(&tools);
        let tokens = tokens::count_outgoing(session.log(), &context, &session.lines(), &messages, besides, counter)?;
        let max_tokens = match facts.window {
            Some(window) => Some(budget::max_tokens(window, tokens, self.run.max_tokens, facts.output).max(1)),
            None => self.run.max_tokens.or(facts.output),
        };
        let keep = self.run.triggers.judge(facts.window, tokens, messages.len() as u64);
        // Only who needs room weighs the whole path.
        let needs_room = match keep {
            Some(keep) => self.engine.prepare_compaction(session, Compact { keep, force: true })?.is_some(),
            None => false,
        };
        self.request = Some(Request {
            model: self.model().clone(),
            system: self.run.system.clone(),
            messages,
            tools,
            max_tokens,
            thinking: self.run.thinking,
            cache_key: Some(self.session.id().to_string()),
        });
        self.keep = keep;
        Ok(Prepared { needs_room })
    }

    /// What goes out with every request, at four characters a token.
    fn fixed_tokens(&self, tools: &[ToolDefinition]) -> u64 {
        let definitions = tools.iter().map(|tool| tool.parameters.to_string().len() as u64 + 60).sum::<u64>();
        (self.run.system.len() as u64 + definitions) / 4
    }

    /// Asks the model and reports what it says.
    pub(super) fn ask(&mut self, said: &str) {
        let Some(mut request) = self.request.clone() else { return };
        self.timing.listen();
        if !said.is_empty() {
            self.journal.go_on();
            let by = Some(request.model.clone());
            let speaker = Speaker::Assistant(Vec::new());
            request.messages.push(Outgoing { entry: None, speaker, parts: vec![provider::text_part(said)], by });
            let parts = vec![provider::text_part(GO_ON)];
            request.messages.push(Outgoing { entry: None, speaker: Speaker::User, parts, by: None });
        }
        let mut answer = self.run.model.provider.stream(request);
        let inbox = self.inbox.clone();
        self.asking = Some(self.runtime.spawn(async move {
            while let Some(piece) = answer.next().await {
                match piece {
                    Ok(delta) => inbox.send(Input::Delta(delta)),
                    Err(error) => return inbox.send(Input::Answered(Err(failure(&error)))),
                }
            }
            inbox.send(Input::Answered(Ok(())));
        }));
    }

    pub(super) fn stop_asking(&mut self) {
        if let Some(asking) = self.asking.take() {
            asking.abort();
        }
    }
}

/// What can be done about an error.
pub(super) fn failure(error: &ProviderError) -> Failure {
    let reason = error.to_string();
    match error {
        ProviderError::Overflow { .. } => Failure::Overflow(reason),
        ProviderError::History { .. } => Failure::History(reason),
        error if error.is_passing() => Failure::Later(error.retry_after(), reason),
        _ => Failure::Final(reason),
    }
}

/// Makes a history simpler that was not accepted: without thoughts, without images too, as plain text.
fn simplify(messages: &mut Vec<Outgoing>, degrade: u8) {
    if degrade == 0 {
        return;
    }
    let kind = |part: &[u8]| {
        Raw::parse(part).and_then(|raw| raw.field("type")).and_then(Raw::text).map(|text| text.into_owned())
    };
    for message in messages.iter_mut() {
        message.parts.retain(|part| match kind(part).as_deref() {
            Some("thinking") => false,
            Some("image") => degrade < 2,
            _ => true,
        });
        if message.parts.is_empty() {
            message.parts.push(provider::text_part("[An image was here]"));
        }
    }
    if degrade >= 3 {
        messages.retain_mut(|message| {
            let is_result = matches!(message.speaker, Speaker::Tool(_));
            if let Speaker::Assistant(calls) = &mut message.speaker {
                calls.clear();
            }
            message.parts.retain(|part| kind(part).as_deref() == Some("text"));
            !is_result && !message.parts.is_empty()
        });
    }
}
