//! Coming back: after the server was away, after nobody looked, after something could not be read.

use serde_json::json;

use crate::place::Place;
use crate::scripts::ENDLESS;
use crate::world::World;

#[test]
fn a_turn_that_ended_meanwhile_does_not_run_any_more() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ENDLESS, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.say("go on for ever");
    place.sees(".streaming", "one two");
    place.sees(".status", "live");
    place.restart();
    place.until("document.getElementById('send') && !document.querySelector('.streaming')");
    place.until("!document.querySelector('.status').textContent.includes('live')");
}

#[test]
fn whoever_is_not_known_any_more_is_asked_who_they_are() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    place.browser.command("Network.clearBrowserCookies", json!({})).unwrap();
    place.restart();
    place.sees("dialog", "ramus open");
}

#[test]
fn what_happened_while_nobody_looked_is_read() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees("#session-count", "1 session");
    place.sees(".message", "Call sorted(names).");
    place.ask(&look(true));
    place.world.ok(&["new", "--title", "Made meanwhile"]);
    place.world.say(&session, "user", "Said meanwhile");
    // Nobody is told of it any more when it has been a while.
    place.wait(2500);
    place.ask(&look(false));
    place.sees(".session", "Made meanwhile");
    place.sees(".entry", "Said meanwhile");
    place.was_quiet();
}

/// Has the page believe that nobody looks at it, or somebody again.
fn look(is_hidden: bool) -> String {
    format!(
        "(() => {{ Object.defineProperty(document, 'hidden', {{ value: {is_hidden}, configurable: true }}); \
         document.dispatchEvent(new Event('visibilitychange')); }})()"
    )
}

/// A question that comes after a while.
const ASKING_LATE: &str = "answers = [\n\
    { steps = [{ text = \"let me see\" }, { delay_ms = 1500 }, { call = { id = \"c1\", name = \"bash\", arguments = { command = \"touch made\" } } }] },\n\
    { steps = [{ text = \"done\" }] },\n]";

#[test]
fn a_turn_that_needs_somebody_says_so_while_nobody_looks() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ASKING_LATE, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.say("do it");
    place.press(&["Escape"]);
    place.sees(".streaming", "let me see");
    place.ask(&look(true));
    place.until("document.title.startsWith('Needs you: ')");
    place.ask(&look(false));
    place.sees(".question", "touch made");
    place.sees(".message.assistant", "let me see");
    place.was_quiet();
}

#[test]
fn a_tree_that_could_not_be_read_is_read_later() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.sees(".session", "Sort a list");
    place.browser.command("Network.setBlockedURLs", json!({"urls": ["*outline*"]})).unwrap();
    place.browser.click(".session").unwrap();
    place.sees(".tree", "the server does not answer");
    place.browser.command("Network.setBlockedURLs", json!({"urls": []})).unwrap();
    // Whatever happens has it read again.
    place.world.say(&session, "user", "Is anybody there?");
    place.sees(".entry", "Is anybody there?");
    place.sees(".message.user", "Is anybody there?");
}
