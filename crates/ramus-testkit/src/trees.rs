//! Small session files of any shape: branches, several roots, every kind of entry the format knows, pointer moves,
//! compactions that keep something or nothing. Sound files, so that every program must make the same of them.

use serde_json::{Value, json};

use crate::random::Random;

/// Texts with what text can hold.
const TEXTS: [&str; 6] = ["", "plain", "t\u{f6}ne \u{1f333}", "tab\there\nand a line", "\"quoted\\\"", "\u{2028}"];

/// Makes a session file; the seed alone decides its bytes.
pub fn tree(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let header = json!({"type": "session", "version": 3, "id": format!("tree-{seed}"),
        "timestamp": "2026-03-02T08:00:00.000Z", "cwd": "/tmp/tree"});
    let mut file = format!("{header}\n");
    let mut ids: Vec<String> = Vec::new();
    let count = 1 + random.below(60);
    for at in 0..count {
        let id = format!("{:08x}", random.bits() as u32);
        let mut entry = json!({"type": "", "id": id, "parentId": parent(&mut random, &ids),
            "timestamp": format!("2026-03-02T08:{:02}:{:02}.000Z", at / 60, at % 60)});
        if let (Some(entry), Value::Object(body)) = (entry.as_object_mut(), body(&mut random, at, &ids)) {
            entry.extend(body);
        }
        file.push_str(&format!("{entry}\n"));
        ids.push(id);
    }
    file.into_bytes()
}

/// Mostly the entry before, sometimes any earlier one, rarely none.
fn parent<'a>(random: &mut Random, ids: &'a [String]) -> Option<&'a str> {
    if random.chance(3) {
        return None;
    }
    let any = random.below(ids.len());
    let at = if random.chance(25) { any } else { ids.len().saturating_sub(1) };
    ids.get(at).map(String::as_str)
}

fn body(random: &mut Random, at: usize, ids: &[String]) -> Value {
    let text = format!("{}{at}", TEXTS.get(random.below(TEXTS.len())).copied().unwrap_or_default());
    let part = json!([{"type": "text", "text": text}]);
    let earlier = ids.get(random.below(ids.len() + 1)).cloned().unwrap_or_else(|| "nowhere".to_owned());
    match random.below(20) {
        0..=4 => message(json!({"role": "user", "content": part})),
        5 => message(json!({"role": "user", "content": text})),
        6..=9 => message(answer(part, at)),
        10 => message(json!({"role": "toolResult", "toolCallId": format!("call{at}"), "toolName": "bash",
            "content": part, "isError": false})),
        11 => json!({"type": "compaction", "summary": text, "firstKeptEntryId": earlier, "tokensBefore": at}),
        12 => json!({"type": "branch_summary", "fromId": "root",
            "summary": if random.chance(50) { "" } else { &*text }}),
        13 => json!({"type": "custom_message", "customType": "note",
            "content": if random.chance(50) { part } else { Value::from(text) }, "display": true}),
        14 => {
            json!({"type": "model_change", "provider": "shop", "modelId": format!("m{at}"), "model": format!("shop/m{at}")})
        }
        15 => {
            json!({"type": "thinking_level_change", "thinkingLevel": if random.chance(30) { None } else { Some("high") }})
        }
        16 => json!({"type": "label", "targetId": earlier, "label": if random.chance(30) { "" } else { "here" }}),
        17 => json!({"type": "custom", "customType": "ramus.leaf", "data": {"op": "branch"}}),
        18 => json!({"type": "ttsr_injection", "injectedRules": ["one", format!("rule{}", at % 3)]}),
        _ if random.chance(50) => json!({"type": "mode_change", "mode": "plan", "data": {"step": at}}),
        _ => json!({"type": "kind_of_the_future", "n": at}),
    }
}

fn message(mut message: Value) -> Value {
    if let Some(message) = message.as_object_mut() {
        message.insert("timestamp".to_owned(), 1_772_438_400_000_u64.into());
    }
    json!({"type": "message", "message": message})
}

fn answer(content: Value, at: usize) -> Value {
    let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0});
    let usage = json!({"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": cost});
    json!({"role": "assistant", "content": content, "api": "none", "provider": "shop", "model": format!("m{}", at % 3),
        "usage": usage, "stopReason": "stop"})
}

#[cfg(test)]
mod tests {
    use super::tree;

    #[test]
    fn the_seed_alone_decides() {
        assert_eq!(tree(3), tree(3));
        assert_ne!(tree(3), tree(4));
    }
}
