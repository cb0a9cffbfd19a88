//! Turns in the view: words as they come, questions, and stopping.

use crate::place::Place;
use crate::scripts::{ASKING, ENDLESS};
use crate::world::World;

#[test]
fn words_show_as_they_come_and_a_turn_is_cancelled() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ENDLESS, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.say("go on for ever");
    place.sees(".streaming", "one two");
    place.sees(".entry", "go on for ever");
    place.sees(".status", "live");
    place.until("document.querySelector('.dot.live')");
    // Something is said meanwhile, and then it is enough.
    place.until("document.activeElement.id === 'prompt' && document.getElementById('prompt').value === ''");
    place.browser.write("and then stop").unwrap();
    place.push("Queue");
    place.sees(".prompt .buttons", "1 waiting");
    place.browser.click("#cancel").unwrap();
    place.sees(".note", "cancelled");
    place.sees(".message.assistant", "one two");
    place.until("!document.querySelector('.streaming') && document.getElementById('send')");
    assert!(place.world.ok(&["show", &session, "--json"]).contains("one two"));
    place.was_quiet();
}

#[test]
fn a_call_that_ended_does_not_run_whatever_is_heard_later() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ENDLESS, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.say("go on for ever");
    place.sees(".streaming", "one two");
    // Another window tells what it heard.
    let tell = |name: &str, call: &str, tool: &str| {
        format!(
            "window.other.postMessage({{name: 'tool.{name}', told: {{session: '{session}', call: '{call}', name: '{tool}', input: {{}}}}}})"
        )
    };
    place.ask("window.other = new BroadcastChannel('ramus-events'); undefined");
    for (name, call, tool) in [("end", "c8", "read"), ("start", "c8", "read"), ("start", "c9", "grep")] {
        place.ask(&tell(name, call, tool));
    }
    place.sees(".live", "grep is running");
    assert_eq!(place.ask("document.querySelector('.live').textContent.includes('read is running')"), false);
    place.ask(&tell("end", "c9", "grep"));
    place.until("!document.querySelector('.live').textContent.includes('is running')");
    place.browser.click("#cancel").unwrap();
    place.sees(".note", "cancelled");
    place.was_quiet();
}

#[test]
fn what_a_turn_asks_is_answered_in_the_view() {
    let world = World::new();
    let Some(mut place) = Place::scripted(world, ASKING, "") else { return };
    // A new session, from nothing.
    place.sees(".welcome", "No sessions yet");
    place.press(&["n"]);
    place.until("document.activeElement.id === 'new-place'");
    place.press(&["Enter"]);
    place.until("document.activeElement.id === 'prompt' && location.search.includes('s=')");
    place.browser.write("make it").unwrap();
    place.press(&["ctrl+Enter"]);
    place.sees(".question", "touch made");
    assert!(!place.world.path("project/made").exists());
    place.browser.click(".question[data-ready] [data-answer=once]").unwrap();
    place.sees(".message.assistant strong", "made");
    place.until("!document.querySelector('.question')");
    assert!(place.world.path("project/made").exists());
    // And denied, when it is asked again.
    std::fs::remove_file(place.world.path("project/made")).unwrap();
    place.until("document.getElementById('send')");
    place.until("document.activeElement.id === 'prompt'");
    place.browser.write("again").unwrap();
    place.push("Send");
    place.browser.click(".question[data-ready] [data-answer=deny]").unwrap();
    place.until("!document.querySelector('.question') && document.getElementById('send')");
    assert!(!place.world.path("project/made").exists());
    place.was_quiet();
}

#[test]
fn whoever_comes_in_the_middle_of_an_answer_reads_its_beginning() {
    let world = World::new();
    let words: Vec<String> = (1..=60).map(|at| format!("w{at} ")).collect();
    let steps: String = words.iter().map(|word| format!("{{ text = \"{word}\" }}, {{ delay_ms = 40 }}, ")).collect();
    let session = world.session();
    let Some(mut place) = Place::scripted(
        world,
        &format!("answers = [{{ steps = [{steps}{{ hang = true }}] }}]"),
        &format!("?s={session}"),
    ) else {
        return;
    };
    place.until("document.getElementById('send')");
    place.say("go on");
    place.sees(".streaming", "w5 ");
    place.ask("(() => { window.old = true; location.reload(); })()");
    // What was said before is there at once, and nothing of what comes is lost or there twice.
    place.until("!window.old && document.querySelector('.streaming')?.textContent.includes('w1 w2 w3 w4 w5 ')");
    let whole =
        format!("document.querySelector('.streaming .body')?.textContent.trim() === '{}'", words.concat().trim());
    place.until(&whole);
    // Nor of what another window did not hear: pieces that are missing are read.
    place.ask("(() => { window.other = new BroadcastChannel('ramus-events'); return undefined; })()");
    place.ask(&format!(
        "window.other.postMessage({{ name: 'message.delta', told: {{ session: '{session}', answer: 1, piece: 70, text: 'lost' }} }})"
    ));
    place.wait(400);
    assert_eq!(place.ask(&whole), true);
    place.was_quiet();
}

#[test]
fn a_question_that_was_answered_while_the_stream_changed_hands_does_not_stay() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ENDLESS, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.say("go on for ever");
    place.sees(".streaming", "one two");
    // Another window told of a question, and its answer was told to nobody.
    place.ask("(() => { window.other = new BroadcastChannel('ramus-events'); })()");
    place.ask(&format!(
        "window.other.postMessage({{ name: 'permission.asked', told: {{ session: '{session}', question: 'q', call: 'c', name: 'bash', permission: 'bash', exact: 'ls', because: 'x' }} }})"
    ));
    place.sees(".question", "ls");
    place.ask("window.other.postMessage({ state: 'open', isNew: true })");
    place.until("!document.querySelector('.question')");
    place.sees(".streaming", "one two");
    place.browser.click("#cancel").unwrap();
    place.sees(".note", "cancelled");
    place.was_quiet();
}
