//! Getting to things and getting them in and out: branches, hits of a search, files, sessions of other agents, what differs.

use crate::importing::CLAUDE;
use crate::place::Place;
use crate::world::World;

/// Goes on with the branch beside the path: a minute later, for some tokens and money.
const DEARER: &str = r#"{"type":"message","id":"dddd0001","parentId":"bbbb0001","timestamp":"2030-01-01T00:01:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Call reversed(names)."}],"provider":"demo","model":"small","stopReason":"stop","usage":{"input":900,"output":100,"cacheRead":0,"cacheWrite":0,"totalTokens":1000,"cost":{"input":0.01,"output":0.01,"total":0.02}}}}"#;

#[test]
fn a_branch_is_found_by_its_last_prompt() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.press(&["b"]);
    place.sees("#found [aria-selected=true]", "Without changing it?");
    place.sees("dialog", "2 ends");
    place.browser.write("reverse").unwrap();
    place.until("document.querySelectorAll('#found li').length === 1");
    place.press(&["Enter"]);
    place.sees(".message.user", "And in reverse?");
    place.until("document.querySelector('.entry[aria-selected=true]').textContent.includes('And in reverse?')");
    place.was_quiet();
}

#[test]
fn the_hits_of_a_search_are_gone_through_with_keys() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.press(&["."]);
    place.sees(".note", "Search first");
    place.press(&["/"]);
    place.until("document.activeElement.id === 'palette'");
    place.browser.write("names").unwrap();
    place.until("document.querySelectorAll('#found .snippet mark').length > 1");
    place.press(&["Enter"]);
    let at = "new URLSearchParams(location.search).get('e')";
    place.until("!document.querySelector('dialog')");
    place.wait(100);
    let first = place.ask(at).as_str().unwrap().to_owned();
    place.press(&["."]);
    place.until(&format!("{at} !== '{first}'"));
    place.press(&[","]);
    place.until(&format!("{at} === '{first}'"));
    place.press(&[","]);
    place.sees(".note", "This is the first hit");
    place.was_quiet();
}

#[test]
fn a_session_is_exported_in_every_form() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.press(&["e"]);
    place.sees("dialog a[download]", "Markdown");
    let given = place.ask(
        "Promise.all([...document.querySelectorAll('dialog a[download]')].map(async (one) => { const answer = await fetch(one.href); \
         return [answer.headers.get('content-disposition').match(/session\\.(\\w+)/)[1], (await answer.text()).includes('sorted(names)')]; }))",
    );
    assert_eq!(given, serde_json::json!([["md", true], ["html", true], ["jsonl", true], ["json", true]]));
    place.was_quiet();
}

#[test]
fn sessions_are_imported_when_there_are_some_already() {
    let world = World::new();
    world.branched();
    let place = world.path("user/.claude/projects/-srv-shop");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("11111111-2222-4333-8444-555555555555.jsonl"), CLAUDE).unwrap();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.sees(".session", "Sort a list");
    place.press(&["ctrl+k"]);
    place.browser.write("import").unwrap();
    place.sees("#found [aria-selected=true]", "Import sessions of other agents");
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog')");
    place.ask("document.querySelector('.filters .menu > button').click()");
    place.push("Import…");
    place.sees("dialog", "Found 1 file of 1 agent on this machine");
    place.sees("dialog .agents", "claude");
    place.push("Import");
    place.sees("dialog", "1 session imported");
    place.press(&["Escape"]);
    place.until("document.querySelectorAll('.session').length === 2");
    place.was_quiet();
}

#[test]
fn the_palette_stays_where_it_is_and_says_what_can_be_asked() {
    let world = World::new();
    world.branched();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.sees(".session", "Sort a list");
    place.press(&["ctrl+k"]);
    place.sees("#found", "Sort a list");
    place.sees(".finder .hint", "role:");
    let top = "document.querySelector('dialog').getBoundingClientRect().top";
    let before = place.ask(top);
    place.browser.write("agent:codex").unwrap();
    place.sees(".finder [role=status]", "There is no operator agent");
    place.until("document.querySelectorAll('#found li').length === 0");
    assert_eq!(place.ask(top), before);
    // What is known is not explained, and neither is what only looks so.
    for text in ["has:error", "std::fs"] {
        place.ask("document.getElementById('palette').select()");
        place.browser.write(text).unwrap();
        place.until("document.querySelector('.finder [role=status]').textContent === '0 hits'");
    }
    place.was_quiet();
}

#[test]
fn a_comparison_tells_what_one_side_took_beside_the_other() {
    let world = World::new();
    let session = world.branched();
    assert_eq!(world.run_with(DEARER, &["append", &session]).code, 0);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.press(&["l", "c"]);
    place.sees(".page-pane p", "B ");
    let told = place.ask("document.querySelector('.page-pane p').textContent");
    let told = told.as_str().unwrap();
    assert!(told.contains("used 1k tokens"), "{told}");
    assert!(told.contains("took "), "{told}");
    place.was_quiet();
}

/// Has the page wait with what it looks for until it is told to go on.
const SLOW: &str = "(() => { const real = window.fetch; window.fetch = async (url, how) => { \
     if (/search/.test(String(url))) await new Promise((go) => setTimeout(go, 400)); return real(url, how); }; })()";

#[test]
fn what_is_chosen_is_what_was_typed_however_fast() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.press(&["ctrl+k"]);
    place.until("document.querySelectorAll('#found li').length > 0");
    place.ask(SLOW);
    place.browser.write("Show usage and cost").unwrap();
    // What an input method still composes is not chosen.
    place.ask("document.getElementById('palette').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }))");
    place.until("document.querySelector('dialog')");
    place.press(&["Enter", "Enter"]);
    place.until("location.search.includes('page=usage')");
    place.sees(".page-pane h1", "Usage");
    place.was_quiet();
}
