//! Versions 1 and 2: read as they are, upgraded line by line.

use ramus_model::json::Raw;
use ramus_model::{Depth, Log, context, derived_entry_id, migrate};

const V1: &str = r#"{"type":"session","id":"v1id","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/tmp","provider":"anthropic"}
{"type":"message","timestamp":"2026-02-16T10:21:01.000Z","message":{"role":"user","content":"one"}}
not json
{"type":"message","timestamp":"2026-02-16T10:21:02.000Z","message":{"role":"assistant","content":[ {"type":"text","text":"two\ud83d"} ],"n":1.50}}
{"type":"message","timestamp":"2026-02-16T10:21:03.000Z","message":{"role":"hookMessage","content":"three"}}
{"type":"compaction","timestamp":"2026-02-16T10:22:05.000Z","summary":"S","firstKeptEntryIndex":2,"tokensBefore":5}
{"type":"message","timestamp":"2026-02-16T10:22:06.000Z","message":{"role":"user","content":"four"}}
{"type":"compaction","timestamp":"2026-02-16T10:22:07.000Z","summary":"T","firstKeptEntryIndex":99,"tokensBefore":5}
"#;

fn texts(bytes: &[u8], log: &Log, leaf: &str) -> Vec<String> {
    let Ok(context) = context::build(log, log.seq_of(leaf), bytes);
    let mut out = Vec::new();
    let Ok(()) = context::render::messages(log, &context, bytes, &mut out);
    Raw::parse(&out)
        .unwrap()
        .items()
        .map(|message| {
            let text = message.field("summary").or(message.field("content")).unwrap();
            format!("{}:{}", message.field("role").unwrap().text().unwrap(), String::from_utf8_lossy(text.bytes()))
        })
        .collect()
}

#[test]
fn version_1_gets_a_chain_of_derived_ids_that_never_change() {
    let log = Log::from_bytes(V1.as_bytes(), Depth::Whole);
    assert_eq!(log.len(), 6);
    assert!(log.is_legacy());
    let again = Log::from_bytes(V1.as_bytes(), Depth::Envelope);
    for (at, seq) in log.seqs().enumerate() {
        // The index counts the header and leaves out what is not JSON.
        assert_eq!(log.id(seq), derived_entry_id("v1id", at as u64 + 1, 8).as_str());
        assert_eq!(again.id(seq), log.id(seq));
        assert_eq!(log.record(seq).unwrap().parent().map(|parent| parent.number() as usize), (at > 0).then_some(at));
    }
}

#[test]
fn the_index_of_a_compaction_counts_the_header() {
    let log = Log::from_bytes(V1.as_bytes(), Depth::Whole);
    let sixth = log.id(log.seqs().nth(4).unwrap()).to_owned();
    assert_eq!(
        texts(V1.as_bytes(), &log, &sixth),
        [
            "compactionSummary:\"S\"",
            "assistant:[ {\"type\":\"text\",\"text\":\"two\\ud83d\"} ]",
            "custom:\"three\"",
            "user:\"four\""
        ]
    );
    let last = log.id(log.seqs().next_back().unwrap()).to_owned();
    assert_eq!(
        texts(V1.as_bytes(), &log, &last),
        ["compactionSummary:\"T\""],
        "an index beyond the file keeps nothing"
    );
}

#[test]
fn upgrading_gives_the_same_tree_and_context_and_touches_nothing_else() {
    let old = Log::from_bytes(V1.as_bytes(), Depth::Whole);
    assert!(migrate::is_needed(&old));
    let upgraded = migrate::upgrade(&old, V1.as_bytes());
    let new = Log::from_bytes(&upgraded, Depth::Whole);
    assert_eq!(new.header().unwrap().version, 3);
    assert_eq!(new.len(), old.len());
    for seq in old.seqs() {
        assert_eq!(new.id(seq), old.id(seq));
        assert_eq!(new.record(seq).unwrap().parent(), old.record(seq).unwrap().parent());
        assert_eq!(texts(&upgraded, &new, new.id(seq)), texts(V1.as_bytes(), &old, old.id(seq)));
    }
    let text = String::from_utf8(upgraded).unwrap();
    assert!(text.contains("\nnot json\n"), "damaged lines stay");
    assert!(
        text.contains(r#""content":[ {"type":"text","text":"two\ud83d"} ],"n":1.50}"#),
        "bodies keep their spelling"
    );
    assert!(text.contains(r#""provider":"anthropic""#), "unknown header members stay");
    assert!(!text.contains("firstKeptEntryIndex") && !text.contains("hookMessage"));
}

#[test]
fn version_2_changes_only_the_role_of_hooks() {
    let v2 = "{\"type\":\"session\",\"version\":2,\"id\":\"s\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/\"}\n\
              {\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-02-16T10:21:01.000Z\",\"message\":{\"role\":\"user\",\"content\": \"x\"}}\n\
              {\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"timestamp\":\"2026-02-16T10:21:01.000Z\",\"message\":{\"role\":\"hookMessage\",\"content\":\"y\",\"n\":1e3}}\n";
    let old = Log::from_bytes(v2.as_bytes(), Depth::Whole);
    let upgraded = String::from_utf8(migrate::upgrade(&old, v2.as_bytes())).unwrap();
    assert_eq!(upgraded, v2.replace("\"version\":2", "\"version\":3").replace("hookMessage", "custom"));
}
