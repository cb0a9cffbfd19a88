//! Long turns and long trees: what is looked for is shown, what is new comes by itself, and whoever reads is left where they are.

use std::fmt::Write as _;

use serde_json::json;

use crate::place::Place;
use crate::world::World;

/// Whether what a selector finds can be seen in the pane.
fn seen(selector: &str) -> String {
    format!(
        "(() => {{ const one = document.querySelector(\"{selector}\")?.getBoundingClientRect(); \
         const pane = document.getElementById('detail').getBoundingClientRect(); \
         return one && one.bottom > pane.top && one.top < pane.bottom && one.height > 0; }})()"
    )
}

/// Calls of a tool with their results, each with a word of its own.
fn calls(from: usize, to: usize) -> String {
    let mut lines = String::new();
    for at in from..to {
        let id = format!("call{at}");
        let call = json!({"role": "assistant", "provider": "demo", "model": "small", "stopReason": "toolUse",
            "content": [{"type": "toolCall", "id": id, "name": "read", "arguments": {"path": format!("file{at}.txt")}}]});
        let result = json!({"role": "toolResult", "toolCallId": id, "toolName": "read", "isError": false,
            "content": [{"type": "text", "text": format!("zebra{at}\n{}", "and more\n".repeat(8))}]});
        for message in [call, result] {
            let _ = writeln!(lines, "{}", json!({"type": "message", "message": message}));
        }
    }
    lines
}

fn says(role: &str, text: &str) -> String {
    let message = json!({"role": role, "provider": "demo", "model": "small", "stopReason": "stop",
        "content": [{"type": "text", "text": text}]});
    format!("{}\n", json!({"type": "message", "message": message}))
}

fn append(world: &World, session: &str, lines: &str) {
    let ran = world.run_with(lines, &["append", session]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn the_end_of_a_long_turn_is_shown_and_followed() {
    let world = World::new();
    let session = world.session();
    append(
        &world,
        &session,
        &[says("user", "Look at everything"), calls(10, 90), says("assistant", "All looked at.")].concat(),
    );
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message.assistant", "All looked at.");
    place.until("document.querySelector('#detail').lastElementChild.previousElementSibling.textContent.includes('All looked at.')");
    place.until(&seen("#detail > :nth-last-child(2)"));
    // What comes is seen, although there is more of it than is shown.
    append(&place.world, &session, &[calls(100, 140), says("assistant", "Looked again.")].concat());
    place.sees(".message.assistant", "Looked again.");
    place.until(&seen("#detail > :nth-last-child(2)"));
    // Up to the start, and down again.
    for _ in 0..4 {
        place.until("document.querySelector('#detail > .more')?.textContent.includes('earlier')");
        let before = place.ask("document.querySelector('#detail > .more').textContent");
        place.ask("document.querySelector('#detail > .more').click()");
        place.until(&format!("document.querySelector('#detail > .more')?.textContent !== {before}"));
    }
    place.sees(".message.user", "Look at everything");
    place.push("183 later entries of this turn");
    place.sees("#detail .more", "60 earlier entries");
    place.was_quiet();
}

#[test]
fn what_was_found_in_a_long_turn_is_opened_and_stays_in_view() {
    let world = World::new();
    let session = world.session();
    append(
        &world,
        &session,
        &[says("user", "Look at everything"), calls(10, 90), says("assistant", "All looked at.")].concat(),
    );
    let Some(mut place) = Place::open(world, &[], "") else { return };
    for word in ["zebra55", "zebra20"] {
        place.press(&["ctrl+k"]);
        place.until("document.activeElement.id === 'palette'");
        place.browser.write(word).unwrap();
        place.until(&format!("document.querySelector('#found .snippet mark')?.textContent === '{word}'"));
        place.press(&["Enter"]);
        place.until(&format!(
            "document.querySelector('details.call[aria-current][open]')?.textContent.includes('{word}')"
        ));
        place.until(&seen("details.call[aria-current]"));
        // The word is marked where it stands.
        place.until(&format!(
            "[...(CSS.highlights.get('found') ?? [])].some((range) => range.toString() === '{word}' && range.startContainer.isConnected)"
        ));
    }
    // It stays selected while the session goes on.
    let before = place.entries();
    append(&place.world, &session, &says("assistant", "Something else."));
    place.has_entries(before + 1);
    place.until(&seen("details.call[aria-current]"));
    place.was_quiet();
}

/// Many turns.
fn turns(count: usize) -> String {
    (0..count).map(|at| says("user", &format!("Prompt {at}")) + &says("assistant", &format!("Answer {at}"))).collect()
}

#[test]
fn whoever_scrolls_the_tree_is_left_there_while_the_session_goes_on() {
    let world = World::new();
    let session = world.session();
    append(&world, &session, &turns(100));
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Prompt 99");
    // At the end it goes on with the session.
    let before = place.entries();
    append(&place.world, &session, &turns(1));
    place.has_entries(before + 2);
    place.until("(() => { const list = document.querySelector('.tree .list'); return list.scrollTop + list.clientHeight >= list.scrollHeight - 30; })()");
    // Elsewhere it does not.
    place.ask("document.querySelector('.tree .list').scrollTop = 0");
    place.sees(".entry", "Prompt 1");
    append(&place.world, &session, &turns(1));
    place.has_entries(before + 4);
    place.until("document.querySelector('.message.assistant')?.textContent.includes('Answer 0')");
    assert_eq!(place.ask("document.querySelector('.tree .list').scrollTop"), 0);
    // A key leads back to what is selected.
    place.press(&["k"]);
    place.until("document.querySelector('.tree .list').scrollTop > 1000");
    place.was_quiet();
}

#[test]
fn whoever_scrolls_the_list_is_left_there_while_something_runs() {
    let world = World::new();
    for at in 0..30 {
        world.ok(&["new", "--title", &format!("Session {at}")]);
    }
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".session", "Sort a list");
    place.sees("#session-count", "31 sessions");
    place.ask("document.querySelector('.sessions .list').scrollTop = 600");
    append(&place.world, &session, &says("user", "Go on"));
    place.ask("fetch('/api/v1/sessions', {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify({title: 'One more'})}).then((one) => one.status)");
    place.sees("#session-count", "32 sessions");
    assert!(place.ask("document.querySelector('.sessions .list').scrollTop").as_f64().unwrap() >= 590.0);
    place.was_quiet();
}

#[test]
fn what_was_read_is_not_kept_without_a_bound() {
    let world = World::new();
    let session = world.session();
    // Five turns of seven megabytes each: not all of that is kept.
    for at in 0..5 {
        let lines = [says("user", &format!("Turn {at}")), says("assistant", &"long ".repeat(1_400_000))].concat();
        append(&world, &session, &lines);
    }
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message.user", "Turn 4");
    place.ask("(() => { const real = window.fetch; window.read = 0; window.fetch = (url, how) => { if (String(url).includes('passage')) window.read++; return real(url, how); }; })()");
    for at in (0..4).rev() {
        place.press(&["k"]);
        place.sees(".message.user", &format!("Turn {at}"));
    }
    let before = place.ask("window.read").as_u64().unwrap();
    // What is near is still there, and what is far is read again.
    for at in 1..5 {
        place.press(&["j"]);
        place.sees(".message.user", &format!("Turn {at}"));
    }
    assert!(place.ask("window.read").as_u64().unwrap() > before);
    place.was_quiet();
}
