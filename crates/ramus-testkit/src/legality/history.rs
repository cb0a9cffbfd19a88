//! What must hold of a history in no provider's words: a second opinion on the postconditions of the provider dialect.

use std::collections::HashSet;

use ramus_model::context::provider::{self, Outgoing, Speaker};
use ramus_model::{Depth, Log, Seq, context};

/// Judges a history, and returns what is wrong with it.
pub(super) fn judge(messages: &[Outgoing]) -> Result<(), String> {
    let mut waiting: Vec<&str> = Vec::new();
    let (mut ids, mut entries) = (HashSet::new(), HashSet::new());
    let mut has_begun = false;
    for message in messages {
        if message.parts.is_empty() {
            return Err("a message is empty".into());
        }
        // A compaction has two things to say: the instructions that it kept, and its summary.
        let is_system = message.speaker == Speaker::System;
        if message.entry.is_some_and(|entry| !entries.insert((entry, is_system))) {
            return Err("an entry is there twice".into());
        }
        if let Speaker::Tool(result) = &message.speaker {
            if waiting.is_empty() || waiting.remove(0) != result.call {
                return Err(format!("the result of {:?} is out of place", result.call));
            }
            continue;
        }
        if let Some(call) = waiting.first() {
            return Err(format!("the call {call:?} has no result"));
        }
        match &message.speaker {
            Speaker::System if has_begun => return Err("instructions come late".into()),
            Speaker::Assistant(calls) => {
                waiting = calls.iter().map(|call| call.id.as_str()).collect();
                if let Some(call) = waiting.iter().find(|id| !ids.insert(**id)) {
                    return Err(format!("two calls are called {call:?}"));
                }
            }
            _ => {}
        }
        has_begun |= message.speaker != Speaker::System;
    }
    waiting.first().map_or(Ok(()), |call| Err(format!("the call {call:?} has no result")))
}

/// Checks that a history which is stored and made again comes out as it went in.
pub(super) fn is_settled(messages: &[Outgoing]) -> Result<(), String> {
    if provider::repair(messages.to_vec()) != messages {
        return Err("repairing a repaired history changes it".into());
    }
    let mut first = Vec::new();
    provider::write(messages, &mut first);
    let stored = stored(&first).ok_or("a history is no list")?;
    let log = Log::from_bytes(&stored, Depth::Envelope);
    let Ok(context) = context::build(&log, log.leaf(), stored.as_slice());
    let Ok(again) = provider::messages(&log, &context, stored.as_slice());
    let mut second = Vec::new();
    provider::write(&again, &mut second);
    if first != second {
        let [first, second] = [first, second].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        return Err(format!("a history made of a history differs:\n{first}\n{second}"));
    }
    Ok(())
}

/// A session that holds these messages, one after the other.
fn stored(messages: &[u8]) -> Option<Vec<u8>> {
    let mut file =
        br#"{"type":"session","version":3,"id":"s","timestamp":"2026-03-02T08:00:00.000Z","cwd":"/tmp"}"#.to_vec();
    let mut parent = "null".to_owned();
    for (at, message) in ramus_model::json::Raw::parse(messages)?.items().enumerate() {
        let head = format!(
            "\n{{\"type\":\"message\",\"id\":\"e{at:07}\",\"parentId\":{parent},\"timestamp\":\"2026-03-02T08:00:01.000Z\",\"message\":"
        );
        file.extend_from_slice(head.as_bytes());
        file.extend_from_slice(message.bytes());
        file.push(b'}');
        parent = format!("\"e{at:07}\"");
    }
    file.push(b'\n');
    Some(file)
}

/// The entries of answers with calls, each with the entries of its results.
pub(super) fn pairs(messages: &[Outgoing]) -> Vec<(Seq, Seq)> {
    let mut answer = None;
    let mut pairs = Vec::new();
    for message in messages {
        match (&message.speaker, message.entry) {
            (Speaker::Tool(_), Some(result)) => pairs.extend(answer.map(|answer| (answer, result))),
            (Speaker::Tool(_), None) => {}
            (_, entry) => answer = entry,
        }
    }
    pairs
}

/// Checks that whoever left messages out left both halves of a pair or none.
pub(super) fn keeps_pairs(before: &[Outgoing], after: &[Outgoing]) -> Result<(), String> {
    let left: HashSet<Seq> = after.iter().filter_map(|message| message.entry).collect();
    match pairs(before).into_iter().find(|(call, result)| left.contains(call) != left.contains(result)) {
        Some((call, result)) => Err(format!("{call:?} and {result:?} were parted")),
        None => Ok(()),
    }
}
