//! What the pieces of an answer have become so far.

use serde_json::{Map, Value, json};

use super::{Delta, Finish};
use crate::message::Usage;
use crate::usage::{ModelName, Price, Tokens};

/// An answer that is coming in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answering {
    parts: Vec<Piece>,
    response: Option<String>,
    model: Option<String>,
    usage: Usage,
    /// What earlier rounds of an answer that was cut off used.
    earlier: Vec<Usage>,
    finish: Option<Finish>,
}

/// A part of the answer.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Thinking { text: String, seal: Option<String> },
    SealedThought(String),
    Call { index: usize, id: String, name: String, arguments: String, seal: Option<String> },
}

/// A call that a model makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    /// The id that its result must bear.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments; none when what came is not a JSON object.
    pub arguments: Option<Map<String, Value>>,
    /// The arguments as they came.
    pub spelled: String,
}

/// How an answer ended, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As the provider said.
    Whole,
    /// A person stopped it.
    Cancelled,
    /// Something went wrong, and what.
    Failed(String),
    /// The process that listened was gone before it was complete.
    Interrupted,
}

/// What the message of an answer that was interrupted says went wrong.
pub const INTERRUPTED: &str = "Interrupted: the process ended before the answer was complete";

impl Answering {
    /// Takes in a piece.
    pub fn take(&mut self, delta: Delta) {
        match delta {
            Delta::Started { response, model } => {
                self.response = response.or(self.response.take());
                self.model = model.or(self.model.take());
            }
            Delta::Text(more) => match self.parts.last_mut() {
                Some(Piece::Text(text)) => text.push_str(&more),
                _ if more.is_empty() => {}
                _ => self.parts.push(Piece::Text(more)),
            },
            Delta::Thinking(more) => match self.parts.last_mut() {
                Some(Piece::Thinking { text, seal: None }) => text.push_str(&more),
                _ if more.is_empty() => {}
                _ => self.parts.push(Piece::Thinking { text: more, seal: None }),
            },
            Delta::ThinkingSeal(more) => match self.parts.last_mut() {
                Some(Piece::Thinking { seal, .. }) => seal.get_or_insert_default().push_str(&more),
                _ => self.parts.push(Piece::Thinking { text: String::new(), seal: Some(more) }),
            },
            Delta::SealedThought(data) => self.parts.push(Piece::SealedThought(data)),
            Delta::Call { index, id, name } => self.start_call(index, id, &name),
            Delta::Arguments { index, text } => {
                if let Some(Piece::Call { arguments, .. }) = self.call(index) {
                    arguments.push_str(&text);
                }
            }
            Delta::CallSeal { index, seal: given } => {
                if let Some(Piece::Call { seal, .. }) = self.call(index) {
                    *seal = Some(given);
                }
            }
            Delta::Usage(usage) => self.report(usage),
            Delta::Finished(finish) => self.finish = Some(finish),
        }
    }

    /// Some providers name a call again with every piece, or its name in pieces.
    fn start_call(&mut self, index: usize, given_id: String, more: &str) {
        match self.call(index) {
            Some(Piece::Call { id, name, .. }) => {
                if id.is_empty() {
                    *id = given_id;
                }
                if name != more {
                    name.push_str(more);
                }
            }
            _ => self.parts.push(Piece::Call {
                index,
                id: given_id,
                name: more.to_owned(),
                arguments: String::new(),
                seal: None,
            }),
        }
    }

    fn call(&mut self, number: usize) -> Option<&mut Piece> {
        self.parts.iter_mut().find(|piece| matches!(piece, Piece::Call { index, .. } if *index == number))
    }

    fn report(&mut self, new: Usage) {
        let keep = |old: u64, new: u64| if new > 0 { new } else { old };
        self.usage = Usage {
            input: keep(self.usage.input, new.input),
            output: keep(self.usage.output, new.output),
            cache_read: keep(self.usage.cache_read, new.cache_read),
            cache_write: keep(self.usage.cache_write, new.cache_write),
            total: keep(self.usage.total, new.total),
            cost_micros: new.cost_micros.or(self.usage.cost_micros),
        };
    }

    /// Goes on with an answer that was cut off by its length: what comes next is the same text.
    pub fn go_on(&mut self) {
        self.finish = None;
        self.earlier.push(std::mem::take(&mut self.usage));
    }

    /// Returns the text so far.
    pub fn text(&self) -> String {
        let text = |piece: &Piece| if let Piece::Text(text) = piece { Some(text.clone()) } else { None };
        self.parts.iter().filter_map(text).collect()
    }

    /// Says whether nothing came that is worth storing.
    pub fn is_empty(&self) -> bool {
        self.content(&Ending::Whole).is_empty()
    }

    /// Returns what was used: the prompt of the last round, and what all rounds wrote.
    pub fn usage(&self) -> Usage {
        let written = self.earlier.iter().map(|usage| usage.output).fold(self.usage.output, u64::saturating_add);
        let total = if self.earlier.is_empty() { self.usage.total } else { 0 };
        Usage { output: written, total, ..self.usage }
    }

    /// Returns why it ended, if it did.
    pub fn finish(&self) -> Option<&Finish> {
        self.finish.as_ref()
    }

    /// Returns the calls it makes, in order. Only an answer that is complete makes any.
    pub fn calls(&self) -> Vec<Called> {
        let calls = self.parts.iter().filter_map(|piece| match piece {
            Piece::Call { id, name, arguments, .. } if !name.is_empty() => Some(Called {
                id: id.clone(),
                name: name.clone(),
                arguments: object(arguments),
                spelled: arguments.clone(),
            }),
            _ => None,
        });
        calls.collect()
    }

    /// Gives calls that have no id, or one that was there before, an id of their own.
    pub fn name_calls(&mut self, mut fresh: impl FnMut() -> String) {
        let mut known = std::collections::HashSet::new();
        for piece in &mut self.parts {
            if let Piece::Call { id, .. } = piece
                && (id.is_empty() || !known.insert(id.clone()))
            {
                *id = fresh();
                known.insert(id.clone());
            }
        }
    }

    /// Returns the message that is stored: `asked` is the model that was asked, `api` the way it was asked, `price` what
    /// it costs, `millis` the time it ends.
    pub fn message(&self, asked: &ModelName, api: &str, price: Option<Price>, ending: &Ending, millis: i64) -> Value {
        let stop_reason = match ending {
            Ending::Whole => self.finish.as_ref().map_or("stop", Finish::stop_reason),
            Ending::Cancelled | Ending::Interrupted => "aborted",
            Ending::Failed(_) => "error",
        };
        let mut message = json!({
            "role": "assistant",
            "content": self.content(ending),
            "api": api,
            "provider": asked.provider,
            "model": self.model.as_ref().unwrap_or(&asked.model),
            "usage": self.usage_json(price),
            "stopReason": stop_reason,
            "timestamp": millis,
        });
        let reason = match (ending, &self.finish) {
            (Ending::Failed(reason), _) | (Ending::Whole, Some(Finish::Refused(reason))) => Some(reason.clone()),
            (Ending::Interrupted, _) => Some(INTERRUPTED.to_owned()),
            _ => None,
        };
        if let Some(object) = message.as_object_mut() {
            object.extend(self.response.iter().map(|id| ("responseId".to_owned(), Value::from(id.clone()))));
            object.extend(reason.map(|reason| ("errorMessage".to_owned(), Value::from(reason))));
        }
        message
    }

    /// An answer that ended early makes no calls: their arguments may not be whole, and nobody will run them.
    fn content(&self, ending: &Ending) -> Vec<Value> {
        let has_calls = *ending == Ending::Whole;
        let json = |piece: &Piece| match piece {
            Piece::Text(text) if text.is_empty() => None,
            Piece::Text(text) => Some(json!({"type": "text", "text": text})),
            Piece::Thinking { text, seal: None } => Some(json!({"type": "thinking", "thinking": text})),
            Piece::Thinking { text, seal: Some(seal) } => {
                Some(json!({"type": "thinking", "thinking": text, "thinkingSignature": seal}))
            }
            Piece::SealedThought(data) => {
                Some(json!({"type": "thinking", "thinking": "", "thinkingSignature": data, "redacted": true}))
            }
            Piece::Call { name, .. } if name.is_empty() || !has_calls => None,
            Piece::Call { id, name, arguments, seal, .. } => {
                let arguments = object(arguments).unwrap_or_default();
                let mut call = json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments});
                if let (Some(seal), Some(call)) = (seal, call.as_object_mut()) {
                    call.insert("thoughtSignature".into(), Value::from(seal.clone()));
                }
                Some(call)
            }
        };
        self.parts.iter().filter_map(json).collect()
    }

    /// Every round is paid for.
    fn usage_json(&self, price: Option<Price>) -> Value {
        let mut spent = Tokens::default();
        let mut reported = Some(0_u64);
        for usage in self.earlier.iter().chain([&self.usage]) {
            spent.add(Tokens::from(usage));
            reported = reported.zip(usage.cost_micros).map(|(sum, micros)| sum.saturating_add(micros));
        }
        let dollars = |micros: u64| micros as f64 / 1e6;
        let part = |tokens: Tokens| price.map_or(0.0, |price| dollars(price.of(tokens)));
        let total = reported.or(price.map(|price| price.of(spent))).map_or(0.0, dollars);
        let Tokens { input, output, cache_read, cache_write } = spent;
        let none = Tokens::default();
        let usage = self.usage();
        json!({
            "input": usage.input, "output": usage.output,
            "cacheRead": usage.cache_read, "cacheWrite": usage.cache_write,
            "totalTokens": usage.tokens(),
            "cost": {
                "input": part(Tokens { input, ..none }),
                "output": part(Tokens { output, ..none }),
                "cacheRead": part(Tokens { cache_read, ..none }),
                "cacheWrite": part(Tokens { cache_write, ..none }),
                "total": total,
            },
        })
    }
}

/// Reads arguments. None that came are an empty object: some providers send nothing for a tool without arguments.
fn object(text: &str) -> Option<Map<String, Value>> {
    if text.trim().is_empty() {
        return Some(Map::new());
    }
    serde_json::from_str(text).ok()
}
