//! What was compacted is folded, and what is in it can be reached all the same.

use serde_json::json;

use crate::place::Place;
use crate::world::World;

/// A session of eight turns; the first six were compacted.
fn compacted(world: &World) -> String {
    let session = world.session();
    let mut lines = Vec::new();
    for at in 0..8 {
        let user = json!({"role": "user", "content": format!("Prompt heron{at}")});
        let answer = json!({"role": "assistant", "provider": "demo", "model": "small", "stopReason": "stop",
            "content": [{"type": "text", "text": format!("Answer egret{at}")}]});
        lines.push(json!({"type": "message", "id": format!("aaaa000{at}"), "message": user}).to_string());
        lines.push(json!({"type": "message", "id": format!("bbbb000{at}"), "message": answer}).to_string());
    }
    lines.push(
        json!({"type": "compaction", "summary": "Birds.", "firstKeptEntryId": "aaaa0006", "tokensBefore": 900})
            .to_string(),
    );
    let ran = world.run_with(&lines.join("\n"), &["append", &session]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    session
}

fn find(place: &mut Place, word: &str) {
    place.press(&["ctrl+k"]);
    place.until("document.activeElement.id === 'palette'");
    place.browser.write(word).unwrap();
    place.until(&format!("document.querySelector('#found .snippet mark')?.textContent === '{word}'"));
    place.press(&["Enter"]);
    place.until("!document.querySelector('dialog')");
}

#[test]
fn what_is_found_in_a_folded_stretch_unfolds_it() {
    let world = World::new();
    let session = compacted(&world);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "6 compacted turns");
    let signs = "[...document.querySelectorAll('.entry text.sign')].map((one) => one.textContent).join('')";
    place.until(&format!("{signs}.includes('@')"));
    find(&mut place, "egret3");
    place.sees(".message.assistant", "Answer egret3");
    place.until("document.querySelector('.entry[aria-selected=true]')?.textContent.includes('Prompt heron3')");
    place.until(&format!("{signs}.split('~').length > 6"));
    // It can be folded again, and Enter unfolds it instead of going there.
    place.until("document.querySelector('.entry[aria-expanded=true]')?.textContent.includes('Prompt heron0')");
    place.press(&["x"]);
    place.sees(".entry[aria-selected=true]", "6 compacted turns");
    assert_eq!(
        place.ask("document.querySelector('.entry[aria-selected=true]').getAttribute('aria-expanded')"),
        "false"
    );
    assert_eq!(place.ask("document.querySelectorAll('.entry[aria-expanded]').length"), 1);
    let leaf = place.world.json(&["session", "show", &session])["session"]["leaf"].clone();
    place.press(&["Enter"]);
    place.sees(".entry", "Prompt heron5");
    assert_eq!(place.world.json(&["session", "show", &session])["session"]["leaf"], leaf);
    place.was_quiet();
}

#[test]
fn an_entry_that_a_view_does_not_have_is_told_of() {
    let world = World::new();
    let session = compacted(&world);
    world.ok(&["label", &format!("{session}@aaaa0004"), "here"]);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "4 compacted turns");
    find(&mut place, "egret1");
    place.sees(".message.assistant", "Answer egret1");
    place.push("Labels");
    place.sees("#detail", "This entry is not in this view.");
    place.push("Show all entries");
    place.sees(".message.assistant", "Answer egret1");
    place.was_quiet();
}
