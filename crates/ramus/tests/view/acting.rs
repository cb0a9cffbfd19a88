//! Changing things: going elsewhere, going back with the files, naming, forking, putting away, sharing.

use serde_json::json;

use crate::place::Place;
use crate::scripts::TALK;
use crate::world::World;

/// A model that changes a file.
const EDIT: &str = "answers = [\n\
    { steps = [{ call = { id = \"c1\", name = \"read\", arguments = { path = \"notes.txt\" } } }] },\n\
    { steps = [{ call = { id = \"c2\", name = \"edit\", arguments = { path = \"notes.txt\", old = \"old\", new = \"new\" } } }] },\n\
    { steps = [{ text = \"written\" }, { usage = { input = 900, output = 40 } }] },\n]";

/// A session of two turns; the second changed a file.
fn edited() -> (World, String) {
    let world = World::new();
    world.file("notes.txt", "old\n");
    let (talk, edit) = (world.file("../talk.toml", TALK), world.file("../edit.toml", EDIT));
    world.ok(&["run", "Say hello", "--script", &talk, "--permission", "all=allow"]);
    world.ok(&["run", "Change the notes", "-c", "--script", &edit, "--permission", "all=allow"]);
    let session = world.json(&["list"])["sessions"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(notes(&world), "new\n");
    (world, session)
}

fn notes(world: &World) -> String {
    std::fs::read_to_string(world.path("project/notes.txt")).unwrap_or_default()
}

#[test]
fn files_go_back_with_the_conversation_and_come_again() {
    let (world, session) = edited();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Change the notes");
    // What the turn changed.
    place.press(&["d"]);
    place.sees(".lines .minus", "old");
    place.sees(".lines .plus", "new");
    // Back to the end of the first turn: the dialog says first which files change.
    place.press(&["k", "r"]);
    place.sees("dialog .steps", "notes.txt changes back");
    assert_eq!(notes(&place.world), "new\n");
    place.press(&["Enter"]);
    place.sees(".note", "1 file changed");
    assert_eq!(notes(&place.world), "old\n");
    place.until("document.querySelector('.entry[aria-selected=true]').innerText.startsWith('@')");
    place.sees(".about", "Reverted");
    place.push("Undo");
    place.sees(".note", "The revert was taken back");
    assert_eq!(notes(&place.world), "new\n");
    // A file that a person changed since is kept, and the dialog says so.
    place.world.file("notes.txt", "mine\n");
    place.press(&["K", "r"]);
    place.sees("dialog .steps .conflict", "you changed it since");
    place.press(&["Enter"]);
    place.until("!document.querySelector('dialog')");
    assert_eq!(notes(&place.world), "mine\n");
    place.was_quiet();
}

#[test]
fn one_file_is_put_back_and_brought_again() {
    let world = World::new();
    world.file("notes.txt", "old\n");
    let edit = world.file("../edit.toml", EDIT);
    let session = world.session();
    world.ok(&["snapshot", &session, "--label", "before"]);
    world.ok(&["run", "Change the notes", "-s", &session, "--script", &edit, "--permission", "all=allow"]);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Change the notes");
    // Where the snapshot was taken the file was another.
    place.press(&["k", "d"]);
    place.push("Against the files now");
    place.sees(".lines .plus", "new");
    place.ask("document.querySelector('.diffs .toggle').focus()");
    place.push("Side by side");
    place.until("document.querySelector('.lines.two .minus')?.nextSibling.textContent.includes('new')");
    assert_eq!(place.ask("document.activeElement.getAttribute('aria-pressed')"), "true");
    place.push("Put this file back");
    place.sees(".note", "notes.txt is as it was");
    assert_eq!(notes(&place.world), "old\n");
    place.sees("#detail", "No file differs.");
    place.push("Undo");
    place.sees(".lines .plus", "new");
    assert_eq!(notes(&place.world), "new\n");
    // What a person wrote is asked about first.
    place.world.file("notes.txt", "mine\n");
    place.push("This turn");
    place.push("Against the files now");
    place.sees(".lines .plus", "mine");
    place.push("Put this file back");
    place.sees("dialog", "was changed since");
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog')");
    assert_eq!(notes(&place.world), "mine\n");
    place.push("Put this file back");
    place.push("Put back");
    place.sees(".note", "notes.txt is as it was");
    assert_eq!(notes(&place.world), "old\n");
    place.push("Undo");
    place.sees(".lines .plus", "mine");
    assert_eq!(notes(&place.world), "mine\n");
    place.was_quiet();
}

#[test]
fn what_came_of_a_branch_is_told_to_another() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "And in reverse?");
    place.press(&["h", "c"]);
    place.sees(".sides td", "And in reverse?");
    // Also when the page is loaded again and its tree comes late.
    let slow = "(() => { const real = window.fetch; window.fetch = async (url, how) => { \
         if (String(url).includes('outline')) await new Promise((go) => setTimeout(go, 700)); return real(url, how); }; })()";
    let added = place.browser.command("Page.addScriptToEvaluateOnNewDocument", json!({"source": slow})).unwrap();
    place.ask("(() => { window.old = true; location.reload(); })()");
    place.until("!window.old && document.querySelector('.sides td')");
    let added = json!({"identifier": added["identifier"]});
    place.browser.command("Page.removeScriptToEvaluateOnNewDocument", added).unwrap();
    place.push("Bring back…");
    place.until("document.querySelector('dialog textarea')?.value.length > 10");
    place.push("Bring back");
    place.sees(".note", "The branch knows it now");
    place.until("document.querySelector('.page-pane').hidden");
    let told = place.world.ok(&["show", &session]);
    assert!(told.contains("And in reverse?"), "{told}");
    place.was_quiet();
    // What the note offers is about that, and about nothing that was done since.
    place.world.ok(&["rename", &session, "Renamed since"]);
    place.push("Undo");
    place.sees(".note.error", "something else was done");
    assert_eq!(place.world.json(&["session", "show", &session])["session"]["title"], "Renamed since");
    assert!(place.world.ok(&["show", &session]).contains("And in reverse?"));
}

#[test]
fn one_goes_on_from_elsewhere_names_it_and_forks_it() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    let leaf = |place: &Place| {
        place.world.json(&["session", "show", &session])["session"]["leaf"].as_str().unwrap().to_owned()
    };
    place.sees(".entry", "And in reverse?");
    place.sees(".entry", "Without changing it?");
    assert_eq!(leaf(&place), "cccc0002");
    // The other branch.
    place.press(&["h", "Enter"]);
    place.sees(".note", "Checked out");
    assert_eq!(leaf(&place), "bbbb0001");
    place.until("document.querySelector('.entry[aria-selected=true]').innerText.startsWith('@')");
    place.push("Undo");
    place.until("[...document.querySelectorAll('.entry')].some((row) => row.innerText.startsWith('@') && row.innerText.includes('Without'))");
    assert_eq!(leaf(&place), "cccc0002");
    // A label, by the key, and what it is called before.
    place.press(&["L"]);
    place.until("document.activeElement.tagName === 'INPUT'");
    place.browser.write("good idea").unwrap();
    place.press(&["Enter"]);
    place.sees(".entry .label", "good idea");
    // It is told what was done, and that can be taken back and done again there.
    place.press(&["z"]);
    place.sees(".page-pane tbody", "Label");
    let press = |name: &str| {
        format!(
            "[...document.querySelectorAll('.page-pane header button')].find((one) => one.textContent === '{name}').click()"
        )
    };
    place.ask(&press("Undo"));
    place.sees(".page-pane .chip", "undone");
    place
        .until("![...document.querySelectorAll('.entry .label')].some((one) => one.textContent.includes('good idea'))");
    place.ask(&press("Redo"));
    place.sees(".entry .label", "good idea");
    place.press(&["Escape"]);
    place.until("document.querySelector('.page-pane').hidden");
    // The prompt again, otherwise: the box has its text and the leaf is in front of it.
    place.press(&["a"]);
    place.until("document.getElementById('prompt').value === 'And in reverse?' || document.getElementById('prompt').value === 'Without changing it?'");
    assert_eq!(leaf(&place), "aaaa0004");
    place.press(&["Escape"]);
    // A fork is another session, and is shown.
    place.press(&["f"]);
    place.sees(".note", "Forked");
    place.until(&format!(
        "!location.search.includes('{session}') && document.querySelectorAll('.session').length === 2"
    ));
    let listed = place.world.json(&["list", "--all", "--drafts"]);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
    place.was_quiet();
}

#[test]
fn a_session_is_starred_archived_and_deleted() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".session", "Sort a list");
    place.sees(".detail h1", "Sort a list");
    place.press(&["s"]);
    place.until("document.querySelector('.session .star[role=img]')");
    place.more("Archive");
    place.sees(".note", "Archived");
    place.until("document.querySelectorAll('.session').length === 0");
    let show = |place: &Place| place.world.json(&["session", "show", &session])["session"].clone();
    assert_eq!((&show(&place)["archived"], &show(&place)["starred"]), (&true.into(), &true.into()));
    place.push("Undo");
    place.until("document.querySelectorAll('.session').length === 1");
    assert_eq!(show(&place)["archived"], false);
    // Deleting asks first.
    place.press(&["ctrl+k"]);
    place.browser.write("Delete the session").unwrap();
    place.sees("#found [aria-selected=true]", "Delete the session for good");
    place.press(&["Enter"]);
    place.sees("dialog", "nothing brings it back");
    // A careless Enter deletes nothing.
    place.press(&["Enter"]);
    place.until("!document.querySelector('dialog')");
    assert_eq!(place.world.run(&["session", "show", &session]).code, 0);
    place.more("Delete…");
    place.sees("dialog", "nothing brings it back");
    place.push("Delete");
    place.until("document.querySelectorAll('.session').length === 0");
    assert_eq!(place.world.run(&["session", "show", &session]).code, 3);
}

#[test]
fn a_share_is_made_opened_and_taken_back() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.more("Share…");
    place.sees("dialog", "would be shared");
    place.browser.click("#share-now").unwrap();
    place.until("document.getElementById('share-url')");
    let url = place.ask("document.getElementById('share-url').value").as_str().unwrap().to_owned();
    place.sees("dialog", "Shared now");
    let view = place.ask("location.href").as_str().unwrap().to_owned();
    place.browser.visit(&url).unwrap();
    place.sees("body", "Call sorted(names).");
    place.browser.visit(&view).unwrap();
    place.sees(".session", "shared");
    place.sees(".entry", "Without changing it?");
    place.more("Share…");
    place.push("Take back");
    place.sees(".note", "works no more");
    place.browser.visit(&url).unwrap();
    place.sees("body", "the share is over");
}

#[test]
fn a_prompt_that_is_said_otherwise_brings_its_pictures_and_leaves_what_was_written() {
    let world = World::new();
    let session = world.session();
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let said = json!({"type": "message", "message": {"role": "user", "content": [
        {"type": "text", "text": "What is this?"}, {"type": "image", "mimeType": "image/png", "data": picture}]}});
    assert_eq!(world.run_with(&format!("{said}\n"), &["append", &session]).code, 0);
    world.say(&session, "assistant", "A dot.");
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message.assistant", "A dot.");
    let leaf = |place: &Place| place.world.json(&["session", "show", &session])["session"]["leaf"].clone();
    let before = leaf(&place);
    place.write("half a thought");
    place.press(&["Escape", "a"]);
    place.until("document.getElementById('prompt').value === 'What is this?\\n\\nhalf a thought'");
    place.sees(".pictures", "picture");
    place.sees(".note", "goes on in front of this prompt");
    assert_ne!(leaf(&place), before);
    // All of it is taken back.
    place.push("Undo");
    place.until("document.getElementById('prompt').value === 'half a thought'");
    place.until("document.querySelectorAll('.pictures li').length === 0");
    assert_eq!(leaf(&place), before);
    place.was_quiet();
}

/// Has the page wait with what it posts until it is told to go on.
const HOLD: &str = "(() => { const real = window.fetch; window.fetch = async (url, how) => { \
     if (how?.method === 'POST') await new Promise((go) => (window.release = go)); return real(url, how); }; \
     window.unhold = () => { window.fetch = real; window.release(); }; })()";

#[test]
fn whoever_writes_while_a_plan_is_made_goes_on_writing() {
    let (world, session) = edited();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Change the notes");
    place.ask(HOLD);
    place.press(&["k", "r"]);
    place.until("document.getElementById('left') && window.release");
    place.ask("document.getElementById('left').focus()");
    place.browser.write("Plan A").unwrap();
    place.ask("window.unhold()");
    place.sees("dialog .steps", "notes.txt changes back");
    assert_eq!(place.ask("document.activeElement.id"), "left");
    place.press(&["Enter"]);
    assert_eq!(notes(&place.world), "new\n");
    place.was_quiet();
}

#[test]
fn files_go_back_alone_where_it_is_known_how_they_were() {
    let (world, session) = edited();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Change the notes");
    place.press(&["k", "r"]);
    place.sees("dialog .steps", "notes.txt changes back");
    place.push("Files only");
    place.sees(".note", "1 file changed");
    assert_eq!(notes(&place.world), "old\n");
    // The conversation is where it was.
    place.until("!document.querySelector('dialog')");
    assert!(place.world.ok(&["show", &session]).contains("written"));
    assert_eq!(place.ask("document.querySelector('.about .reverted')"), serde_json::Value::Null);
    place.push("Undo");
    place.sees(".note", "The files are as they were before");
    assert_eq!(notes(&place.world), "new\n");
    // What a person changed since stays, unless it is wanted otherwise.
    place.world.file("notes.txt", "mine\n");
    place.press(&["r"]);
    place.sees("dialog .steps .conflict", "you changed it since");
    place.push("Files only");
    place.until("!document.querySelector('dialog')");
    assert_eq!(notes(&place.world), "mine\n");
    place.was_quiet();
    // Without a snapshot that is said.
    let Some(mut place) = Place::open(World::new(), &[], "") else { return };
    let session = place.world.branched();
    place.browser.visit(&format!("{}/?s={session}", place.address)).unwrap();
    place.sees(".entry", "Without changing it?");
    place.press(&["r"]);
    place.sees("dialog .plan", "No snapshot of the files belongs to this entry");
    assert_eq!(place.ask("document.querySelector('[data-do=files]').disabled"), true);
    place.was_quiet();
}
