//! What is read stays as it is while a session goes on: folds, focus, and what another tab shows.

use serde_json::json;

use crate::place::Place;
use crate::world::World;

/// A model that thinks for a while.
const THINKING: &str = "answers = [{ steps = [{ thinking = \"first\" }, { delay_ms = 1500 }, { thinking = \" second\" }, { hang = true }] }]";

fn append(world: &World, session: &str, text: &str) {
    let line = json!({"type": "message", "message": {"role": "assistant", "provider": "demo", "model": "small",
        "stopReason": "stop", "content": [{"type": "text", "text": text}]}});
    let ran = world.run_with(&line.to_string(), &["append", session]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// Holds answers back: those whose address has `part`, the first for so many milliseconds, the next for so many.
fn delay(place: &mut Place, part: &str, times: &[u32]) {
    let times = json!(times);
    place.ask(&format!(
        "(() => {{ const [real, times] = [window.fetch, {times}]; window.fetch = async (url, how) => {{ \
         const wait = String(url).includes('{part}') ? times.shift() ?? 0 : 0; const answer = await real(url, how); \
         await new Promise((go) => setTimeout(go, wait)); return answer; }}; }})()"
    ));
}

#[test]
fn what_was_unfolded_stays_so_and_the_focus_stays_where_it_is() {
    let world = World::new();
    let session = world.session();
    let lines = [
        json!({"type": "message", "message": {"role": "user", "content": "Look"}}),
        json!({"type": "message", "message": {"role": "assistant", "provider": "demo", "model": "small", "stopReason": "toolUse",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}}]}}),
    ];
    let ran = world.run_with(&format!("{}\n{}", lines[0], lines[1]), &["append", &session]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.until("document.querySelector('details.call .wait')");
    place.ask("document.querySelector('details.call').open = document.querySelector('details.thinking').open = true");
    place.ask("document.querySelector('[data-action=fork]').focus()");
    let result = json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "isError": false,
        "content": [{"type": "text", "text": "what a holds"}]}});
    let ran = place.world.run_with(&result.to_string(), &["append", &session]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    place.sees("details.call .result", "what a holds");
    assert_eq!(
        place.ask("document.querySelector('details.call').open && document.querySelector('details.thinking').open"),
        true
    );
    // What did not change is the same as before.
    place.ask("document.querySelector('.message.user').dataset.mine = 'yes'");
    append(&place.world, &session, "Looked.");
    place.sees(".message.assistant", "Looked.");
    assert_eq!(place.ask("document.querySelector('.message.user').dataset.mine"), "yes");
    assert_eq!(place.ask("document.querySelector('details.call').open"), true);
    assert_eq!(place.ask("document.activeElement.dataset.action"), "fork");
    place.was_quiet();
}

#[test]
fn other_tabs_are_not_wiped_while_a_session_goes_on() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}&tab=raw")) else { return };
    place.sees(".raw", "cccc0001");
    place.ask("document.querySelector('.raw').dataset.mine = 'yes'");
    let before = place.entries();
    append(&place.world, &session, "More.");
    place.has_entries(before + 1);
    place.wait(300);
    assert_eq!(place.ask("document.querySelector('.raw').dataset.mine"), "yes");
    // The context grows, and what was unfolded in it stays so.
    place.ask("document.getElementById('tab-context').click()");
    place.until("document.querySelector('.sent details')");
    place.ask("document.querySelector('.sent details').open = true");
    append(&place.world, &session, "And more.");
    place.sees(".sent", "And more.");
    assert_eq!(place.ask("document.querySelector('.sent details').open"), true);
    place.was_quiet();
}

#[test]
fn what_is_thought_can_be_read_while_it_is_thought() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, THINKING, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.say("think");
    place.sees(".live .thinking", "first");
    place.ask("document.querySelector('.live .thinking').open = true");
    place.sees(".live .thinking", "first second");
    assert_eq!(place.ask("document.querySelector('.live .thinking').open"), true);
    place.browser.click("#cancel").unwrap();
    place.sees(".note", "cancelled");
}

#[test]
fn one_of_several_is_chosen_with_the_arrows() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}&tab=files")) else { return };
    place.sees("#detail", "No file differs.");
    assert_eq!(
        place.ask("[...document.querySelectorAll('[data-diff]')].filter((one) => one.tabIndex === 0).length"),
        1
    );
    place.ask("document.querySelector('[data-diff=turn]').focus()");
    place.press(&["ArrowRight"]);
    place.until("location.search.includes('diff=start') && document.activeElement.dataset.diff === 'start'");
    place.sees("#detail", "No file differs.");
    place.press(&["ArrowLeft"]);
    place.until("!location.search.includes('diff=') && document.activeElement.getAttribute('aria-checked') === 'true'");
    place.ask("document.querySelector('[data-view=turns]').focus()");
    place.press(&["ArrowLeft"]);
    place.until("location.search.includes('view=labels') && document.activeElement.dataset.view === 'labels'");
    place.was_quiet();
}

#[test]
fn a_late_answer_is_not_shown_for_something_else() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    delay(&mut place, "passage", &[1500]);
    place.ask("document.getElementById('tab-thread').click()");
    place.until("document.getElementById('detail').getAttribute('aria-labelledby') === 'tab-thread'");
    place.wait(300);
    place.ask("document.getElementById('tab-message').click()");
    place.wait(1800);
    assert_eq!(place.ask("document.querySelector('#detail').textContent.includes('How do I sort a list?')"), false);
    place.sees(".message", "Call sorted(names).");
    // What cannot be read is said, and nothing else stands in its place.
    place.browser.command("Network.setBlockedURLs", json!({"urls": ["*passage*"]})).unwrap();
    place.press(&["h"]);
    place.sees("#detail .stopped", "the server does not answer");
    assert_eq!(place.ask("document.querySelectorAll('#detail .message').length"), 0);
    place.browser.command("Network.setBlockedURLs", json!({"urls": []})).unwrap();
    place.push("Try again");
    place.sees(".message.user", "And in reverse?");
}

#[test]
fn what_happens_while_the_tree_is_read_is_read_afterwards() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    place.wait(500);
    delay(&mut place, "outline", &[1500, 2500]);
    let before = place.entries();
    append(&place.world, &session, "One.");
    place.wait(700);
    append(&place.world, &session, "Two.");
    place.has_entries(before + 2);
    place.sees(".message.assistant", "Two.");
    place.was_quiet();
}

#[test]
fn a_dialog_stays_when_something_is_marked_in_it_and_let_go_outside() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.press(&["L"]);
    place.until("document.activeElement.tagName === 'INPUT'");
    place.browser.write("a good idea").unwrap();
    let mouse = |place: &mut Place, kind: &str, (x, y): (f64, f64)| {
        let event = json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1});
        place.browser.command("Input.dispatchMouseEvent", event).unwrap();
    };
    let inside = place.ask("(() => { const box = document.activeElement.getBoundingClientRect(); return [box.left + 60, box.top + box.height / 2]; })()");
    let inside = (inside[0].as_f64().unwrap(), inside[1].as_f64().unwrap());
    for (kind, at) in [("mousePressed", inside), ("mouseMoved", (5.0, 400.0)), ("mouseReleased", (5.0, 400.0))] {
        mouse(&mut place, kind, at);
    }
    place.wait(100);
    assert_eq!(place.ask("document.querySelector('dialog input').value"), "a good idea");
    // A press beside it closes it.
    for kind in ["mousePressed", "mouseReleased"] {
        mouse(&mut place, kind, (5.0, 400.0));
    }
    place.until("!document.querySelector('dialog')");
    place.was_quiet();
}
