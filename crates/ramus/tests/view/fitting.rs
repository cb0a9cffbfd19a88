//! What fits: nothing is squeezed, actions stand in one line, what is written can be read, and a finger hits what it means.

use serde_json::json;

use crate::place::Place;
use crate::world::World;

/// So many lines in which the buttons and boxes stand that can be seen.
fn lines_of(place: &mut Place, selector: &str) -> u64 {
    let count = format!(
        "[...document.querySelectorAll('{selector}')].filter((one) => one.offsetParent && !one.closest('[role=menu]')).map((one) => one.getBoundingClientRect().top) \
         .sort((a, b) => a - b).filter((top, at, all) => at === 0 || top - all[at - 1] > 16).length"
    );
    place.ask(&count).as_u64().unwrap()
}

#[test]
fn in_a_long_session_and_a_low_window_nothing_is_squeezed() {
    let world = World::new();
    let session = world.branched();
    let mut lines = Vec::new();
    for at in 0..120 {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        let content = json!([{"type": "text", "text": format!("Word {at}\n").repeat(30)}]);
        lines.push(json!({"type": "message", "message": {"role": role, "content": content, "provider": "demo", "model": "small", "stopReason": "stop"}}).to_string());
    }
    assert_eq!(world.run_with(&lines.join("\n"), &["append", &session]).code, 0);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}&tab=context")) else { return };
    place.browser.look(1400, 500, false).unwrap();
    place.sees(".legend", "Prompts");
    place.until("document.querySelectorAll('.sent li').length === 100");
    assert_eq!(place.ask("document.querySelector('.tokens').getBoundingClientRect().height"), 14);
    place.ask("document.getElementById('tab-raw').click()");
    place.until("document.querySelector('.raw')");
    let raw = place.ask("(() => { const raw = document.querySelector('.raw'); return raw.clientHeight / Math.min(raw.scrollHeight, 560); })()");
    assert!(raw.as_f64().unwrap() > 0.95, "{raw}");
    place.ask("history.replaceState(null, '', '/'), location.reload()");
    place.sees(".home .recent", "Sort a list");
    place.until(
        "(() => { const list = document.querySelector('.recent'); return list.clientHeight >= list.scrollHeight; })()",
    );
    place.was_quiet();
}

#[test]
fn actions_stand_in_one_line_and_filters_in_two() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    place.sees(".pager", "2/2");
    // All there is to choose from is shown.
    place.ask("document.querySelectorAll('.filters select').forEach((box) => { if (!box.options.length) box.append(new Option('All projects')); box.hidden = false; })");
    for width in [1600, 1280, 1151, 1024, 390] {
        place.browser.look(width, 800, false).unwrap();
        place.until(&format!("innerWidth === {width}"));
        assert_eq!(lines_of(&mut place, ".tools button"), 1, "actions, {width} wide");
        assert_eq!(
            lines_of(&mut place, ".filters input, .filters select, .filters button"),
            2,
            "filters, {width} wide"
        );
    }
    // Every action is either there or behind "More".
    for width in [1600, 1280, 390] {
        place.browser.look(width, 800, false).unwrap();
        place.until(&format!("innerWidth === {width}"));
        place.push("More ▾");
        let all = "['checkout', 'rewind', 'again', 'fork', 'label', 'compare'].map((name) => [...document.querySelectorAll(`.tools [data-action=${name}]`)].filter((one) => one.checkVisibility()).length)";
        assert_eq!(place.ask(all), json!([1, 1, 1, 1, 1, 1]), "{width} wide");
        place.press(&["Escape"]);
    }
    place.was_quiet();
}

#[test]
fn archived_sessions_and_those_of_subagents_are_switched_on_and_off() {
    let world = World::new();
    let session = world.branched();
    world.ok(&["archive", &session]);
    world.ok(&["new", "--title", "Another one"]);
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.sees(".session", "Another one");
    assert_eq!(place.ask("document.querySelectorAll('.session').length"), 1);
    place.push("⋯");
    place.push("Archived sessions");
    place.sees(".session", "Sort a list");
    place.push("⋯");
    let state = "[...document.querySelectorAll('.filters [role=menuitemcheckbox]')].map((one) => one.getAttribute('aria-checked')).join()";
    assert_eq!(place.ask(state), "true,false");
    place.push("Archived sessions");
    place.until("document.querySelectorAll('.session').length === 1");
    place.was_quiet();
}

#[test]
fn on_a_phone_a_finger_hits_and_figures_can_be_read() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.browser.look(390, 844, true).unwrap();
    place.sees(".message", "Call sorted(names).");
    let low = "[...document.querySelectorAll('.top button, .tools button, .tabs button, .prompt button, .switch button')].filter((one) => one.offsetParent && one.offsetHeight < 40 && !one.closest('[role=menu]')).map((one) => one.textContent)";
    assert_eq!(place.ask(low), json!([]));
    // What stands in an empty box can be read in the dark.
    let told = "getComputedStyle(document.getElementById('prompt'), '::placeholder').color";
    assert_eq!(place.ask(told), "rgb(160, 168, 158)");
    place.press(&["u"]);
    place.until("document.querySelector('.chart text')");
    let tall = place.ask("document.querySelector('.chart text').getBoundingClientRect().height");
    assert!(tall.as_f64().unwrap() >= 11.0, "{tall}");
    let cut = "(() => { const one = document.querySelector('.scroll'); return one.scrollWidth - one.clientWidth; })()";
    assert_eq!(place.ask(cut), 0);
    place.was_quiet();
}

#[test]
fn the_help_has_the_keys_of_the_pane_first_and_its_head_stays() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    assert_eq!(place.ask("document.querySelector('#search kbd').textContent"), "Ctrl+K");
    place.ask("document.querySelector('.tree .list').focus()");
    place.press(&["?"]);
    place.sees("dialog h3", "Through the tree");
    assert_eq!(place.ask("document.querySelector('dialog h3').textContent"), "Through the tree");
    // In a window of this size all of it can be seen at once.
    assert_eq!(place.ask("(() => { const one = document.querySelector('dialog .content'); return one.scrollHeight - one.clientHeight; })()"), 0);
    place.browser.look(390, 600, false).unwrap();
    place.until("innerWidth === 390");
    place.ask("(() => { const one = document.querySelector('dialog .content'); one.scrollTop = one.scrollHeight; })()");
    place.until("document.querySelector('dialog .content').scrollTop > 0");
    place.until("(() => { const box = document.querySelector('dialog header button').getBoundingClientRect(); return box.top >= 0 && box.bottom < innerHeight; })()");
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog')");
    place.was_quiet();
}
