//! Repairing: records stay where they are, nothing but damage changes, and once is enough.

use proptest::prelude::*;
use ramus_model::repair::{Changes, Plan, salvage_header};
use ramus_model::{Depth, Log, Severity, Tail};

use crate::generate::HEADER;

fn user(id: &str, parent: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-02-16T10:21:00.000Z","message":{{"role":"user","content":"{id}"}}}}"#
    )
}

/// Every entry with its offset and bytes.
fn entries(bytes: &[u8]) -> Vec<(String, u64, Vec<u8>)> {
    let log = Log::from_bytes(bytes, Depth::Whole);
    log.seqs()
        .map(|seq| {
            let place = log.place(seq).unwrap();
            let at = usize::try_from(place.offset).unwrap();
            (log.id(seq).to_owned(), place.offset, bytes[at..at + place.len as usize].to_vec())
        })
        .collect()
}

/// Repairs without putting anything in, and checks what every repair promises.
fn repaired(bytes: &[u8]) -> Vec<u8> {
    let plan = Plan::of(bytes);
    let log = Log::from_bytes(bytes, Depth::Whole);
    assert_eq!(plan.tail, log.tail(), "the plan and the reading see the same tail");
    assert_eq!(plan.front.is_some(), log.header().is_none(), "and the same header");
    assert_eq!(plan.records, log.len(), "and the same entries");
    let out = plan.apply(bytes, &Changes::default());
    let sealed = usize::from(bytes[..plan.end(bytes)].last().is_some_and(|last| *last != b'\n'));
    assert_eq!(out.len(), plan.end(bytes) + sealed);
    let mut kept = entries(&out);
    kept.retain(|(_, at, _)| plan.placeholders.iter().all(|(place, _)| *place as u64 != *at));
    assert_eq!(kept, entries(bytes), "no entry moves or changes");
    for (at, (new, old)) in out.iter().zip(&bytes[..plan.end(bytes)]).enumerate() {
        let damaged = plan.damage.iter().any(|range| range.contains(&at)) || plan.breaks.contains(&at);
        assert!(new == old || damaged, "byte {at}");
    }
    let again = Plan::of(&out);
    assert_eq!((&again.damage, &again.breaks), (&Vec::new(), &Vec::new()), "once is enough");
    assert_eq!((again.joints.len(), again.tail), (plan.joints.len(), Tail::Ended));
    out
}

#[test]
fn an_entry_with_damaged_content_keeps_its_place_in_the_tree() {
    let text = format!("{HEADER}\n{}\n{}\n{}\n", user("a", "null"), user("b", "\"a\""), user("c", "\"b\""));
    let content = text.find("\"content\":\"b\"").unwrap();
    for at in content..content + 13 {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = 0;
        let out = repaired(&bytes);
        assert_eq!(out.len(), bytes.len());
        let log = Log::from_bytes(&out, Depth::Whole);
        let path: Vec<&str> = log.path(log.leaf()).into_iter().map(|seq| log.id(seq)).collect();
        assert_eq!(path, ["a", "b", "c"]);
        assert!(is_clean(&out), "{:?}", log.findings());
        assert!(String::from_utf8(out).unwrap().contains("\"customType\":\"ramus.damaged\"}"));
    }
}

fn is_clean(bytes: &[u8]) -> bool {
    let log = Log::from_bytes(bytes, Depth::Whole);
    log.findings().iter().all(|finding| finding.kind.severity() == Severity::Notice)
}

#[test]
fn interior_damage_is_blanked_in_place() {
    let (a, b, c) = (user("a", "null"), user("b", "\"a\""), user("c", "\"b\""));
    for damage in
        ["garbage", "\0\0\0\0", "{\"type\":\"mess", "\u{feff}", "{\"type\":\"message\",\"id\":\"x\"", "}", "\r\0"]
    {
        for text in [
            format!("{HEADER}\n{a}\n{damage}\n{b}\n{c}\n"),
            format!("{HEADER}\n{a}\n{damage}{b}\n{c}\n"),
            format!("{HEADER}\n{a}{damage}\n{b}\n{c}\n"),
            format!("{HEADER}\n{a}{damage}{b}\n{c}\n"),
            format!("{damage}\n{HEADER}\n{a}\n{b}\n{c}\n"),
            format!("{damage}{HEADER}\n{a}\n{b}\n{c}\n"),
            format!("\u{feff}{damage}{HEADER}\r\n{a} {b}\r\n{damage}\r\n{c}\r\n"),
        ] {
            let out = repaired(text.as_bytes());
            assert_eq!(out.len(), text.len());
            assert!(is_clean(&out), "{text:?}: {:?}", Log::from_bytes(&out, Depth::Whole).findings());
            assert_eq!(entries(&out).len(), 3);
        }
    }
}

#[test]
fn records_that_touch_are_parted_only_on_request() {
    let text = format!("{HEADER}\n{}{}{}\n", user("a", "null"), user("b", "\"a\""), user("c", "\"b\""));
    let plan = Plan::of(text.as_bytes());
    assert_eq!(plan.joints.len(), 2);
    assert_eq!(repaired(text.as_bytes()), text.as_bytes());
    let out = plan.apply(text.as_bytes(), &Changes { joints: &plan.joints, header: None });
    assert_eq!(out.len(), text.len() + 2);
    assert!(is_clean(&out));
    let out = plan.apply(text.as_bytes(), &Changes { joints: &plan.joints[1..], header: None });
    assert_eq!(Plan::of(&out).joints, plan.joints[..1]);
}

#[test]
fn a_header_takes_the_place_of_the_damaged_one_when_there_is_room() {
    let entry = user("a", "null");
    let broken = HEADER.replacen('{', "(", 1);
    let slot = r#"{"type":"title","v":1,"title":"t","updatedAt":"","pad":""}"#;
    for front in [String::new(), "\u{feff}".into(), format!("{slot}\n")] {
        let text = format!("{front}{broken}\n{entry}\n");
        let plan = Plan::of(text.as_bytes());
        let range = plan.front.clone().unwrap();
        assert_eq!(range.start, front.len());
        let header = salvage_header(&text.as_bytes()[range]).unwrap();
        let line = header.to_line();
        assert_eq!(line, format!("{HEADER}\n").as_bytes(), "everything but the brace was legible");
        assert!(plan.has_room(text.as_bytes(), &line));
        let out = plan.apply(text.as_bytes(), &Changes { joints: &[], header: Some(&line) });
        assert_eq!(out, format!("{front}{HEADER}\n{entry}\n").as_bytes());
    }
    let text = format!("{entry}\n");
    let plan = Plan::of(text.as_bytes());
    assert_eq!((plan.front.clone(), salvage_header(b"")), (Some(0..0), None));
    assert!(!plan.has_room(text.as_bytes(), HEADER.as_bytes()));
    let line = format!("{HEADER}\n");
    let out = plan.apply(text.as_bytes(), &Changes { joints: &[], header: Some(line.as_bytes()) });
    assert_eq!(out, format!("{HEADER}\n{entry}\n").as_bytes());
}

#[test]
fn a_header_is_salvaged_member_by_member() {
    let line = br#"{"type":"session","version":3,"id":"s","timestamp":"T","cwd":"/x","ramus":{"forkedFrom":{"session":"o","entry":"e","offset":7},"owner":"ada"}}"#;
    for at in 0..line.len() {
        let mut damaged = line.to_vec();
        damaged[at] = 0;
        let Some(header) = salvage_header(&damaged) else {
            assert!((26..40).contains(&at), "only the id is indispensable: {at}");
            continue;
        };
        assert_eq!(header.id.as_str(), "s");
        let lost = [
            header.cwd != "/x",
            header.timestamp != "T",
            header.version != 3,
            header.ramus.forked_from.is_none(),
            header.ramus.owner.is_none(),
        ];
        assert!(lost.iter().filter(|lost| **lost).count() <= 1, "{at}: {header:?}");
    }
    assert_eq!(salvage_header(br#"{"id":"x","other":1"#), None, "there is no sign of a session");
}

#[test]
fn an_unusable_header_makes_way_for_a_usable_one() {
    let text = format!("{{\"type\":\"session\",\"id\":5}}\n{HEADER}\n{}\n", user("a", "null"));
    let plan = Plan::of(text.as_bytes());
    assert_eq!((plan.front.clone(), plan.damage.len()), (None, 1));
    let out = plan.apply(text.as_bytes(), &Changes::default());
    assert!(is_clean(&out) && out.len() == text.len());
}

proptest! {
    /// A sound file into which damage was put anywhere: the entries outside it survive, at their offsets.
    #[test]
    fn damage_anywhere_costs_only_what_it_hits(
        count in 1usize..6, place in 0.0f64..1.0, damage in prop::collection::vec(any::<u8>(), 1..40), overwrite: bool,
    ) {
        let mut text = format!("{HEADER}\n").into_bytes();
        for n in 0..count {
            text.extend(format!("{}\n", user(&format!("e{n}"), "null")).bytes());
        }
        let at = HEADER.len() + 1 + ((text.len() - HEADER.len() - 1) as f64 * place) as usize;
        let damage: Vec<u8> = damage.into_iter().map(|byte| if byte == b'\n' { 0 } else { byte }).collect();
        if overwrite {
            let end = (at + damage.len()).min(text.len());
            text[at..end].copy_from_slice(&damage[..end - at]);
        } else {
            text.splice(at..at, damage);
        }
        repaired(&text);
    }

    #[test]
    fn any_bytes_are_repaired_once(bytes in prop::collection::vec(prop_oneof![
        Just(b"{\"type\":\"x\",\"id\":\"a\",\"parentId\":null}".to_vec()), Just(b"\n".to_vec()), Just(b"{\"".to_vec()),
        Just(b"}".to_vec()), Just(b"\0".to_vec()), Just(b" ".to_vec()), Just(HEADER.as_bytes().to_vec()), Just(b"1".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()), Just(b"\r".to_vec()), Just(b"{\"type\":\"session\"}".to_vec()),
    ], 0..20)) {
        let bytes = bytes.concat();
        let plan = Plan::of(&bytes);
        let out = plan.apply(&bytes, &Changes { joints: &plan.joints, header: None });
        let again = Plan::of(&out);
        prop_assert!(again.is_sound_inside() && again.tail == Tail::Ended, "{:?} {again:?}", String::from_utf8_lossy(&out));
        prop_assert_eq!(Log::from_bytes(&out, Depth::Whole).len(), Log::from_bytes(&bytes, Depth::Whole).len());
    }
}
