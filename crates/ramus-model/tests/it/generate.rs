//! Made-up logs: any tree, any mix of kinds, any damage.

use proptest::prelude::*;

/// One entry to be: what it is, and which earlier entry it hangs from (as a fraction of those there are).
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) kind: u8,
    pub(crate) parent: u16,
    pub(crate) target: u16,
    pub(crate) text: String,
}

pub(crate) fn plans(max: usize) -> impl Strategy<Value = Vec<Plan>> {
    let text = prop_oneof![
        4 => "[a-z ]{0,12}",
        1 => Just("\u{1f600} \u{7}\t\"\\/".to_owned()),
        1 => "\\PC{0,8}",
    ];
    let plan = (0_u8..24, any::<u16>(), any::<u16>(), text);
    let plan = plan.prop_map(|(kind, parent, target, text)| Plan { kind, parent, target, text });
    prop::collection::vec(plan, 0..max)
}

pub(crate) const HEADER: &str = r#"{"type":"session","version":3,"id":"0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/tmp"}"#;

/// The id of the entry with this index.
pub(crate) fn id(index: usize) -> String {
    format!("{:08x}", index as u32 + 0xa000_0000)
}

/// Picks an earlier entry, the latest one most of the time.
fn pick(fraction: u16, before: usize) -> Option<usize> {
    match fraction % 8 {
        0 if before > 0 => Some(usize::from(fraction) % before),
        1 if fraction % 64 == 1 => None,
        _ => before.checked_sub(1),
    }
}

/// The line of the entry with this index.
pub(crate) fn line(index: usize, plan: &Plan) -> String {
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let parent = pick(plan.parent, index).map_or("null".to_owned(), |parent| quoted(&id(parent)));
    let target = quoted(&id(usize::from(plan.target) % index.max(1)));
    let text = quoted(&plan.text);
    let call = quoted(&format!("call{}", plan.target % 6));
    let other = quoted(&format!("call{}", plan.target % 5));
    let (kind, body) = match plan.kind {
        0..=3 => (
            "message",
            format!(r#""message":{{"role":"user","content":[{{"type":"text","text":{text}}}],"timestamp":1}}"#),
        ),
        4 => ("message", format!(r#""message":{{"role":"user","content":{text}}}"#)),
        5..=7 => (
            "message",
            format!(
                r#""message":{{"role":"assistant","content":[{{"type":"text","text":{text}}}],"provider":"p","model":"m{}","usage":{{"input":3,"output":1.0e0}},"stopReason":"stop"}}"#,
                plan.target % 3
            ),
        ),
        8 | 9 => (
            "message",
            format!(
                r#""message":{{"role":"assistant","content":[{{"type":"toolCall","id":{call},"name":"bash","arguments":{{"command":{text}}}}},{{"type":"toolCall","id":{other},"name":"read","arguments":{{}}}}]}}"#
            ),
        ),
        10 | 11 => (
            "message",
            format!(
                r#""message":{{"role":"toolResult","toolCallId":{call},"toolName":"bash","content":[{{"type":"text","text":{text}}}],"isError":false}}"#
            ),
        ),
        12 => ("message", format!(r#""message":{{"role":"system","content":{text}}}"#)),
        13 => ("compaction", format!(r#""summary":{text},"firstKeptEntryId":{target},"tokensBefore":10"#)),
        14 => ("branch_summary", format!(r#""fromId":{target},"summary":{text}"#)),
        15 => ("custom_message", format!(r#""customType":"x","content":{text},"display":true"#)),
        16 => (
            "model_change",
            format!(
                r#""model":"p/{}","role":{}"#,
                plan.target % 4,
                if plan.target.is_multiple_of(2) { "\"default\"" } else { "\"smol\"" }
            ),
        ),
        17 => ("thinking_level_change", r#""thinkingLevel":"high""#.to_owned()),
        18 => ("label", format!(r#""targetId":{target},"label":{text}"#)),
        19 => ("custom", r#""customType":"ramus.leaf","data":{"op":"branch"}"#.to_owned()),
        20 => ("ttsr_injection", r#""injectedRules":["a","b","a"]"#.to_owned()),
        21 => ("mode_change", r#""mode":"plan","data":{"n":1e3}"#.to_owned()),
        22 => ("somebody_elses_kind", r#""lone":"\ud83d","n":1.50"#.to_owned()),
        _ => ("message", r#""message":{"role":"user","content":null}"#.to_owned()),
    };
    format!(
        r#"{{"type":"{kind}","id":"{}","parentId":{parent},"timestamp":"2026-02-16T10:21:00.000Z",{body}}}"#,
        id(index)
    )
}

/// A whole file.
pub(crate) fn file(plans: &[Plan]) -> Vec<u8> {
    let mut text = format!("{HEADER}\n");
    for (index, plan) in plans.iter().enumerate() {
        text.push_str(&line(index, plan));
        text.push('\n');
    }
    text.into_bytes()
}
