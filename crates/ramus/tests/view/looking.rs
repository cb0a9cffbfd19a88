//! Opening, reading, searching, comparing: with the keyboard, and with an address that says it all.

use crate::place::Place;
use crate::world::World;

/// Text of the rows of the tree.
const ROWS: &str = "[...document.querySelectorAll('.entry')].sort((a, b) => a.offsetTop - b.offsetTop).map((row) => row.innerText.replace(/\\s+/g, ' ').trim())";

#[test]
fn a_session_is_opened_read_and_linked_to() {
    let world = World::new();
    let session = world.branched();
    world.ok(&["new", "--title", "Another one"]);
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.sees(".session", "Sort a list");
    // From the list into the tree and its detail, with keys only.
    place.press(&["ctrl+k"]);
    place.browser.write("Sort a").unwrap();
    place.sees("#found", "Sort a list");
    place.until("document.querySelector('#found [aria-selected=true]')?.textContent.includes('Sort a list')");
    place.press(&["Enter"]);
    place.sees(".detail h1", "Sort a list");
    place.sees("#tree-count", "2 branches");
    place.until("document.querySelectorAll('.entry').length === 3 && document.querySelector('.entry').textContent.includes('How do I')");
    // The branch beside the path comes first, and the leaf is marked.
    let rows = place.ask(ROWS);
    let rows: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
    assert!(rows[0].contains("⚑ answer How do I sort a list?"), "{rows:?}");
    assert!(rows[1].contains("And in reverse?") && rows[2].contains("Without changing it?"), "{rows:?}");
    assert!(rows[2].starts_with("@"), "{rows:?}");
    place.sees(".message.assistant", "Call sorted(names).");
    place.sees(".pager", "2/2");
    // To the sibling, and up to the prompt; the address follows.
    place.press(&["h"]);
    place.sees(".message.user", "And in reverse?");
    place.press(&["K", "K"]);
    place.sees(".message.user", "How do I sort a list?");
    place.until("[...document.querySelectorAll('.call')].some((one) => one.textContent.includes('list.py') && one.textContent.includes('✓'))");
    let address = place.ask("location.href");
    place.press(&["G"]);
    place.sees(".message.assistant", "Call sorted(names).");
    // The same address shows the same.
    place.browser.visit(address.as_str().unwrap()).unwrap();
    place.sees(".message.user", "How do I sort a list?");
    // Every tab has something to say.
    place.ask("document.getElementById('tab-raw').click()");
    place.sees(".raw", "aaaa0001");
    place.ask("document.getElementById('tab-context').click()");
    place.sees(".legend", "Prompts");
    place.ask("document.getElementById('tab-files').click()");
    place.sees("#detail", "No file differs.");
    place.press(&["?"]);
    place.sees("dialog", "Previous sibling branch");
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog')");
    assert!(place.ask("location.search").as_str().unwrap().contains(&session));
    place.was_quiet();
}

#[test]
fn what_was_said_is_found_and_shown_where_it_was_said() {
    let world = World::new();
    world.branched();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.sees(".session", "Sort a list");
    place.press(&["ctrl+k"]);
    place.until("document.activeElement.id === 'palette'");
    place.browser.write("reverse").unwrap();
    place.until("document.querySelector('#found .snippet mark')?.textContent === 'reverse'");
    place.press(&["Enter"]);
    place.sees(".message.user", "And in reverse?");
    place.until("document.querySelector('.entry[aria-selected=true]').textContent.includes('And in reverse?')");
    // The filter of the list asks the server.
    place.ask("document.getElementById('filter').focus()");
    place.browser.write("no such title").unwrap();
    place.until("document.querySelectorAll('.session').length === 0");
    place.was_quiet();
}

#[test]
fn two_branches_stand_side_by_side() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "And in reverse?");
    place.press(&["h", "c"]);
    place.sees(".page-pane", "are shared; behind them the branches part");
    place.sees(".sides td", "Without changing it?");
    place.sees(".sides td", "And in reverse?");
    assert!(place.ask("location.search").as_str().unwrap().contains("page=compare"));
    place.press(&["Escape"]);
    place.until("document.querySelector('.page-pane').hidden");
    place.press(&["u"]);
    place.sees(".figures", "20");
    place.sees(".page-pane", "Usage and cost");
    place.was_quiet();
}

#[test]
fn a_page_without_a_login_says_how_to_come_in() {
    let world = World::new();
    world.branched();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.browser.command("Network.clearBrowserCookies", serde_json::json!({})).unwrap();
    let address = format!("{}/", place.address);
    place.browser.visit(&address).unwrap();
    place.sees("dialog", "ramus open");
    assert_eq!(place.ask("document.querySelectorAll('.session').length"), 0);
    let token = std::fs::read_to_string(place.world.path("home/token")).unwrap();
    place.until("document.activeElement.type === 'password'");
    place.browser.write(token.trim()).unwrap();
    place.press(&["Enter"]);
    place.sees(".session", "Sort a list");
}

#[test]
fn it_works_on_a_phone_and_in_the_dark() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.browser.look(390, 780, true).unwrap();
    place.sees(".message", "Call sorted(names).");
    let shown = "[...document.querySelectorAll('.pane')].filter((pane) => getComputedStyle(pane).visibility === 'visible').map((pane) => pane.classList[1])";
    assert_eq!(place.ask(shown), serde_json::json!(["detail"]));
    assert_eq!(place.ask("document.documentElement.scrollWidth <= 390"), true);
    place.browser.click(".switch [data-pane=tree]").unwrap();
    assert_eq!(place.ask(shown), serde_json::json!(["tree"]));
    assert_eq!(place.ask("getComputedStyle(document.body).backgroundColor"), "rgb(21, 24, 21)");
    place.browser.click(".switch [data-pane=sessions]").unwrap();
    place.browser.click(".session").unwrap();
    assert_eq!(place.ask(shown), serde_json::json!(["tree"]));
    place.was_quiet();
}
