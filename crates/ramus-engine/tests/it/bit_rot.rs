//! Bytes that change by themselves: every flip of a bit is reported, or leaves a file that is as valid as before.

use std::fs;
use std::path::Path;

use ramus_engine::{RecoveryStatus, Say};
use serde_json::Value;

use crate::homes::{Home, clean, jsonl};

/// One entry of every kind, with the members the format knows.
const SESSION: &str = r#"{"type":"session","version":3,"id":"0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/home/ada/shop","title":"All kinds"}
{"type":"model_change","id":"a0000001","parentId":null,"timestamp":"2026-02-16T10:20:31.000Z","provider":"demo","modelId":"small","model":"demo/small","role":"default"}
{"type":"thinking_level_change","id":"a0000002","parentId":"a0000001","timestamp":"2026-02-16T10:20:31.000Z","thinkingLevel":"high"}
{"type":"message","id":"a0000003","parentId":"a0000002","timestamp":"2026-02-16T10:20:32.000Z","message":{"role":"user","content":[{"type":"text","text":"Where is the till?\n* here"}],"timestamp":1771237232000}}
{"type":"message","id":"a0000004","parentId":"a0000003","timestamp":"2026-02-16T10:20:33.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Let me look."},{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}],"provider":"demo","model":"small","stopReason":"toolUse","usage":{"input":10,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":12}}}
{"type":"message","id":"a0000005","parentId":"a0000004","timestamp":"2026-02-16T10:20:34.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"till.rs"}],"isError":false}}
{"type":"compaction","id":"a0000006","parentId":"a0000005","timestamp":"2026-02-16T10:20:35.000Z","summary":"They looked.","firstKeptEntryId":"a0000003","tokensBefore":12}
{"type":"branch_summary","id":"a0000007","parentId":"a0000003","timestamp":"2026-02-16T10:20:36.000Z","fromId":"a0000006","summary":"- a try"}
{"type":"custom","id":"a0000008","parentId":"a0000007","timestamp":"2026-02-16T10:20:37.000Z","customType":"note","data":{"n":1}}
{"type":"custom_message","id":"a0000009","parentId":"a0000008","timestamp":"2026-02-16T10:20:38.000Z","customType":"note","content":"seen","display":true}
{"type":"label","id":"a000000a","parentId":"a0000009","timestamp":"2026-02-16T10:20:39.000Z","targetId":"a0000003","label":"start"}
{"type":"mode_change","id":"a000000b","parentId":"a0000009","timestamp":"2026-02-16T10:20:40.000Z","mode":"plan"}
{"type":"ttsr_injection","id":"a000000c","parentId":"a000000b","timestamp":"2026-02-16T10:20:41.000Z","injectedRules":["r"]}
{"type":"custom","id":"a000000d","parentId":"a000000c","timestamp":"2026-02-16T10:20:42.000Z","customType":"ramus.meta","data":{"op":"meta","client":"test","set":{"k":"v"}}}
{"type":"session_info","id":"a000000e","parentId":"a000000c","timestamp":"2026-02-16T10:20:43.000Z","name":"Another title"}
"#;

/// Flips a bit of a session and asks what the doctor says to it.
fn examine(home: &Home, file: &Path, sound: &[u8], at: usize, bit: u8) -> RecoveryStatus {
    let mut bytes = sound.to_vec();
    bytes[at] ^= 1 << bit;
    fs::write(file, bytes).unwrap();
    home.engine.doctor(file.to_str().unwrap(), "/").unwrap().status
}

/// Says whether every line is still JSON, by another parser than ours. It does not like lone surrogates, and there are
/// none.
fn is_json(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).all(|line| {
        let parsed: Result<Value, _> = serde_json::from_slice(line);
        parsed.is_ok()
    })
}

#[test]
fn every_flip_that_breaks_a_line_is_reported() {
    clean(SESSION.as_bytes());
    let home = jsonl();
    let file = home.directory.path().join("rot.jsonl");
    let sound = SESSION.as_bytes();
    let (mut flips, mut reported, mut broken) = (0, 0, 0);
    for at in 0..sound.len() {
        for bit in [0, 5] {
            let status = examine(&home, &file, sound, at, bit);
            flips += 1;
            reported += usize::from(status != RecoveryStatus::Clean);
            if !is_json(&fs::read(&file).unwrap()) {
                broken += 1;
                assert!(!status.is_sound(), "bit {bit} of byte {at}: {status:?}");
            }
        }
    }
    // What is reported beyond broken lines are names of types, ids and parents that no longer fit. What is not reported is
    // text that reads differently and numbers that count differently: only checksums kept beside the file can tell, and a
    // file opened in place has none.
    assert!(reported > broken && broken > flips / 5, "{flips} flips, {broken} broke a line, {reported} were reported");
    assert!(reported >= REPORTED, "{reported} of {flips} flips were reported, and it was {REPORTED}");
}

#[test]
fn every_flip_in_a_session_of_the_home_is_reported() {
    let home = jsonl();
    let folder = home.directory.path().join("home/sessions/--home-ada-shop--");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("2026-02-16T10-20-30-000Z_0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000.jsonl");
    fs::write(&file, SESSION).unwrap();
    let mut session = home.engine.open("0190aaaa", "/").unwrap();
    home.engine.say(&mut session, Say::user("and with that the sidecar is written")).unwrap();
    drop(session);
    let sound = fs::read(&file).unwrap();
    assert!(home.engine.doctor("0190aaaa", "/").unwrap().is_clean());
    for at in 0..sound.len() {
        for bit in [0, 5] {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << bit;
            fs::write(&file, &bytes).unwrap();
            let status = home.engine.doctor("0190aaaa", "/").unwrap().status;
            assert!(!status.is_sound(), "bit {bit} of byte {at}: {status:?}");
        }
    }
    fs::write(&file, &sound).unwrap();
    assert!(home.engine.doctor("0190aaaa", "/").unwrap().is_clean(), "looking changed nothing");
}

/// How many of the 5172 flips are reported.
const REPORTED: usize = 2755;
