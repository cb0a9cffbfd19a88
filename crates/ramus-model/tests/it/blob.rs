//! What leaves a line and comes back.

use std::collections::HashMap;

use proptest::prelude::*;
use ramus_model::blob::{
    BlobHash, Externalised, MAX_TEXT_UNITS, NOTICE, References, Restore, externalise, named, restore,
};
use serde_json::{Value, json};

/// Base64 of `len` characters.
fn base64(len: usize) -> String {
    "QUJD".repeat(len / 4)
}

fn message(message: &Value) -> String {
    json!({"type": "message", "id": "a", "parentId": null, "timestamp": "t", "message": message}).to_string()
}

fn user(part: &Value) -> String {
    message(&json!({"role": "user", "content": [part]}))
}

fn parsed(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

/// Resolves with the blobs that left.
fn back(external: &Externalised, what: Restore) -> Vec<u8> {
    let blobs: HashMap<BlobHash, &[u8]> = external.blobs.iter().map(|blob| (blob.hash(), blob.bytes())).collect();
    let restored = restore(&external.line, what, &mut |hash| blobs.get(&hash).map(|bytes| bytes.to_vec()));
    assert_eq!(restored.missing, []);
    restored.line.into_owned()
}

#[test]
fn what_needs_no_change_is_not_changed() {
    let long = "x".repeat(MAX_TEXT_UNITS + 1);
    let cases = [
        user(&json!({"type": "image", "mimeType": "image/png", "data": base64(1020)})),
        user(&json!({"type": "image", "mimeType": "image/png", "data": format!("{}!", base64(2048))})),
        user(&json!({"type": "image", "data": format!("{}QR==", base64(2048))})),
        user(&json!({"type": "image", "data": base64(2048) + "\n"})),
        user(&json!({"type": "text", "text": "x".repeat(MAX_TEXT_UNITS)})),
        user(&json!({"type": "text", "text": long, "textSignature": "s"})),
        user(&json!({"type": "thinking", "thinking": long, "thinkingSignature": long})),
        user(&json!({"type": "redacted", "data": long, "encrypted": long})),
        user(&json!({"type": "toolCall", "id": "c", "name": "write", "thoughtSignature": long,
            "arguments": {"content": long, "lineCount": 1, "partialJson": "kept", "image_url": format!("data:{long}")}})),
        message(&json!({"role": "user", "content": "short", "output": long})),
        json!({"type": "custom", "customType": "x", "data": {"content": long, "lineCount": 1, "partialJson": 1}})
            .to_string(),
        r#"{"type":"message","message":{"content":[{"type":"text","text":"a"}]},"partialJson""#.to_owned(),
    ];
    for line in cases {
        assert_eq!(externalise(line.as_bytes()), None, "{}", &line[..200.min(line.len())]);
    }
}

#[test]
fn a_picture_becomes_a_reference_and_comes_back() {
    for len in [1024, 1028, 1 << 16] {
        let line = user(&json!({"type": "image", "mimeType": "image/png", "data": base64(len)}));
        let external = externalise(line.as_bytes()).unwrap();
        assert_eq!(external.blobs[0].bytes(), "ABC".repeat(len / 4).as_bytes());
        let reference = format!("blob:sha256:{}", external.blobs[0].hash());
        assert_eq!(parsed(&external.line)["message"]["content"][0]["data"], reference);
        assert_eq!(back(&external, Restore::Everything), line.as_bytes());
        assert_eq!(back(&external, Restore::Pictures), line.as_bytes());
        assert_eq!(back(&external, Restore::Texts), external.line);
        assert_eq!(named(&external.line), [external.blobs[0].hash()]);
    }
}

#[test]
fn data_urls_are_kept_whole() {
    let url = format!("data:image/png;base64,{}", base64(2048));
    for part in [
        json!({"type": "image_url", "image_url": {"url": url, "detail": "low"}}),
        json!({"type": "input_image", "image_url": url}),
    ] {
        let line = user(&part);
        let external = externalise(line.as_bytes()).unwrap();
        assert_eq!(external.blobs[0].bytes(), url.as_bytes());
        assert_eq!(back(&external, Restore::Everything), line.as_bytes());
    }
    let far = user(&json!({"type": "input_image", "image_url": format!("https://example.org/{}", base64(2048))}));
    assert_eq!(externalise(far.as_bytes()), None);
}

#[test]
fn long_texts_are_cut_to_the_limit_wherever_they_stand() {
    let long = "é\n".repeat(MAX_TEXT_UNITS);
    let custom = json!({"type": "custom_message", "id": "a", "customType": "x", "content": long, "display": true});
    let cases = [
        (user(&json!({"type": "text", "text": long})), "/message/content/0", "text"),
        (message(&json!({"role": "user", "content": long, "timestamp": 1})), "/message", "content"),
        (message(&json!({"role": "bashExecution", "command": "ls", "output": long})), "/message", "output"),
        (
            message(&json!({"role": "toolResult", "content": [], "details": {"content": long, "lineCount": 7}})),
            "/message/details",
            "content",
        ),
        (custom.to_string(), "", "content"),
    ];
    for (line, object, member) in cases {
        let external = externalise(line.as_bytes()).unwrap();
        let stored = parsed(&external.line);
        let object = stored.pointer(object).unwrap();
        let text = object[member].as_str().unwrap();
        assert_eq!(text.encode_utf16().count(), MAX_TEXT_UNITS);
        assert!(text.ends_with(NOTICE));
        assert_eq!(object["ramusBlob"], json!({member: format!("sha256:{}", external.blobs[0].hash())}));
        assert_eq!(external.blobs[0].bytes(), long.as_bytes());
        if object.get("lineCount").is_some() {
            assert_eq!(object["lineCount"], text.split('\n').count());
        }
        let mut expected = parsed(line.as_bytes());
        if let Some(count) = expected.pointer_mut("/message/details/lineCount") {
            *count = long.split('\n').count().into();
        }
        assert_eq!(parsed(&back(&external, Restore::Everything)), expected);
        assert_eq!(back(&external, Restore::Pictures), external.line);
        let gone = restore(&external.line, Restore::Everything, &mut |_| None);
        assert_eq!((&*gone.line, gone.missing), (external.line.as_slice(), vec![external.blobs[0].hash()]));
    }
}

#[test]
fn transient_members_are_dropped_at_any_place() {
    let line = |inner: &str| format!(r#"{{"type":"message","message":{{"role":"assistant","content":[{inner}]}}}}"#);
    for (with, without) in [
        (r#"{ "partialJson":"{","type":"toolCall" }"#, r#"{ "type":"toolCall" }"#),
        (r#"{"type":"toolCall" , "partialJson":[1,{"a":2}] ,"id":"c"}"#, r#"{"type":"toolCall" ,"id":"c"}"#),
        (r#"{"type":"toolCall","jsonlEvents":[],"partialJson":{}}"#, r#"{"type":"toolCall"}"#),
        (r#"{"partialJson":1,"jsonlEvents":2}"#, "{}"),
        (r#"{"partialJson":1,"jsonlEvents":2,"a":{"partialJson":3}}"#, r#"{"a":{}}"#),
        (r#"{"arguments":{"partialJson":1},"partialJson":1}"#, r#"{"arguments":{"partialJson":1}}"#),
    ] {
        let external = externalise(line(with).as_bytes()).unwrap();
        assert_eq!(String::from_utf8(external.line).unwrap(), line(without));
    }
}

#[test]
fn a_missing_picture_is_said_to_be_missing_where_it_was() {
    let hash = "0".repeat(64);
    let line = user(&json!({"type": "image", "mimeType": "image/png", "data": format!("blob:sha256:{hash}")}));
    let restored = restore(line.as_bytes(), Restore::Everything, &mut |_| None);
    let part = &parsed(&restored.line)["message"]["content"][0];
    assert_eq!(*part, json!({"type": "text", "text": format!("[missing blob sha256:{hash}]")}));
}

#[test]
fn only_plain_references_to_plain_names_are_followed() {
    let hash = "a".repeat(64);
    let references = [
        format!("blob:sha256:{}", hash.to_uppercase()),
        format!("blob:sha256:{}", &hash[1..]),
        format!("blob:sha256:../{}", &hash[3..]),
        format!("blob:sha256:{hash}/x"),
        format!("blob:sha512:{hash}"),
        format!(r"blob:sha256\u003a{hash}"),
        "blob:sha256:https://example.org/".to_owned(),
    ];
    for reference in references {
        let line = format!(r#"{{"type":"message","message":{{"content":[{{"type":"image","data":"{reference}"}}]}}}}"#);
        let restored = restore(line.as_bytes(), Restore::Everything, &mut |_| Some(Vec::new()));
        assert_eq!(&*restored.line, line.as_bytes(), "{reference}");
    }
}

#[test]
fn depth_and_length_do_not_hurt() {
    for deep in ["[".repeat(1 << 20), "{\"content\":[".repeat(1 << 18), "{\"partialJson\":".repeat(1 << 18)] {
        let line = format!("{{\"type\":\"message\",\"message\":{deep}");
        assert_eq!(externalise(line.as_bytes()), None);
        restore(format!("{line}blob:sha256:ramusBlob").as_bytes(), Restore::Everything, &mut |_| None);
    }
    let many = r#"{"partialJson":1},"#.repeat(1 << 16);
    let line = format!(r#"{{"type":"message","message":{{"content":[{many}0]}}}}"#);
    assert_eq!(externalise(line.as_bytes()).unwrap().line.len(), line.len() - (1 << 16) * 15);
}

/// JSON of the members that matter, in any arrangement.
fn arrangement() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just(base64(1024)),
        Just(base64(2048)),
        Just(format!("data:image/png;base64,{}", base64(1024))),
        Just(format!("blob:sha256:{}", "0".repeat(64))),
        Just("image".to_owned()),
        Just("text".to_owned()),
        "\\PC{0,8}",
    ];
    let leaf = prop_oneof![text.prop_map(Value::from), Just(json!(7)), Just(Value::Null)];
    let name = prop::sample::select(vec![
        "type",
        "data",
        "content",
        "text",
        "image_url",
        "url",
        "partialJson",
        "jsonlEvents",
        "lineCount",
        "arguments",
        "ramusBlob",
        "role",
        "details",
    ]);
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

/// What a reader sees when transient members are dropped.
fn without_transients(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_transients).collect(),
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "partialJson" | "jsonlEvents"))
            .map(|(name, value)| {
                let is_opaque = matches!(name.as_str(), "arguments" | "input" | "ramusBlob");
                (name.clone(), if is_opaque { value.clone() } else { without_transients(value) })
            })
            .collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn whatever_leaves_comes_back(content in arrangement(), pretty in any::<bool>()) {
        let value = json!({"type": "message", "id": "a", "message": {"role": "user", "content": content}});
        let line = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        ramus_model::fuzz::line(line.as_bytes());
        match externalise(line.as_bytes()) {
            None => prop_assert_eq!(without_transients(&value), value),
            Some(external) => {
                prop_assert_eq!(externalise(&external.line), None, "what left leaves again");
                let mut references = References::default();
                references.feed(&external.line);
                prop_assert!(external.blobs.iter().all(|blob| references.contains(blob.hash())));
                let blobs: HashMap<BlobHash, &[u8]> = external.blobs.iter().map(|blob| (blob.hash(), blob.bytes())).collect();
                let mut read = |hash| blobs.get(&hash).map(|bytes: &&[u8]| bytes.to_vec());
                let restored = restore(&external.line, Restore::Everything, &mut read);
                // References that were there before are to something else.
                let zeros = BlobHash::parse("0".repeat(64).as_bytes()).unwrap();
                prop_assert!(restored.missing.iter().all(|hash| *hash == zeros));
                if restored.missing.is_empty() {
                    prop_assert_eq!(parsed(&restored.line), without_transients(&value));
                }
            }
        }
    }
}
