//! How the page is laid out: windows of any width, what stands there before a session is open, and the menu.

use serde_json::json;

use crate::place::Place;
use crate::world::World;

/// What of the page a person cannot get at: panes that are too narrow, and buttons that stand out of the window or of their pane.
const CUT_OFF: &str = "(() => { \
    const wrong = []; \
    for (const pane of document.querySelectorAll('.pane')) { \
        const { width, right } = pane.getBoundingClientRect(); \
        if (width < 200 || right > innerWidth + 1) wrong.push(`${pane.className}: ${width}`); \
        for (const one of pane.querySelectorAll('button')) \
            if (one.offsetParent && one.getBoundingClientRect().right > right + 1) wrong.push(one.textContent); \
    } \
    return wrong; })()";

#[test]
fn nothing_is_cut_off_in_a_window_of_any_width() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    // Widths that somebody chose in a wider window do not push out what is beside them.
    place.ask("(() => { localStorage.setItem('width-sessions', 600); localStorage.setItem('width-tree', 900); location.reload(); })()");
    place.sees(".message", "Call sorted(names).");
    for width in [1440, 1280, 1151, 1150, 1024, 900, 800, 761] {
        place.browser.look(width, 700, false).unwrap();
        place.until(&format!("innerWidth === {width}"));
        assert_eq!(place.ask(CUT_OFF), json!([]), "{width} wide");
    }
    place.was_quiet();
}

#[test]
fn before_a_session_is_open_the_last_ones_are_offered() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.sees(".home .cards", "session");
    place.sees(".home .cards", "in the last 7 days");
    place.sees(".home .recent", "Sort a list");
    place.browser.click(".home .recent button").unwrap();
    place.sees(".message", "Call sorted(names).");
    place.until("!document.querySelector('.home').checkVisibility()");
    assert!(place.ask("location.search").as_str().unwrap().contains(&session));
    place.ask("history.back()");
    place.until("document.querySelector('.home').checkVisibility()");
    place.was_quiet();
}

#[test]
fn the_menu_works_with_keys_alone() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    let open = "document.querySelector('.tools .menu > button')";
    place.ask(&format!("{open}.focus()"));
    place.press(&["Enter"]);
    place.until("document.activeElement.getAttribute('role') === 'menuitem'");
    assert_eq!(place.ask(&format!("{open}.getAttribute('aria-expanded')")), "true");
    place.press(&["End"]);
    assert_eq!(place.ask("document.activeElement.textContent"), "Delete…");
    // A letter does nothing behind it.
    place.press(&["f", "u"]);
    assert_eq!(place.ask("document.activeElement.textContent"), "Delete…");
    assert_eq!(place.ask("location.search.includes('usage')"), false);
    // What has no room beside the menu is in it.
    place.press(&["ArrowDown"]);
    assert_eq!(place.ask("document.activeElement.dataset.action"), "label");
    place.press(&["Escape"]);
    assert_eq!(place.ask(&format!("document.activeElement === {open}")), true);
    assert_eq!(place.ask("document.querySelector('.tools [role=menu]').checkVisibility()"), false);
    // What was chosen is done: the session has another name.
    place.more("Rename…");
    place.until("document.querySelector('dialog input')");
    place.browser.write("Named in the menu").unwrap();
    place.press(&["Enter"]);
    place.sees(".detail h1", "Named in the menu");
    place.was_quiet();
}

#[test]
fn an_edit_is_shown_as_what_it_changes() {
    let world = World::new();
    let session = world.session();
    let edit = json!({"type": "message", "message": {"role": "assistant", "provider": "demo", "model": "small", "stopReason": "toolUse",
        "content": [{"type": "toolCall", "id": "c1", "name": "edit", "arguments": {"path": "a.py", "old": "one\ntwo\nthree", "new": "one\n2\nthree"}}]}});
    let prompt = json!({"type": "message", "message": {"role": "user", "content": "Change it"}});
    let ran = world.run_with(&format!("{prompt}\n{edit}"), &["append", &session]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.until("document.querySelector('details.call .edit')");
    let lines = |kind: &str| format!("[...document.querySelectorAll('.edit .{kind}')].map((line) => line.textContent)");
    assert_eq!(place.ask(&lines("minus")), json!(["-two"]));
    assert_eq!(place.ask(&lines("plus")), json!(["+2"]));
    assert_eq!(place.ask(&lines("same")), json!([" one", " three"]));
    place.was_quiet();
}
