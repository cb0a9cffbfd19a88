//! Making room: a model writes the summary; when it cannot, one is written without it.

use futures_util::StreamExt as _;
use ramus_agent::Input;
use ramus_model::context::provider::{Outgoing, Speaker, text_part};
use ramus_model::delta::{Answering, Finish};
use ramus_model::request::{Request, Thinking};
use ramus_provider::Resolved;

use super::inbox::Message;
use super::{Next, Running};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::settings::Settings;
use crate::verb::append::Written;
use crate::verb::compact::{Compact, Prepared, Transcript};

/// The agent that writes summaries.
const AGENT: &str = "compaction";

/// Who writes summaries, and how.
#[derive(Clone, Debug)]
pub struct Summariser {
    /// The model that is asked; none for the one that answers.
    pub model: Option<Resolved>,
    /// What it is told about itself.
    pub prompt: String,
}

/// The most tokens of a summary.
const LENGTH: u64 = 8_000;

impl Engine {
    /// Chooses who writes summaries when a window fills up.
    #[must_use]
    pub fn with_summariser(mut self, summariser: Summariser) -> Self {
        self.summariser = Some(summariser);
        self
    }
}

impl Running<'_> {
    pub(super) fn compact(&mut self) -> Result<Next, EngineError> {
        // A model that refuses a request knows its window better than we do.
        let keep = self.keep.unwrap_or_else(|| self.run.triggers.keep(self.run.facts.window));
        let Some(prepared) = self.engine.prepare_compaction(self.session, Compact { keep, force: true })? else {
            return Ok(Next::Happened(Input::Compacted(Err("there is nothing to summarise".into()))));
        };
        let transcript = prepared.transcript(self.session)?;
        let previous = prepared.previous.clone();
        self.compaction = Some(prepared);
        let summariser = self.engine.summariser.as_ref();
        let Resolved { provider, model } =
            summariser.and_then(|summariser| summariser.model.as_ref()).unwrap_or(&self.run.model).clone();
        let instructions = match summariser {
            Some(summariser) => summariser.prompt.clone(),
            None => Settings::defaults()?.agent(AGENT)?.prompt,
        };
        let inbox = self.inbox.clone();
        self.asking = Some(self.runtime.spawn(async move {
            let mut summary = String::new();
            for text in questions(&transcript, previous.as_deref()) {
                let request = Request {
                    model: model.clone(),
                    system: instructions.clone(),
                    messages: vec![Outgoing {
                        entry: None,
                        speaker: Speaker::User,
                        parts: vec![text_part(&text)],
                        by: None,
                    }],
                    tools: Vec::new(),
                    max_tokens: Some(LENGTH),
                    thinking: Thinking::Off,
                    cache_key: None,
                };
                let mut answer = Answering::default();
                let mut stream = provider.stream(request);
                while let Some(piece) = stream.next().await {
                    match piece {
                        Ok(delta) => answer.take(delta),
                        Err(error) => {
                            inbox.post(Message::Summary(Err(error.to_string())));
                            return;
                        }
                    }
                }
                // A summary that was cut off would leave out what came last.
                if answer.finish() == Some(&Finish::Length) || answer.text().trim().is_empty() {
                    inbox.post(Message::Summary(Err("the summary is not complete".into())));
                    return;
                }
                if !summary.is_empty() {
                    summary.push_str("\n\n---\n\n**Turn Context (split turn):**\n\n");
                }
                summary.push_str(answer.text().trim());
            }
            inbox.post(Message::Summary(Ok(summary)));
        }));
        Ok(Next::Nothing)
    }

    /// Writes the compaction.
    pub(super) fn take_summary(&mut self, summary: Result<String, String>) -> Result<Input, EngineError> {
        let Some(prepared) = self.compaction.take() else { return Ok(Input::Compacted(Err("too late".into()))) };
        let text = match summary {
            Ok(text) => text,
            Err(_) => prepared.plain_summary(self.session)?,
        };
        Ok(Input::Compacted(self.write_summary(&prepared, &text)))
    }

    fn write_summary(&mut self, prepared: &Prepared, text: &str) -> Result<(), String> {
        let compacted = self.engine.compact(self.session, prepared, text).map_err(|error| error.to_string())?;
        if let Some((id, seq)) =
            compacted.entry.and_then(|id| Some((id.clone(), self.session.log().seq_of(id.as_str())?)))
        {
            let parent = self.session.log().record(seq).and_then(|record| record.parent());
            let parent = parent.map(|parent| self.session.entry_id(parent));
            self.tell_appended(&Written { id, seq, parent });
        }
        Ok(())
    }
}

/// What the model is asked: about the history, and apart from it about the beginning of the turn that is cut.
fn questions(transcript: &Transcript, previous: Option<&str>) -> Vec<String> {
    let conversation = |text: &str| format!("<conversation>\n{text}</conversation>");
    let mut questions = Vec::new();
    if !transcript.history.is_empty() || previous.is_some() {
        let mut text = conversation(&transcript.history);
        if let Some(previous) = previous {
            text.push_str(&format!("\n\n<previous-summary>\n{previous}\n</previous-summary>\n\nBring the previous summary up to date with the conversation: keep what still holds, add what is new."));
        } else {
            text.push_str("\n\nSummarise this conversation.");
        }
        questions.push(text);
    }
    if let Some(turn) = &transcript.turn {
        questions.push(format!(
            "{}\n\nThis is the beginning of a turn that is still going on. Summarise what was asked and what was done so far.",
            conversation(turn)
        ));
    }
    questions
}
