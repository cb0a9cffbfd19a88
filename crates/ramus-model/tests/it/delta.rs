//! An answer that comes in: whatever was streamed, what is there can be stored.

use proptest::prelude::*;
use ramus_model::delta::{Answering, Delta, Ending, Finish};
use ramus_model::message::Usage;
use ramus_model::usage::{ModelName, Price};
use serde_json::json;

fn model() -> ModelName {
    ModelName { provider: "anthropic".into(), model: "claude".into() }
}

fn answering(deltas: impl IntoIterator<Item = Delta>) -> Answering {
    let mut answering = Answering::default();
    deltas.into_iter().for_each(|delta| answering.take(delta));
    answering
}

#[test]
fn pieces_become_a_message() {
    let call = |index, id: &str, name: &str| Delta::Call { index, id: id.into(), name: name.into() };
    let more = |index, text: &str| Delta::Arguments { index, text: text.into() };
    let answer = answering([
        Delta::Started { response: Some("r1".into()), model: Some("claude-20".into()) },
        Delta::Thinking("let ".into()),
        Delta::Thinking("me see".into()),
        Delta::ThinkingSeal("seal".into()),
        Delta::Text("I ".into()),
        Delta::Text("look".into()),
        call(0, "c1", "read"),
        call(1, "c2", "list"),
        more(1, ""),
        more(0, "{\"path\":"),
        more(0, "\"a\"}"),
        Delta::Usage(Usage { input: 10, cache_read: 5, ..Usage::default() }),
        Delta::Usage(Usage { output: 7, ..Usage::default() }),
        Delta::Finished(Finish::Calls),
    ]);
    let price = Price { input: 1_000_000, output: 2_000_000, cache_read: 0, cache_write: 0 };
    let message = answer.message(&model(), "anthropic-messages", Some(price), &Ending::Whole, 7);
    assert_eq!(
        message,
        json!({
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "let me see", "thinkingSignature": "seal"},
                {"type": "text", "text": "I look"},
                {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}},
                {"type": "toolCall", "id": "c2", "name": "list", "arguments": {}},
            ],
            "api": "anthropic-messages", "provider": "anthropic", "model": "claude-20",
            "usage": {
                "input": 10, "output": 7, "cacheRead": 5, "cacheWrite": 0, "totalTokens": 22,
                "cost": {"input": 0.00001, "output": 0.000014, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 0.000024},
            },
            "stopReason": "toolUse", "timestamp": 7, "responseId": "r1",
        })
    );
}

#[test]
fn an_answer_that_was_stopped_keeps_its_text_and_makes_no_call() {
    let mut answer = answering([
        Delta::Text("half a".into()),
        Delta::Call { index: 0, id: "c".into(), name: "bash".into() },
        Delta::Arguments { index: 0, text: "{\"command\":\"rm".into() },
    ]);
    let message = answer.message(&model(), "x", None, &Ending::Cancelled, 0);
    assert_eq!(message["content"], json!([{"type": "text", "text": "half a"}]));
    assert_eq!(message["stopReason"], "aborted");
    assert_eq!(answer.calls()[0].arguments, None);
    let failed = answer.message(&model(), "x", None, &Ending::Failed("the line broke".into()), 0);
    assert_eq!((&failed["stopReason"], &failed["errorMessage"]), (&json!("error"), &json!("the line broke")));
    answer.name_calls(|| "fresh".into());
    assert_eq!(answer.calls()[0].id, "c");
}

#[test]
fn calls_without_an_id_of_their_own_get_one() {
    let call = |index, id: &str| Delta::Call { index, id: id.into(), name: "read".into() };
    let mut answer = answering([call(0, ""), call(1, "a"), call(2, "a")]);
    let mut next = 0;
    answer.name_calls(|| {
        next += 1;
        format!("new{next}")
    });
    let ids: Vec<_> = answer.calls().into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["new1", "a", "new2"]);
}

proptest! {
    #[test]
    fn no_text_is_lost_however_it_is_cut(text in "\\PC{0,60}", cuts in prop::collection::vec(0..60_usize, 0..8)) {
        let letters: Vec<char> = text.chars().collect();
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= letters.len()).chain([0, letters.len()]).collect();
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| Delta::Text(letters[cut[0]..cut[1]].iter().collect()));
        prop_assert_eq!(answering(pieces).text(), text);
    }
}
