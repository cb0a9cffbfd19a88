//! Stored text that tries to control the terminal.

use crate::world::World;

/// What a terminal may act on, or a reader may be fooled by.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{61c}')
}

/// Everything at once, as JSON spells it.
const EVIL: &str =
    r"\u001b[2J\u001b]0;owned\u0007\u009b31mred\u0000\u0008\u007f\r over\u202e reversed\u2066\u200b\u200d\ufeff end";

#[test]
fn control_characters_never_reach_the_terminal() {
    let world = World::new();
    let file = [
        format!(
            r#"{{"type":"session","version":3,"id":"s{EVIL}","timestamp":"2026-02-16T10:20:30.000Z{EVIL}","cwd":"/x{EVIL}","title":"t{EVIL}"}}"#
        ),
        format!(
            r#"{{"type":"message","id":"aaaa{EVIL}","parentId":null,"timestamp":"{EVIL}","message":{{"role":"user","content":"{EVIL}"}}}}"#
        ),
        format!(
            r#"{{"type":"message","id":"bbbb","parentId":"aaaa{EVIL}","timestamp":"","message":{{"role":"assistant","provider":"p{EVIL}","model":"m{EVIL}","content":[{{"type":"thinking","thinking":"{EVIL}"}},{{"type":"toolCall","id":"c","name":"n{EVIL}","arguments":{{"k{EVIL}":"{EVIL}"}}}},{{"type":"odd{EVIL}"}},{{"type":"image","mimeType":"{EVIL}","data":""}}]}}}}"#
        ),
        format!(
            r#"{{"type":"message","id":"cccc","parentId":"bbbb","timestamp":"","message":{{"role":"toolResult","toolCallId":"c","toolName":"n{EVIL}","content":"{EVIL}"}}}}"#
        ),
        format!(
            r#"{{"type":"message","id":"dddd","parentId":"cccc","timestamp":"","message":{{"role":"r{EVIL}","content":"{EVIL}"}}}}"#
        ),
        format!(r#"{{"type":"kind{EVIL}","id":"eeee","parentId":"dddd","timestamp":""}}"#),
        format!(
            r#"{{"type":"label","id":"ffff","parentId":"eeee","timestamp":"","targetId":"eeee","label":"l{EVIL}"}}"#
        ),
        format!(r#"{{"type":"mode_change","id":"gggg","parentId":"eeee","timestamp":"","mode":"m{EVIL}"}}"#),
        format!(
            r#"{{"type":"ttsr_injection","id":"hhhh","parentId":"gggg","timestamp":"","injectedRules":["r{EVIL}"]}}"#
        ),
        format!(
            r#"{{"type":"compaction","id":"iiii","parentId":"hhhh","timestamp":"","summary":"{EVIL}","firstKeptEntryId":"bbbb"}}"#
        ),
        format!(
            r#"{{"type":"branch_summary","id":"jjjj","parentId":"iiii","timestamp":"","summary":"{EVIL}","fromId":"iiii"}}"#
        ),
        format!(
            r#"{{"type":"custom","id":"kkkk","parentId":"jjjj","timestamp":"","customType":"ramus.meta","data":{{"set":{{"metadata.k{EVIL}":"v{EVIL}"}}}}}}"#
        ),
        format!(
            r#"{{"type":"message","id":"aaaa{EVIL}","parentId":"gone{EVIL}","timestamp":"","message":{{"role":"user","content":"again"}}}}"#
        ),
    ];
    let path = world.file("evil.jsonl", &(file.join("\n") + "\n"));
    for arguments in [
        &["tree", &path][..],
        &["tree", &path, "--all"],
        &["show", &path],
        &["show", &path, "--all"],
        &["show", &format!("{path}@dddd")],
        &["context", &path],
        &["context", &path, "--dialect", "provider"],
        &["state", &path],
        &["meta", &path],
        &["doctor", &path],
        &["entry", &format!("{path}@aaaa")],
        &["branch", &format!("{path}@\u{1b}[2J")],
        &["fork", &path],
        &["list", "--all", "--drafts"],
        &["label", "last@", "x\u{1b}"],
    ] {
        let ran = world.run(arguments);
        for (name, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
            // The raw line is printed byte for byte, and JSON has already spelled these characters out.
            let bad: Vec<char> = text.chars().filter(|c| acts(*c)).collect();
            assert_eq!(bad, Vec::<char>::new(), "{arguments:?} {name}: {text:?}");
        }
        assert!(!ran.stdout.is_empty() || !ran.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn colours_of_our_own_are_all_that_is_left() {
    let world = World::new();
    let session = world.session();
    world.say(&session, "user", "\u{1b}[31mred\u{1b}[0m");
    let plain = world.ok(&["tree", &session]);
    let coloured = world.ok(&["tree", &session, "--color", "always"]);
    assert!(plain.contains("user       red"), "{plain}");
    assert!(!coloured.contains("\u{1b}[31m"), "{coloured:?}");
}
