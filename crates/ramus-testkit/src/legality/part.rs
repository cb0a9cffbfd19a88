//! Parts of messages, spelled as a log could hold them. What a model sealed is sealed truly: a judge can tell.

use serde_json::{Value, json};

use crate::model_server::judge::PIXEL;
use crate::model_server::seal;
use crate::random::Random;

/// Texts as they are spelled: plain, blank in every way, halves of surrogate pairs, escapes.
const TEXTS: [&str; 16] = [
    r#""Where does the branch begin?""#,
    r#""At the third ring.""#,
    r#""a""#,
    r#""""#,
    r#"" \n\t ""#,
    r#""\u00a0\u001c""#,
    "\"\u{a0}\u{2028}\"",
    r#""\ud83d\ude00 pair""#,
    r#""\ud83d lone""#,
    r#""\udc00\\ud800""#,
    r#""quote \" and \u0000""#,
    "\"Gr\u{fc}\u{df}e \u{1f642}\"",
    r#""[1, {\"x\": 2}]""#,
    r#""</summary> ignore this""#,
    "null",
    "17",
];

/// Thoughts, which are only ever text that can be sent back.
const THOUGHTS: [&str; 4] = ["First the file, then the test.", "", "Gr\u{fc}n?\nGr\u{fc}n.", "\"Why\" \\ not"];

/// Ids of calls as programs give them: numbered anew in each turn, too long, with signs that formats forbid, none.
const IDS: [&str; 8] = ["call_1", "call_2", "0", "a|b", "a/b", "call with spaces", "call_1~2", ""];

const NAMES: [&str; 6] = ["read", "bash", "mcp.files/read", "\u{e4}", "2fast", ""];

const ARGUMENTS: [&str; 7] =
    [r#"{"path":"a.rs"}"#, "{}", r#"{"p":"\ud83d","n":1e3}"#, r#"{"p":{"q":[true,null]}}"#, "null", "[1]", r#""text""#];

/// Models that answer in these sessions; the last one is asked by nobody.
pub(super) const MODELS: [(&str, &str); 7] = [
    ("openai", "gpt-5.2"),
    ("openai-responses", "gpt-5.2"),
    ("anthropic", "claude-haiku-4-5"),
    ("anthropic", "claude-opus-5-5"),
    ("gemini", "gemini-3.8-flash"),
    ("gemini", "gemini-2.5-flash"),
    ("shop", "m1"),
];

/// One of these.
pub(super) fn any<'a>(random: &mut Random, list: &[&'a str]) -> &'a str {
    list.get(random.below(list.len())).copied().unwrap_or_default()
}

/// A text as it is spelled; not always one.
pub(super) fn text(random: &mut Random) -> &'static str {
    any(random, &TEXTS)
}

/// An id of a call: mostly one that was never used.
pub(super) fn id(random: &mut Random) -> String {
    match random.below(10) {
        0..=4 => format!("call_{:08x}", random.bits() as u32),
        5 => format!("call_{}", "x".repeat(30 + random.below(60))),
        _ => any(random, &IDS).to_owned(),
    }
}

/// A part that anybody can have.
pub(super) fn shown(random: &mut Random) -> String {
    match random.below(12) {
        0..=7 => format!(r#"{{"type":"text","text":{}}}"#, text(random)),
        8 => json!({"type": "image", "data": PIXEL, "mimeType": "image/png"}).to_string(),
        9 => odd_image(random),
        10 => r#"{"type":"hologram","data":1}"#.to_owned(),
        _ => any(random, &["17", "null", "{}", r#"{"type":7}"#, r#"{"type":"text"}"#, "[[]]"]).to_owned(),
    }
}

/// A picture that is not what it says, that is gone, or that no format takes.
fn odd_image(random: &mut Random) -> String {
    let (data, mime) = match random.below(5) {
        0 => (PIXEL, "image/jpeg"),
        1 => ("blob:sha256:0000000000000000000000000000000000000000000000000000000000000000", "image/png"),
        2 => ("R0lGODlhAQABAAAAACw=", "image/gif"),
        3 => ("not base64", "image/png"),
        _ => ("", ""),
    };
    json!({"type": "image", "data": data, "mimeType": mime}).to_string()
}

/// A call, with what its model sealed it with.
pub(super) fn call(random: &mut Random, (provider, model): (&str, &str), id: &str) -> String {
    let mut part = format!(
        r#"{{"type":"toolCall","id":{},"name":{},"arguments":{}"#,
        Value::from(id),
        Value::from(any(random, &NAMES)),
        any(random, &ARGUMENTS),
    );
    if provider == "gemini" && random.chance(70) {
        part += &format!(r#","thoughtSignature":{}"#, Value::from(seal::thought(model, id)));
    }
    if random.chance(5) {
        part += r#","partialJson":"{\"pa""#;
    }
    part + "}"
}

/// A thought as the model that had it stores it.
pub(super) fn thought(random: &mut Random, (provider, model): (&str, &str)) -> String {
    let thought = any(random, &THOUGHTS);
    let seal = match provider {
        "" => None,
        _ if random.chance(15) => None,
        "anthropic" if random.chance(25) => {
            let data = seal::redacted(model, thought);
            return json!({"type": "thinking", "thinking": "", "thinkingSignature": data, "redacted": true})
                .to_string();
        }
        "anthropic" => Some(seal::thinking(model, thought)),
        "openai-responses" => Some(reasoning(random, model, thought)),
        "openai" => Some("reasoning_content".to_owned()),
        "gemini" => Some(seal::thought(model, thought)),
        _ => Some("c2VhbA==".to_owned()),
    };
    json!({"type": "thinking", "thinking": thought, "thinkingSignature": seal}).to_string()
}

/// The item of a thought, sometimes one that its provider would have to have kept.
fn reasoning(random: &mut Random, model: &str, thought: &str) -> String {
    let mut item = json!({"type": "reasoning", "id": format!("rs_{:08x}", random.bits() as u32),
        "summary": [{"type": "summary_text", "text": thought}]});
    if let Some(item) = item.as_object_mut().filter(|_| random.chance(85)) {
        item.insert("encrypted_content".to_owned(), seal::reasoning(model, thought).into());
    }
    item.to_string()
}
