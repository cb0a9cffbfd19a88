//! What is done goes to the session and the branch that were meant, whatever is opened until it is done or undone.

use crate::place::Place;
use crate::world::World;

fn leaf(place: &Place, session: &str) -> String {
    place.world.json(&["session", "show", session])["session"]["leaf"].as_str().unwrap().to_owned()
}

/// Opens a session from the list.
fn open(place: &mut Place, title: &str) {
    let row = format!("[...document.querySelectorAll('.session')].find((row) => row.textContent.includes('{title}'))");
    place.until(&row);
    place.ask(&format!("{row}.click()"));
    place.sees(".detail h1", title);
    place.until("document.querySelectorAll('.entry').length === 3");
}

#[test]
fn undoing_is_for_the_session_in_which_it_was_done() {
    let world = World::new();
    let (first, second) = (world.branched(), world.branched());
    world.ok(&["rename", &second, "The other one"]);
    let Some(mut place) = Place::open(world, &[], &format!("?s={first}")) else { return };
    place.sees(".entry", "And in reverse?");
    place.sees(".message", "Call sorted(names).");
    place.press(&["h", "Enter"]);
    place.sees(".note", "Checked out");
    assert_eq!((leaf(&place, &first), leaf(&place, &second)), ("bbbb0001".into(), "cccc0002".into()));
    open(&mut place, "The other one");
    place.press(&["h", "Enter"]);
    place.until("document.querySelectorAll('.note').length === 2");
    assert_eq!(leaf(&place, &second), "bbbb0001");
    // The older note is about the session that is not open any more.
    place.ask("[...document.querySelector('.note').querySelectorAll('button')].find((one) => one.textContent === 'Undo').click()");
    place.until("document.querySelectorAll('.note').length === 1");
    place.until("document.querySelector('.entry[aria-selected=true]').innerText.startsWith('@')");
    open(&mut place, "Sort a list");
    place.until("[...document.querySelectorAll('.entry')].some((row) => row.innerText.startsWith('@') && row.innerText.includes('Without'))");
    assert_eq!((leaf(&place, &first), leaf(&place, &second)), ("cccc0002".into(), "bbbb0001".into()));
    place.was_quiet();
}

#[test]
fn what_a_dialog_asked_about_is_what_is_deleted() {
    let world = World::new();
    let (first, second) = (world.branched(), world.branched());
    world.ok(&["rename", &second, "The other one"]);
    let Some(mut place) = Place::open(world, &[], &format!("?s={first}")) else { return };
    place.sees(".entry", "And in reverse?");
    open(&mut place, "The other one");
    place.press(&["ctrl+k"]);
    place.until("document.activeElement.id === 'palette'");
    place.browser.write("Delete the session").unwrap();
    place.sees("#found [aria-selected=true]", "Delete the session for good");
    place.press(&["Enter"]);
    place.sees("dialog", "\"The other one\" goes for good");
    // The browser goes back to another session while the dialog is open.
    place.ask("history.back()");
    place.until(&format!("location.search.includes('{first}')"));
    place.push("Delete");
    place.until("document.querySelectorAll('.session').length === 1");
    assert_eq!(place.world.run(&["session", "show", &second]).code, 3);
    assert_eq!(leaf(&place, &first), "cccc0002");
    place.until(&format!("location.search.includes('{first}')"));
}

#[test]
fn files_are_compared_with_the_snapshot_of_their_own_branch() {
    let world = World::new();
    let session = world.session();
    world.file("notes.txt", "one\n");
    world.say(&session, "user", "The start");
    world.ok(&["snapshot", &session, "--label", "of the start"]);
    world.say(&session, "user", "The side");
    world.file("notes.txt", "two\n");
    world.ok(&["snapshot", &session, "--label", "of the side"]);
    world.ok(&["branch", &format!("{session}@#{}", snapshot(&world, &session, "of the start"))]);
    world.say(&session, "user", "The other side");
    world.file("notes.txt", "three\n");
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}&tab=files&diff=now")) else { return };
    place.sees(".entry", "The other side");
    place.sees("#detail", "From ◆ of the start");
    place.sees(".lines .minus", "one");
    place.push("Put this file back");
    place.push("Put back");
    place.sees(".note", "notes.txt is as it was");
    assert_eq!(std::fs::read_to_string(place.world.path("project/notes.txt")).unwrap(), "one\n");
    place.was_quiet();
}

/// The position of a snapshot.
fn snapshot(world: &World, session: &str, label: &str) -> u64 {
    let listed = world.json(&["snapshots", session]);
    let found = listed["snapshots"].as_array().unwrap().iter().find(|one| one["label"] == label);
    found.unwrap()["seq"].as_u64().unwrap()
}

#[test]
fn a_session_is_tagged() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".detail h1", "Sort a list");
    place.press(&["ctrl+k"]);
    place.until("document.activeElement.id === 'palette'");
    place.browser.write("Tag the").unwrap();
    place.sees("#found [aria-selected=true]", "Tag the session");
    place.press(&["Enter"]);
    place.until("document.activeElement.getAttribute('aria-label')?.startsWith('Tags')");
    place.browser.write("blue, red,").unwrap();
    place.press(&["Enter"]);
    place.sees(".session .chip:not(.agent)", "blue");
    place.sees(".session .chip", "red");
    place.push("Undo");
    place.until("!document.querySelector('.session .chip:not(.agent)')");
    place.was_quiet();
}

#[test]
fn an_imported_entry_says_where_it_stood() {
    let world = World::new();
    let file = world.file("claude.jsonl", crate::importing::CLAUDE);
    world.ok(&["import", &file]);
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.browser.click(".session").unwrap();
    place.sees(".message.assistant", "because of the cookie");
    place.ask("document.getElementById('tab-raw').click()");
    place.sees(".origin", "Imported from claude");
    place.sees(".origin code", "claude.jsonl:1");
    place.was_quiet();
}
