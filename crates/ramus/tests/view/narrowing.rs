//! Finding one's way in many sessions and long ones: filters, families, the thread, the timeline.

use crate::importing::CLAUDE;
use crate::place::Place;
use crate::world::World;

/// Chooses something in a box of the list.
fn choose(place: &mut Place, filter: &str, value: &str) {
    let select = format!("document.querySelector('[data-filter={filter}]')");
    place.until(&format!("{select} && !{select}.hidden"));
    place.ask(&format!("(() => {{ {select}.value = '{value}'; {select}.dispatchEvent(new Event('change')); }})()"));
}

fn count(place: &mut Place, sessions: usize) {
    place.until(&format!("document.querySelectorAll('.session').length === {sessions}"));
}

#[test]
fn the_list_is_narrowed_to_an_agent_and_a_tag() {
    let world = World::new();
    let session = world.branched();
    world.ok(&["tag", &session, "add", "blue"]);
    let other = world.ok(&["new", "--title", "Another one"]);
    world.ok(&["tag", &other, "add", "red"]);
    let file = world.file("claude.jsonl", CLAUDE);
    world.ok(&["import", &file]);
    let Some(mut place) = Place::open(world, &[], "") else { return };
    count(&mut place, 3);
    choose(&mut place, "agent", "claude");
    count(&mut place, 1);
    place.sees(".session", "claude");
    choose(&mut place, "agent", "ramus");
    count(&mut place, 2);
    choose(&mut place, "tag", "blue");
    count(&mut place, 1);
    place.sees(".session", "Sort a list");
    // The address says it, and says it again.
    let address = place.ask("location.href").as_str().unwrap().to_owned();
    assert!(address.contains("agent=ramus") && address.contains("tag=blue"), "{address}");
    place.browser.visit(&address).unwrap();
    count(&mut place, 1);
    place.until("document.querySelector('[data-filter=tag]').value === 'blue'");
    choose(&mut place, "agent", "");
    choose(&mut place, "tag", "");
    count(&mut place, 3);
    place.was_quiet();
}

#[test]
fn forks_stand_below_what_they_came_from() {
    let world = World::new();
    let session = world.branched();
    let fork = world.json(&["fork", &session])["session"]["id"].as_str().unwrap().to_owned();
    world.ok(&["rename", &fork, "The fork"]);
    let deeper = world.json(&["fork", &fork])["session"]["id"].as_str().unwrap().to_owned();
    world.ok(&["rename", &deeper, "The fork of the fork"]);
    world.ok(&["new", "--title", "Nobody's child"]);
    let Some(mut place) = Place::open(world, &[], "") else { return };
    count(&mut place, 4);
    let rows = place.ask(
        "[...document.querySelectorAll('.session')].sort((a, b) => a.offsetTop - b.offsetTop)\
         .map((row) => `${row.className.match(/depth-\\d/)[0]} ${row.querySelector('.title').title}`)",
    );
    let rows: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
    let family = ["depth-0 Sort a list", "depth-1 The fork", "depth-2 The fork of the fork"];
    assert!(rows.windows(3).any(|three| three == family), "{rows:?}");
    place.was_quiet();
}

#[test]
fn the_whole_thread_is_read_and_its_turns_are_counted() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    assert_eq!(place.ask("document.querySelector('#detail').textContent.includes('How do I sort a list?')"), false);
    place.ask("document.getElementById('tab-thread').click()");
    place.sees(".message.user", "How do I sort a list?");
    place.sees(".message", "Call sorted(names).");
    // Where another branch ends, its thread is shown.
    place.press(&["h"]);
    place.sees(".message.user", "And in reverse?");
    place.until("!document.querySelector('#detail').textContent.includes('Without changing it?')");
    place.press(&["T"]);
    place.sees(".timeline", "How do I sort a list?");
    place.sees(".timeline", "Without changing it?");
    place.until("!document.querySelector('.timeline').textContent.includes('And in reverse?')");
    place.push("How do I sort a list?");
    place.until("document.querySelector('.page-pane').hidden");
    place.sees(".message.user", "How do I sort a list?");
    place.was_quiet();
}

#[test]
fn the_command_for_another_agent_is_told() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    place.more("Continue in…");
    place.sees("dialog", "--in codex");
    let command = place.ask("document.querySelector('dialog code').textContent").as_str().unwrap().to_owned();
    let place_named = command.split('\'').nth(1).unwrap();
    // What the page says is what the command line takes.
    let shown = place.world.ok(&["show", place_named]);
    assert!(shown.contains("Call sorted(names)."), "{shown}");
    place.was_quiet();
}

#[test]
fn what_is_typed_into_the_filter_stays_whatever_happens_meanwhile() {
    let world = World::new();
    let session = world.branched();
    world.ok(&["new", "--title", "Another one"]);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees("#session-count", "2 sessions");
    place.sees(".entry", "Without changing it?");
    // Somebody goes elsewhere in the moment in which nothing was looked for yet.
    place.ask(
        "(() => { const field = document.getElementById('filter'); field.value = 'Sort'; field.dispatchEvent(new Event('input')); \
         document.getElementById('tab-raw').click(); })()",
    );
    assert_eq!(place.ask("document.getElementById('filter').value"), "Sort");
    place.sees("#session-count", "1 session");
    // The browser's arrows bring back what was there.
    place.ask("document.querySelector('.order').value = 'title'; document.querySelector('.order').dispatchEvent(new Event('change'))");
    place.ask("document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input'))");
    place.sees("#session-count", "2 sessions");
    place.ask("history.back()");
    place.until("document.getElementById('filter').value === 'Sort'");
    place.was_quiet();
}

#[test]
fn a_row_names_the_model_where_it_is_another_one() {
    let world = World::new();
    let session = world.session();
    let says = |role: &str, model: &str, text: &str| {
        serde_json::json!({"type": "message", "message": {"role": role, "provider": "demo", "model": model, "stopReason": "stop",
            "content": [{"type": "text", "text": text}]}})
        .to_string()
    };
    let turns = ["small", "small", "large", "large", "small"].iter().enumerate();
    let lines: Vec<String> = turns
        .flat_map(|(at, model)| [says("user", model, &format!("Prompt {at}")), says("assistant", model, "Yes.")])
        .collect();
    assert_eq!(world.run_with(&lines.join("\n"), &["append", &session]).code, 0);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Prompt 4");
    let named = "[...document.querySelectorAll('.entry')].map((row) => /small|large/.exec(row.querySelector('.facts').textContent)?.[0] ?? '').join()";
    place.until(&format!("{named} === ',,large,,small'"));
    place.was_quiet();
}
