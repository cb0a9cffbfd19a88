//! Bringing messages into an order and completeness that every provider accepts.

use hashbrown::HashMap;

use super::{Call, MISSING_RESULT, NO_OUTPUT, Outgoing, Speaker, text_part};
use crate::json::{Raw, quote};
use crate::message::ToolResult;

/// Repairs a history: system messages first, every call with exactly one result behind it, no id twice.
///
/// A result belongs to the last call before it with its id, because programs that number their calls anew in each turn use
/// ids again. One that comes before its call, or for a call that has a result, belongs to nothing.
pub fn repair(messages: Vec<Outgoing>) -> Vec<Outgoing> {
    let mut open: HashMap<String, usize> = HashMap::new();
    let mut results: Vec<Option<Outgoing>> = Vec::new();
    let mut repaired = Vec::with_capacity(messages.len());
    let mut others = Vec::with_capacity(messages.len());
    for message in messages {
        match &message.speaker {
            Speaker::Tool(result) => {
                let at = open.remove(&result.call);
                if let Some(place) = at.and_then(|at| results.get_mut(at)) {
                    *place = Some(message);
                }
            }
            _ if message.parts.is_empty() => {}
            Speaker::System => repaired.push(message),
            Speaker::User => others.push(message),
            Speaker::Assistant(calls) => {
                for call in calls {
                    open.insert(call.id.clone(), results.len());
                    results.push(None);
                }
                others.push(message);
            }
        }
    }
    let (mut results, mut ids) = (results.into_iter(), CallIds::default());
    for mut message in others {
        let calls = ids.tell_apart(&mut message);
        repaired.push(message);
        repaired.extend(calls.into_iter().map(|call| answer(call, results.next().flatten())));
    }
    repaired
}

/// The result of a call: the one that was found, or one that says that there is none.
fn answer(call: Call, found: Option<Outgoing>) -> Outgoing {
    match found {
        Some(mut message) => {
            if let Speaker::Tool(result) = &mut message.speaker {
                result.call = call.id;
            }
            if message.parts.is_empty() {
                message.parts.push(text_part(NO_OUTPUT));
            }
            message
        }
        None => {
            let result = ToolResult { call: call.id, name: call.name, is_error: true };
            Outgoing { entry: None, speaker: Speaker::Tool(result), parts: vec![text_part(MISSING_RESULT)], by: None }
        }
    }
}

/// The ids of all calls so far. What an id becomes depends only on what came before it, so that prompts stay cacheable.
#[derive(Default)]
struct CallIds {
    used: HashMap<String, usize>,
}

impl CallIds {
    /// Numbers ids that were used before, in the calls of a message and in its parts, and returns the calls.
    fn tell_apart(&mut self, message: &mut Outgoing) -> Vec<Call> {
        let Outgoing { speaker: Speaker::Assistant(calls), parts, .. } = message else { return Vec::new() };
        let mut renamed = HashMap::new();
        for call in calls.iter_mut() {
            let id = self.next(&call.id);
            if id != call.id {
                renamed.insert(std::mem::replace(&mut call.id, id.clone()), id);
            }
        }
        if !renamed.is_empty() {
            parts.iter_mut().for_each(|part| rename(part, &renamed));
        }
        calls.clone()
    }

    fn next(&mut self, id: &str) -> String {
        let mut name = id.to_owned();
        loop {
            let Some(times) = self.used.get_mut(&name) else {
                self.used.insert(name.clone(), 1);
                return name;
            };
            *times += 1;
            name = format!("{name}~{times}");
        }
    }
}

/// Gives the call in a part its new id; every other byte stays.
fn rename(part: &mut Vec<u8>, renamed: &HashMap<String, String>) {
    let Some(raw) = Raw::parse(part) else { return };
    let text = |name: &str| raw.field(name).and_then(Raw::text);
    if !matches!(text("type").as_deref(), Some("toolCall" | "tool_use")) {
        return;
    }
    let Some(new) = text("id").and_then(|id| renamed.get(&*id)) else { return };
    let mut spelled = vec![b'{'];
    for (key, value) in raw.raw_fields() {
        if spelled.len() > 1 {
            spelled.push(b',');
        }
        spelled.extend_from_slice(key.bytes());
        spelled.push(b':');
        if key.text().as_deref() == Some("id") {
            quote(new, &mut spelled);
        } else {
            spelled.extend_from_slice(value.bytes());
        }
    }
    spelled.push(b'}');
    *part = spelled;
}
