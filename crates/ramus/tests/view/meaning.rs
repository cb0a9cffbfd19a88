//! What a row means: in every view, whatever is done with it is done at the same place, and that is what the row shows.

use serde_json::{Value, json};

use crate::place::Place;
use crate::world::World;

/// Turns with labels; one prompt was said in the middle of a turn.
const ENTRIES: [&str; 12] = [
    r#"{"type":"message","id":"aaaa0001","message":{"role":"user","content":"First"}}"#,
    r#"{"type":"message","id":"aaaa0002","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"list.py"}}],"provider":"demo","model":"small","stopReason":"toolUse","usage":{"input":100,"output":20,"cacheRead":5,"cacheWrite":1,"totalTokens":126}}}"#,
    r#"{"type":"message","id":"aaaa0003","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","isError":false,"content":[{"type":"text","text":"names"}]}}"#,
    r#"{"type":"message","id":"aaaa0004","message":{"role":"assistant","content":[{"type":"text","text":"Said to the first"}],"provider":"demo","model":"small","stopReason":"stop"}}"#,
    r#"{"type":"message","id":"aaaa0005","message":{"role":"user","content":"Second"}}"#,
    r#"{"type":"message","id":"aaaa0006","message":{"role":"assistant","content":[{"type":"text","text":"Said to the second"}],"provider":"demo","model":"small","stopReason":"stop"}}"#,
    r#"{"type":"message","id":"aaaa0007","message":{"role":"user","content":"Third"}}"#,
    r#"{"type":"message","id":"aaaa0008","message":{"role":"assistant","content":[{"type":"text","text":"Said to the third"}],"provider":"demo","model":"small","stopReason":"stop"}}"#,
    r#"{"type":"label","id":"aaaa0009","targetId":"aaaa0004","label":"good"}"#,
    r#"{"type":"label","id":"aaaa0010","targetId":"aaaa0005","label":"asked"}"#,
    r#"{"type":"message","id":"bbbb0001","parentId":"aaaa0003","message":{"role":"user","content":"Interrupted"}}"#,
    r#"{"type":"message","id":"bbbb0002","message":{"role":"assistant","content":[{"type":"text","text":"Said to the interruption"}],"provider":"demo","model":"small","stopReason":"stop"}}"#,
];

fn append(world: &World, session: &str, lines: &[&str]) {
    let ran = world.run_with(&lines.join("\n"), &["append", session]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// Texts of the rows of the tree, in order.
fn rows(place: &mut Place) -> Vec<String> {
    let rows = place.ask(
        "[...document.querySelectorAll('.entry')].sort((a, b) => a.offsetTop - b.offsetTop).map((row) => row.innerText.replace(/\\s+/g, ' ').trim())",
    );
    rows.as_array().unwrap().iter().map(|row| row.as_str().unwrap().to_owned()).collect()
}

/// Selects the row with a text.
fn choose(place: &mut Place, text: &str) {
    let row = format!(
        "[...document.querySelectorAll('.entry')].find((row) => row.textContent.includes({}))",
        Value::from(text)
    );
    place.until(&row);
    place.ask(&format!("{row}.click()"));
    place.sees(".entry[aria-selected=true]", text);
    place.ask("document.querySelector('.tree .list').focus()");
}

/// The entry that was named last in a request to a route.
fn meant(place: &mut Place, route: &str) -> u64 {
    let found = format!("window.asked.filter((one) => one.includes('/{route}') && /%23|#/.test(one))");
    place.until(&format!("{found}.length > 0"));
    let seq = place.ask(&format!("[...{found}.pop().matchAll(/(?:%23|#)(\\d+)/g)].pop()[1]"));
    place.ask("window.asked = []; undefined");
    seq.as_str().unwrap().parse().unwrap()
}

/// What each action takes the selected row for.
fn all_meant(place: &mut Place) -> Vec<(&'static str, u64)> {
    let mut found = Vec::new();
    place.ask("window.asked = []; undefined");
    place.press(&["Enter"]);
    found.push(("checkout", meant(place, "branch")));
    place.press(&["f"]);
    found.push(("fork", meant(place, "fork")));
    place.press(&["r"]);
    found.push(("rewind", meant(place, "revert")));
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog')");
    place.more("Share…");
    found.push(("share", meant(place, "share")));
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog')");
    place.ask("document.getElementById('tab-context').click()");
    found.push(("context", meant(place, "context")));
    place.ask("document.getElementById('tab-files').click()");
    found.push(("files", meant(place, "changes")));
    place.ask("document.getElementById('tab-message').click(); document.querySelector('.tree .list').focus()");
    place.press(&["c"]);
    place.until("/[?&][ab]=/.test(location.search)");
    let sides = place.ask(
        "(() => { const given = new URLSearchParams(location.search); return given.get('b') ?? given.get('a'); })()",
    );
    found.push(("compare", sides.as_str().unwrap().parse().unwrap()));
    if place.ask("location.search.includes('page=compare')") == true {
        place.press(&["Escape"]);
    } else {
        place.push("Never mind");
    }
    place.until("!/[?&][ab]=/.test(location.search)");
    place.ask("document.querySelectorAll('.note').forEach((one) => one.remove())");
    found
}

#[test]
fn in_every_view_every_action_means_what_the_row_stands_for() {
    let world = World::new();
    let session = world.session();
    append(&world, &session, &ENTRIES);
    let tree = world.json(&["tree", &session]);
    let seq = |id: &str| {
        let entries = tree["entries"].as_array().unwrap();
        entries.iter().find(|entry| entry["id"] == id).unwrap()["seq"].as_u64().unwrap()
    };
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Interrupted");
    // Nothing is changed: what would be asked for is written down.
    place.ask(
        "(() => { const real = window.fetch; window.asked = []; window.fetch = async (url, how) => { \
         window.asked.push(`${url} ${how?.body ?? ''}`); \
         if (how?.method === 'POST') return new Response('{\"error\":{\"kind\":\"conflict\",\"message\":\"not now\"}}', { status: 409 }); \
         return real(url, how); }; })()",
    );
    for (view, text, end) in [
        ("Turns", "First", "aaaa0004"),
        ("Turns", "Second", "aaaa0006"),
        ("All", "First", "aaaa0001"),
        ("All", "Said to the first", "aaaa0004"),
        ("Prompts", "First", "aaaa0004"),
        ("Prompts", "Second", "aaaa0006"),
        // What has a label is meant itself, and of a prompt the turn; nothing that came after it.
        ("Labels", "⚑ good", "aaaa0004"),
        ("Labels", "⚑ asked", "aaaa0006"),
    ] {
        place.push(view);
        choose(&mut place, text);
        for (action, found) in all_meant(&mut place) {
            assert_eq!(found, seq(end), "{action} of {text:?} in {view}");
        }
    }
    // The pane shows the turn of what has a label, and says of no other.
    choose(&mut place, "⚑ good");
    place.sees(".message[aria-current]", "Said to the first");
    assert_eq!(place.ask("document.getElementById('detail').textContent.includes('Said to the second')"), false);
}

#[test]
fn a_turn_is_one_row_whatever_was_named_or_began_in_its_middle() {
    let world = World::new();
    let session = world.session();
    append(&world, &session, &ENTRIES);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry .facts", "from the middle of a turn");
    place.sees(".entry .text", "Interrupted");
    place.sees(".entry .facts", "1 ⚒");
    let found = rows(&mut place);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found[0].contains("⚑ good First 1 ⚒"), "{found:?}");
    assert!(found[1].contains("⚑ asked Second") && found[2].contains("Third"), "{found:?}");
    assert!(found[3].starts_with('@') && found[3].contains("Interrupted"), "{found:?}");
    // The label that is shown is the one that is changed.
    choose(&mut place, "First");
    place.press(&["L"]);
    place.until("document.activeElement.tagName === 'INPUT' && document.activeElement.value === 'good'");
    place.press(&["Escape"]);
    place.was_quiet();
}

#[test]
fn a_turn_that_branches_in_its_middle_says_so_and_each_way_has_its_own_facts() {
    let world = World::new();
    let session = world.session();
    let again = r#"{"type":"message","id":"cccc0001","parentId":"aaaa0001","message":{"role":"assistant","content":[{"type":"text","text":"Said again"}],"provider":"demo","model":"small","stopReason":"stop"}}"#;
    append(&world, &session, &[&ENTRIES[..6], &[again]].concat());
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry .facts", "2 ways on");
    place.sees(".entry .facts", "1 ⚒");
    place.sees(".entry .text", "Said again");
    let found = rows(&mut place);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found[0].contains("First 2 ways on"), "{found:?}");
    assert!(found[1].contains("read") && found[1].contains("1 ⚒") && found[2].contains("Second"), "{found:?}");
    assert!(found[3].starts_with('@') && found[3].contains("Said again"), "{found:?}");
    // What a way used is what all of it used, from its first answer on.
    let tree = place.world.json(&["tree", &session]);
    let seqs: Vec<&Value> = [1, 3].map(|at| &tree["entries"][at]["seq"]).to_vec();
    let told = place.ask(&format!(
        "fetch('/api/v1/sessions/{session}/rows?at={}-{}').then((one) => one.json()).then((one) => one.rows[0].turn)",
        seqs[0], seqs[1]
    ));
    assert_eq!((&told["tools"], &told["tokens"]), (&json!(1), &json!(126)), "{told}");
    place.was_quiet();
}

#[test]
fn a_turn_whose_answer_has_a_label_keeps_its_files_and_is_gone_on_from_with_its_answer() {
    let world = World::new();
    world.file("notes.txt", "old\n");
    let script = json!({"answers": [
        {"steps": [{"call": {"id": "c1", "name": "write", "arguments": {"path": "more.txt", "content": "new\n"}}}]},
        {"steps": [{"text": "written"}]},
    ]});
    let script = world.file("../script.toml", &toml::to_string(&script).unwrap());
    let talk = world.file("../talk.toml", "answers = [{ steps = [{ text = \"hello\" }] }]");
    world.ok(&["run", "Write more", "--script", &script, "--permission", "all=allow"]);
    let session = world.json(&["list"])["sessions"][0]["id"].as_str().unwrap().to_owned();
    world.ok(&["label", &format!("{session}@"), "fine"]);
    world.ok(&["run", "Say hello", "-s", &session, "--script", &talk]);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry .facts", "1 file");
    let found = rows(&mut place);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("◆") && found[0].contains("⚑ fine Write more") && found[0].contains("1 file"),
        "{found:?}"
    );
    choose(&mut place, "Write more");
    place.press(&["d"]);
    place.sees(".lines .plus", "new");
    place.press(&["Enter"]);
    place.sees(".note", "Checked out");
    let shown = place.world.ok(&["show", &session]);
    assert!(shown.contains("written") && !shown.contains("hello"), "{shown}");
    place.was_quiet();
}
