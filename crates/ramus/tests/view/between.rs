//! Between sessions: links to those that one came from and those it started, and what an address says of one and not of another.

use serde_json::Value;

use crate::place::Place;
use crate::world::World;

/// A call that starts a subagent.
const TASK: [&str; 2] = [
    r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"t1","name":"task","arguments":{"content":"what to do","path":"for whom","description":"Look at the tests"}}],"provider":"demo","model":"small","stopReason":"toolUse"}}"#,
    r#"{"type":"message","message":{"role":"toolResult","toolCallId":"t1","toolName":"task","isError":false,"content":[{"type":"text","text":"looked"}]}}"#,
];

fn post(place: &mut Place, route: &str, body: &str) -> Value {
    place.ask(&format!(
        "fetch('/api/v1/sessions{route}', {{method: 'POST', headers: {{'content-type': 'application/json'}}, body: {}}}).then((one) => one.json())",
        Value::from(body)
    ))
}

#[test]
fn a_subagent_its_parent_and_a_fork_lead_to_each_other() {
    let world = World::new();
    let parent = world.ok(&["new", "--title", "The parent"]);
    world.say(&parent, "user", "Have it done");
    assert_eq!(world.run_with(&TASK.join("\n"), &["append", &parent]).code, 0);
    let Some(mut place) = Place::open(world, &[], &format!("?s={parent}")) else { return };
    place.sees("#session-count", "1 session");
    let made = post(&mut place, "", &format!(r#"{{"title": "Look at the tests", "parent": "{parent}"}}"#));
    let child = made["session"]["id"].as_str().unwrap().to_owned();
    place.world.say(&child, "user", "Look");
    // The call that started it leads to it, and so does the head.
    place.sees(".about .kin", "Started 1 subagent: Look at the tests");
    place.sees("#session-count", "1 session, 1 subagent not shown");
    place.ask("document.querySelector('details.call').open = true");
    // What a call is about comes before what it says.
    place.until("document.querySelector('details.call .argument')?.textContent.startsWith('path')");
    place.push("Open the subagent: Look at the tests");
    place.sees(".about .kin", "A subagent of The parent");
    place.sees(".message.user", "Look");
    // The list says that it does not show what is open, and shows it.
    place.sees("#session-hidden", "What is open is a subagent");
    place.push("Show subagents");
    place.until("document.querySelector('.session[aria-selected=true]')?.textContent.includes('Look at the tests')");
    place.until("document.getElementById('session-hidden').hidden");
    place.push("The parent");
    place.sees(".detail h1", "The parent");
    // A fork leads to where it was forked.
    let made = post(&mut place, &format!("/{parent}/fork"), "{}");
    let fork = made["session"]["id"].as_str().unwrap().to_owned();
    let to = format!("{}/?s={fork}", place.address);
    place.browser.visit(&to).unwrap();
    place.sees(".about .kin", "A fork of The parent");
    // A comparison with it can be turned round; what was selected here is no place there.
    place.browser.visit(&format!("{to}&e=9999&page=compare&with={parent}")).unwrap();
    place.until("document.querySelector('.sides')");
    place.push("Swap");
    place.until(&format!("location.search.includes('s={parent}') && location.search.includes('with={fork}')"));
    place.until("/[?&]e=\\d/.test(location.search) && !location.search.includes('e=9999')");
    place.browser.visit(&to).unwrap();
    place.sees(".about .kin", "A fork of The parent");
    place.push("The parent");
    place.until(&format!("location.search.includes('s={parent}') && location.search.includes('e=')"));
    place.sees(".detail h1", "The parent");
    place.was_quiet();
}

#[test]
fn half_a_comparison_stays_in_its_session_and_an_error_can_be_closed() {
    let world = World::new();
    let (first, second) = (world.branched(), world.branched());
    world.ok(&["rename", &second, "The other one"]);
    let Some(mut place) = Place::open(world, &[], &format!("?s={first}&a=3")) else { return };
    place.sees(".entry", "And in reverse?");
    let other = "[...document.querySelectorAll('.session')].find((row) => row.textContent.includes('The other one'))";
    place.until(other);
    place.ask(&format!("{other}.click()"));
    place.sees(".detail h1", "The other one");
    assert_eq!(place.ask("/[?&](a|b|with)=/.test(location.search)"), false);
    let to = format!("{}/?s={second}&page=compare&a=99999", place.address);
    place.browser.visit(&to).unwrap();
    place.sees(".page-pane .stopped", "99999");
    place.sees(".page-pane header button", "Swap");
    place.push("Close");
    place.until("document.querySelector('.page-pane').hidden && !/[?&](a|b|with)=/.test(location.search)");
}

#[test]
fn an_address_that_names_nothing_shows_what_is_shown_without_it() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}&tab=nothing&view=nothing")) else { return };
    place.sees(".message.assistant", "Call sorted(names).");
    assert_eq!(place.ask("document.getElementById('tab-message').getAttribute('aria-selected')"), "true");
    // Nobody can talk to what is not there.
    let to = format!("{}/?s=nothing", place.address);
    place.browser.visit(&to).unwrap();
    place.sees(".detail h1", "No such session");
    assert_eq!(place.ask("document.getElementById('send')?.offsetParent ?? null"), Value::Null);
    assert_eq!(place.ask("document.querySelector('.tools').hidden"), true);
}

#[test]
fn going_through_sessions_is_one_step_back() {
    let world = World::new();
    for at in 0..6 {
        world.ok(&["new", "--title", &format!("Session {at}")]);
    }
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees("#session-count", "7 sessions");
    let before = place.ask("history.length").as_u64().unwrap();
    place.ask("document.querySelector('.sessions .list').focus()");
    for at in (0..5).rev() {
        place.press(&["ArrowDown"]);
        place.sees(".session[aria-selected=true]", &format!("Session {}", at + 1));
    }
    assert_eq!(place.ask("history.length").as_u64().unwrap(), before + 1);
    place.ask("history.back()");
    place.until(&format!("location.search.includes('{session}')"));
    place.was_quiet();
}

#[test]
fn what_is_done_tells_through_what_and_in_words() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.press(&["h", "Enter"]);
    place.sees(".note", "Checked out");
    place.press(&["s"]);
    place.until("document.querySelector('.session .star')");
    let token = std::fs::read_to_string(place.world.path("home/token")).unwrap().trim().to_owned();
    let tagged = |client: &str, tag: &str| {
        format!(
            "fetch('/api/v1/sessions/{session}', {{method: 'PATCH', credentials: 'omit', headers: {{'content-type': 'application/json', authorization: 'Bearer {token}'{client}}}, body: '{{\"tags\": [\"{tag}\"]}}'}}).then((one) => one.status)"
        )
    };
    assert_eq!(place.ask(&tagged("", "one")), 200);
    assert_eq!(place.ask(&tagged(", 'ramus-client': 'probe'", "two")), 200);
    assert_eq!(place.ask(&tagged(", 'ramus-client': 'a b'", "three")), 200);
    let address = place.address.clone();
    place.world.ok(&["--server", &address, "--token-file", "../home/token", "rename", &session, "Named"]);
    place.world.ok(&["rename", &session, "Named here"]);
    let done = place.world.json(&["log", &session]);
    let clients: Vec<&str> =
        done["operations"].as_array().unwrap().iter().take(7).map(|one| one["client"].as_str().unwrap()).collect();
    assert_eq!(clients, ["cli", "cli", "http", "probe", "http", "web", "web"], "{done}");
    place.press(&["z"]);
    place.sees(".page-pane tbody tr", "Starred");
    place.sees(".page-pane tbody tr", "web view");
    place.sees(".page-pane tbody tr", "one");
    assert_eq!(place.ask("/=true|\\[\"/.test(document.querySelector('.page-pane tbody').textContent)"), false);
    place.was_quiet();
}
