//! What a turn asks is told in words, with everything that would be done, so that nobody allows what they have not seen.

use serde_json::json;

use crate::place::Place;
use crate::world::World;

/// A file, a change of it with one argument more, and a command of several lines; the model hides a letter in the last.
const ASKING: &str = r#"answers = [
    { steps = [{ call = { id = "c1", name = "write", arguments = { content = "fn main() {\n    <b>run</b>();\n}\n", path = "src/main.rs" } } }] },
    { steps = [{ call = { id = "c2", name = "edit", arguments = { old = "<b>run</b>", new = "stop", path = "src/main.rs", replace_all = true } } }] },
    { steps = [{ call = { id = "c3", name = "bash", arguments = { command = "touch made\ntouch \u202Eedam" } } }] },
    { steps = [{ text = "all of it is done" }] },
]"#;

/// What of a question can be read, as lines.
const GIVEN: &str = "document.querySelector('.question .given').innerText.split('\\n').filter(Boolean)";

#[test]
fn what_would_be_done_is_told_in_words_and_shown_whole() {
    let world = World::new();
    let session = world.session();
    let Some(mut place) = Place::scripted(world, ASKING, &format!("?s={session}")) else { return };
    place.until("document.getElementById('send')");
    place.say("do it");
    place.press(&["Escape"]);
    // A file that would be written: where, and what will stand in it, line by line.
    place.sees(".question .asks", "Write this file? src/main.rs 3 lines");
    assert_eq!(place.ask(GIVEN), json!(["fn main() {", "    <b>run</b>();", "}"]));
    place.sees(".question .because", "have everything asked that nothing else allows");
    place.until("!document.querySelector('.question').textContent.includes('ask * *')");
    place.answer("y");
    // A change: what goes, what comes, and every argument besides.
    place.sees(".question .asks", "Change this file? src/main.rs");
    assert_eq!(place.ask(GIVEN), json!(["-<b>run</b>", "+stop", "replace_all", "true"]));
    place.answer("y");
    // A command stands there as it would run, and a letter that turns others around is named.
    place.sees(".question .asks", "Run this command?");
    assert_eq!(place.ask(GIVEN), json!(["touch made", "touch ⟨U+202E⟩edam"]));
    place.answer("D");
    place.sees(".message.assistant", "all of it is done");
    assert_eq!(
        std::fs::read_to_string(place.world.path("project/src/main.rs")).unwrap(),
        "fn main() {\n    stop();\n}\n"
    );
    place.was_quiet();
}

#[test]
fn a_long_question_scrolls_and_its_answers_stay_in_sight() {
    let world = World::new();
    let lines = "a line of it\\n".repeat(400);
    let script = format!(
        "answers = [{{ steps = [{{ call = {{ id = \"c1\", name = \"write\", arguments = {{ path = \"a.txt\", content = \"{lines}the end\" }} }} }}] }}]"
    );
    let session = world.session();
    let Some(mut place) = Place::scripted(world, &script, &format!("?s={session}")) else { return };
    place.until("document.getElementById('send')");
    place.say("do it");
    place.press(&["Escape"]);
    place.sees(".question .given", "the end");
    for (width, height) in [(1280, 800), (1400, 700), (390, 844)] {
        place.browser.look(width, height, false).unwrap();
        place.until(&format!("innerWidth === {width}"));
        let seen = "[...document.querySelectorAll('.question button, .question .asks')].every((one) => { const box = one.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight && document.elementFromPoint(box.left + 4, box.top + 4)?.closest('.question'); })";
        place.until(seen);
    }
    place.was_quiet();
}

/// A command that writes a file by redirection is asked about twice: whether it may run, and whether it may write.
const TWICE: &str = r#"answers = [
    { steps = [{ call = { id = "c1", name = "bash", arguments = { command = "touch first > made" } } }] },
    { steps = [{ text = "both are there" }] },
]"#;

/// Holds what the server says to an answer until the next question is shown.
const SLOW: &str = "(() => { const real = window.fetch; window.fetch = async (url, how) => { const answer = await real(url, how); \
     if (String(url).includes('/permissions/')) while (!document.body.textContent.includes('Let this command write files?')) \
     await new Promise((go) => setTimeout(go, 10)); return answer; }; })()";

#[test]
fn a_call_that_is_asked_about_twice_is_answered_twice() {
    let world = World::new();
    let session = world.session();
    let Some(mut place) = Place::scripted(world, TWICE, &format!("?s={session}")) else { return };
    place.until("document.getElementById('send')");
    place.say("do it");
    place.press(&["Escape"]);
    place.sees(".question .asks", "Run this command?");
    place.ask(SLOW);
    place.answer("y");
    // The next question is there before it is known that the first one was answered, and it stays.
    place.sees(".question .asks", "Let this command write files?");
    place.wait(300);
    assert_eq!(place.ask("document.querySelectorAll('.question').length"), 1);
    place.answer("y");
    place.sees(".message.assistant", "both are there");
    assert!(place.world.path("project/made").exists() && place.world.path("project/first").exists());
    place.was_quiet();
}

#[test]
fn a_key_that_is_held_and_a_press_that_comes_too_soon_answer_nothing() {
    let world = World::new();
    let session = world.session();
    let Some(mut place) = Place::scripted(world, TWICE, &format!("?s={session}")) else { return };
    place.until("document.getElementById('send')");
    place.say("do it");
    place.press(&["Escape"]);
    // What is pressed in the moment in which a question comes is not meant for it.
    place.until(
        "(() => { const yes = document.querySelector('.question [data-answer=once]'); yes?.click(); return yes; })()",
    );
    place.wait(300);
    place.until("document.querySelector('.question[data-ready]')");
    place.sees(".question .asks", "Run this command?");
    // One key press is one answer, however long it lasts.
    place.ask(
        "(() => { const press = (repeat) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'y', repeat, bubbles: true, cancelable: true })); \
         press(false); window.held = setInterval(() => press(true), 30); })()",
    );
    place.sees(".question .asks", "Let this command write files?");
    place.wait(900);
    place.sees(".question[data-ready] .asks", "Let this command write files?");
    assert!(!place.world.path("project/made").exists());
    place.ask("clearInterval(window.held)");
    place.answer("D");
    place.until("!document.querySelector('.question') && document.getElementById('send')");
    assert!(!place.world.path("project/made").exists());
    place.was_quiet();
}
