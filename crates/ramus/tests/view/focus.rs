//! Where the focus is: a key means what is in front, and what is told can be seen and pressed there.

use crate::place::Place;
use crate::world::World;

/// An answer with code in it.
const CODE: &str = r#"{"type":"message","id":"dddd0001","message":{"role":"assistant","content":[{"type":"text","text":"Run this:\n\n```sh\nls\n```"}],"provider":"demo","model":"small","stopReason":"stop"}}"#;

/// Says whether the page asked for something with this in its address, after it had the time to.
fn asked(place: &mut Place, what: &str) -> bool {
    place.wait(200);
    place.browser.requests().iter().any(|url| url.ends_with(what))
}

#[test]
fn what_the_palette_does_keeps_the_focus_it_took() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.press(&["k", "ctrl+k"]);
    place.until("document.activeElement.id === 'palette'");
    place.browser.write("Write a prompt").unwrap();
    place.sees("#found [aria-selected=true]", "Write a prompt");
    place.press(&["Enter"]);
    place.until("!document.querySelector('dialog')");
    place.press(&["f", "o", "r"]);
    place.until("document.getElementById('prompt').value === 'for'");
    assert!(!asked(&mut place, "/fork"));
    // A dialog that is closed gives the focus back.
    place.press(&["Escape", "k", "?"]);
    place.sees("dialog", "Talking");
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog') && document.activeElement.matches('.tree .list')");
    place.was_quiet();
}

#[test]
fn keys_mean_no_row_that_is_covered_and_enter_none_that_is_not_in_focus() {
    let world = World::new();
    let session = world.branched();
    assert_eq!(world.run_with(CODE, &["append", &session]).code, 0);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message pre.code", "ls");
    place.press(&["u"]);
    place.sees(".page-pane h1", "Usage and cost");
    place.press(&["Enter", "f", "a"]);
    assert!(!asked(&mut place, "/fork"));
    assert!(!asked(&mut place, "/branch"));
    place.press(&["Escape"]);
    place.until("document.querySelector('.page-pane').hidden");
    // The row that is looked at is not the leaf: checking it out would be seen.
    place.press(&["h"]);
    place.until("document.querySelector('.entry[aria-selected=true]').textContent.includes('And in reverse?')");
    place.ask("document.querySelector('.divider').focus()");
    place.press(&["Enter"]);
    place.ask("document.getElementById('detail').focus()");
    place.press(&["Enter"]);
    assert!(!asked(&mut place, "/branch"));
    place.ask("document.querySelector('.tree .list').focus()");
    place.press(&["Enter"]);
    place.sees(".note", "Checked out");
    place.was_quiet();
}

#[test]
fn the_choice_on_the_page_of_usage_keeps_the_focus() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}&page=usage")) else { return };
    place.sees(".figures th", "Days");
    place.ask("document.querySelector('[data-by=day]').focus()");
    place.browser.press(&["ArrowDown"]).unwrap();
    place.sees(".figures th", "Models");
    assert_eq!(place.ask("document.activeElement.dataset.by"), "model");
    assert_eq!(place.ask("document.activeElement.getAttribute('aria-checked')"), "true");
    // The session that is open is opened again from there, and shown.
    place.ask("document.querySelector('[data-by=session]').click()");
    place.push("Sort a list");
    place.sees(".message", "Call sorted(names).");
    place.until("document.querySelector('.page-pane').hidden");
    place.was_quiet();
}

#[test]
fn what_goes_wrong_in_a_dialog_is_told_in_front_of_it() {
    let world = World::new();
    world.branched();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.browser.command("Network.clearBrowserCookies", serde_json::json!({})).unwrap();
    let address = format!("{}/", place.address);
    place.browser.visit(&address).unwrap();
    place.until("document.activeElement.type === 'password'");
    place.ask("[...document.querySelectorAll('.note')].forEach((one) => one.remove())");
    place.browser.write("no such token").unwrap();
    place.press(&["Enter"]);
    place.until("document.querySelector('dialog .note.error')?.getAttribute('role') === 'alert'");
    // It can be pressed: nothing that is inert is found where it is.
    place.until(
        "(() => { const away = document.querySelector('dialog .note.error button'); const box = away.getBoundingClientRect(); \
         return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === away; })()",
    );
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog') && document.querySelector('.sessions > .notes .note.error')");
    // Below the list of sessions, and beside everything else.
    place.until(
        "(() => { const box = document.querySelector('.notes').getBoundingClientRect(); \
         return box.top >= document.querySelector('.sessions .list').getBoundingClientRect().bottom \
             && box.right <= document.querySelector('.tree').getBoundingClientRect().left && box.bottom <= innerHeight; })()",
    );
}

#[test]
fn what_takes_a_while_is_not_done_twice() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.ask(
        "(() => { const real = window.fetch; window.sent = 0; window.fetch = async (url, how) => { \
         if (how?.method === 'POST' && JSON.parse(how.body).dry_run !== true) { window.sent++; await new Promise((go) => (window.release = go)); } \
         return real(url, how); }; })()",
    );
    place.press(&["f", "f"]);
    place.ask("document.querySelector('[data-action=fork]').click()");
    assert_eq!(place.ask("window.sent"), 1);
    place.ask("window.release()");
    place.sees(".note", "Forked");
    place.until("document.querySelectorAll('.session').length === 2");
    place.until("document.querySelector('.entry')");
    place.more("Share…");
    place.sees("dialog", "would be shared");
    place.ask("(() => { const now = document.getElementById('share-now'); now.focus(); now.click(); now.click(); })()");
    place.until("document.getElementById('share-now').getAttribute('aria-disabled') === 'true'");
    assert_eq!(place.ask("document.activeElement.id"), "share-now");
    assert_eq!(place.ask("window.sent"), 2);
    place.ask("window.release()");
    place.until("document.getElementById('share-url')");
    place.was_quiet();
}

#[test]
fn keys_of_one_letter_can_be_turned_off() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    place.press(&["?"]);
    place.until("document.getElementById('keys-on').checked");
    place.browser.click("#keys-on").unwrap();
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog')");
    // It is so for every page of this browser from then on.
    place.ask("(() => { window.old = true; location.reload(); })()");
    place.until("!window.old && document.querySelectorAll('.message').length > 0");
    let before = place.ask("location.href");
    place.press(&["u", "n", "f", "h", "?", "/"]);
    assert_eq!(place.ask("location.href"), before);
    assert_eq!(place.ask("document.querySelector('dialog')"), serde_json::Value::Null);
    // Other keys do what they did.
    place.press(&["ctrl+k"]);
    place.until("document.activeElement.id === 'palette'");
    place.press(&["Escape"]);
    place.push("?");
    place.until("document.getElementById('keys-on')?.checked === false");
    place.browser.click("#keys-on").unwrap();
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog')");
    place.press(&["u"]);
    place.until("location.search.includes('page=usage')");
    place.was_quiet();
}
