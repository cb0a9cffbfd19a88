//! The box: what is written is said once, in the session it was written for, and what is asked is answered where it is asked.

use crate::place::Place;
use crate::scripts::{ASKING, ENDLESS, TALK};
use crate::world::World;

/// Has the page wait with what it sends until it is told to go on, and remember it.
const HOLD: &str = "(() => { const real = window.fetch; window.sent = []; window.fetch = async (url, how) => { \
     if (how?.method === 'POST') { window.sent.push(how.body); await new Promise((go) => (window.release = go)); } \
     return real(url, how); }; window.unhold = () => (window.fetch = real); })()";

/// Pastes a picture into the box.
const PASTE: &str = "(() => { const data = new DataTransfer(); \
     data.items.add(new File([new Uint8Array([137, 80, 78, 71])], 'dot.png', { type: 'image/png' })); \
     document.getElementById('prompt').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); })()";

/// What is in the box.
const VALUE: &str = "document.getElementById('prompt').value";

fn write(place: &mut Place, text: &str) {
    place.press(&["Escape"]);
    place.write(text);
}

#[test]
fn a_prompt_is_sent_once_and_what_is_typed_meanwhile_stays() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, TALK, &format!("?s={session}&tab=raw")) else { return };
    place.sees(".entry", "Without changing it?");
    // Another row than the leaf is looked at.
    place.press(&["h"]);
    place.until("document.querySelector('.entry[aria-selected=true]').textContent.includes('And in reverse?')");
    write(&mut place, "tell me");
    place.ask(HOLD);
    place.press(&["ctrl+Enter", "ctrl+Enter"]);
    place.browser.write("and later").unwrap();
    place.press(&["ctrl+Enter"]);
    place.ask("document.getElementById('send').click()");
    assert_eq!(place.ask("window.sent.length"), 1);
    place.ask("window.unhold(), window.release()");
    // The answer is shown, wherever one was.
    place.sees(".message.assistant", "hello");
    assert_eq!(place.ask(VALUE), "and later");
    let said = place.world.ok(&["show", &session]);
    assert_eq!(said.matches("tell me").count(), 1, "{said}");
    assert!(!said.contains("and later"), "{said}");
    // What did not arrive is in the box again, in front of what was written since.
    place.until("document.getElementById('send')");
    place.ask(
        "(() => { window.fetch = (url, how) => (how?.method === 'POST' ? new Promise((_, fail) => (window.fail = fail)) : new Promise(() => {})); })()",
    );
    place.press(&["ctrl+Enter"]);
    place.until(&format!("{VALUE} === ''"));
    place.browser.write("more").unwrap();
    place.ask("window.fail(new TypeError('gone'))");
    place.sees(".note.error", "does not answer");
    place.until(&format!("{VALUE} === 'and later\\n\\nmore'"));
    place.was_quiet();
}

#[test]
fn what_is_written_for_one_session_is_not_said_in_another() {
    let world = World::new();
    let session = world.branched();
    let other = world.ok(&["new", "--title", "Another one"]);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.until("document.querySelectorAll('.session').length === 2");
    write(&mut place, "for the first");
    place.ask(PASTE);
    place.sees(".pictures", "dot.png");
    let go = |place: &mut Place, title: &str, id: &str| {
        place.ask(&format!(
            "[...document.querySelectorAll('.session')].find((one) => one.textContent.includes('{title}')).click()"
        ));
        place.until(&format!("location.search.includes('{id}')"));
    };
    go(&mut place, "Another one", &other);
    assert_eq!(place.ask(VALUE), "");
    assert_eq!(place.ask("document.querySelectorAll('.pictures li').length"), 0);
    write(&mut place, "for the second");
    go(&mut place, "Sort a list", &session);
    assert_eq!(place.ask(VALUE), "for the first");
    place.sees(".pictures", "dot.png");
    // A picture alone is not sent, and the page says why.
    place.ask("(() => { const box = document.getElementById('prompt'); box.value = ''; box.dispatchEvent(new Event('input')); })()");
    place.push("Send");
    place.sees(".note", "A picture goes with words");
    place.sees(".pictures", "dot.png");
    go(&mut place, "Another one", &other);
    assert_eq!(place.ask(VALUE), "for the second");
    place.was_quiet();
}

#[test]
fn a_picture_is_of_the_session_it_was_given_to_and_one_beside_the_box_is_of_none() {
    let world = World::new();
    let session = world.branched();
    let other = world.ok(&["new", "--title", "Another one"]);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.until("document.querySelectorAll('.session').length === 2");
    // Reading it takes longer than going elsewhere.
    place.ask("(() => { const real = FileReader.prototype.readAsDataURL; FileReader.prototype.readAsDataURL = function (file) { setTimeout(() => real.call(this, file), 500); }; })()");
    place.ask(PASTE);
    place.ask(
        "[...document.querySelectorAll('.session')].find((one) => one.textContent.includes('Another one')).click()",
    );
    place.until(&format!("location.search.includes('{other}')"));
    place.until(&format!("sessionStorage.getItem('pictures-{session}')?.includes('dot.png')"));
    assert_eq!(place.ask(&format!("sessionStorage.getItem('pictures-{other}')")), serde_json::Value::Null);
    // What is dropped beside the box does not take the place of the page.
    let dropped = "(() => { const data = new DataTransfer(); data.items.add(new File([new Uint8Array([1])], 'dot.png', { type: 'image/png' })); \
         return ['dragover', 'drop'].map((name) => { const event = new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true }); \
         document.querySelector('.tree').dispatchEvent(event); return event.defaultPrevented; }).join(); })()";
    assert_eq!(place.ask(dropped), "true,true");
    assert_eq!(place.ask("document.querySelectorAll('.pictures li').length"), 0);
    place.was_quiet();
}

#[test]
fn a_turn_that_runs_is_not_sent_pictures_without_a_word() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ENDLESS, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    write(&mut place, "go on for ever");
    place.press(&["ctrl+Enter"]);
    place.sees(".streaming", "one two");
    place.until("document.getElementById('cancel')");
    place.browser.write("look at this").unwrap();
    place.ask(PASTE);
    place.sees(".pictures", "dot.png");
    place.press(&["ctrl+Enter"]);
    place.sees(".note", "is told words only");
    assert_eq!(place.ask(VALUE), "look at this");
    place.sees(".pictures", "dot.png");
    // Whoever has the focus on a button that goes has it in the box.
    place.ask("document.getElementById('cancel').focus()");
    place.press(&["Enter"]);
    place.until("document.getElementById('send') && document.activeElement.id === 'prompt'");
    place.was_quiet();
}

#[test]
fn a_question_stays_in_focus_and_is_answered_by_a_key() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ASKING, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    write(&mut place, "make it");
    place.press(&["ctrl+Enter"]);
    place.sees(".question", "touch made");
    place.sees(".question [data-answer=once] kbd", "y");
    place.ask("document.querySelector('.question [data-answer=once]').focus()");
    place.world.ok(&["rename", &session, "Renamed meanwhile"]);
    place.sees(".detail h1", "Renamed meanwhile");
    assert_eq!(place.ask("document.activeElement.dataset.answer"), "once");
    // What cannot be seen is not answered.
    place.press(&["u"]);
    place.until("document.activeElement.tagName === 'H1'");
    place.press(&["y"]);
    place.press(&["Escape"]);
    place.until("document.querySelector('.page-pane').hidden");
    assert_eq!(place.ask("document.querySelectorAll('.question').length"), 1);
    assert!(!place.world.path("project/made").exists());
    place.answer("y");
    place.sees(".message.assistant strong", "made");
    assert!(place.world.path("project/made").exists());
    place.press(&["?"]);
    place.sees("dialog dd", "Allow in this session");
    place.was_quiet();
}

#[test]
fn what_is_not_sent_yet_is_there_when_the_page_is_loaded_again() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, TALK, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    write(&mut place, "half a thought");
    place.ask(PASTE);
    place.sees(".pictures", "dot.png");
    place.ask("location.reload()");
    place.until(&format!("document.getElementById('prompt') && {VALUE} === 'half a thought'"));
    place.sees(".pictures", "dot.png");
    // What was said is not there any more.
    place.ask("document.querySelector('.pictures button').click()");
    place.press(&["Escape", "i"]);
    place.until("document.activeElement.id === 'prompt'");
    place.press(&["ctrl+Enter"]);
    place.sees(".message.assistant", "hello");
    place.until("document.getElementById('send')");
    place.ask("(() => { window.old = true; location.reload(); })()");
    place.until(&format!("!window.old && document.querySelector('.message.assistant') && {VALUE} === ''"));
    assert_eq!(place.ask("sessionStorage.length"), 0);
    place.was_quiet();
}

/// Has the page lose what the server answers to a prompt, once.
const LOSE: &str = "(() => { const real = window.fetch; window.fetch = async (url, how) => { const answer = await real(url, how); \
     if (how?.method === 'POST' && /runs$/.test(String(url))) { window.fetch = real; throw new TypeError('lost'); } return answer; }; })()";

#[test]
fn what_arrived_without_an_answer_is_not_said_again() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ENDLESS, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    write(&mut place, "tell me once");
    place.ask(LOSE);
    place.press(&["ctrl+Enter"]);
    place.sees(".note.error", "does not answer");
    place.until(&format!("{VALUE} === 'tell me once'"));
    place.sees(".streaming", "one two");
    // It is the same order, also after the page was loaded again and while the turn runs that it started.
    place.ask("(() => { window.old = true; location.reload(); })()");
    place.until(&format!("!window.old && document.getElementById('cancel') && {VALUE} === 'tell me once'"));
    write(&mut place, "");
    place.press(&["ctrl+Enter"]);
    place.until(&format!("{VALUE} === ''"));
    place.wait(300);
    assert_eq!(place.ask("document.querySelectorAll('.queued li').length"), 0);
    // What is said then is another order.
    write(&mut place, "tell me once");
    place.press(&["ctrl+Enter"]);
    place.sees(".queued", "tell me once");
    place.browser.click("#cancel").unwrap();
    place.until("document.getElementById('send')");
    assert_eq!(place.world.ok(&["show", &session]).matches("tell me once").count(), 1);
    assert_eq!(
        place.ask("Object.keys(sessionStorage).some((name) => sessionStorage[name].includes('sent\":{'))"),
        false
    );
    place.was_quiet();
}

/// The texts that wait, as they are shown.
const QUEUED: &str = "[...document.querySelectorAll('.queued li span')].map((one) => one.textContent).join('|')";

#[test]
fn what_waits_is_shown_taken_out_and_never_lost() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ENDLESS, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    write(&mut place, "go on for ever");
    place.press(&["ctrl+Enter"]);
    place.sees(".streaming", "one two");
    place.until("document.getElementById('cancel')");
    // Whoever is quicker than the server is heard as well, in the order of what was said.
    place.ask(HOLD);
    for (text, how) in [("steered", "Steer"), ("queued", "Queue"), ("queued too", "Queue")] {
        write(&mut place, text);
        place.push(how);
        place.until(&format!("{VALUE} === ''"));
    }
    place.ask("window.unhold(), window.release()");
    place.until(&format!("{QUEUED} === 'steered|queued|queued too'"));
    place.ask("[...document.querySelectorAll('.queued button')][1].click()");
    place.until(&format!("{QUEUED} === 'steered|queued too' && {VALUE} === 'queued'"));
    place.browser.click("#cancel").unwrap();
    place.until("document.getElementById('send') && !document.querySelector('.queued li')");
    place
        .until(&format!("{VALUE}.includes('steered') && {VALUE}.includes('queued too') && {VALUE}.includes('queued')"));
    let said = place.world.ok(&["show", &session]);
    assert!(!said.contains("steered") && !said.contains("queued"), "{said}");
    place.was_quiet();
}

#[test]
fn a_model_is_chosen_for_one_session() {
    let world = World::new();
    let session = world.branched();
    let other = world.ok(&["new", "--title", "Another one"]);
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.until("document.querySelectorAll('.session').length === 2");
    place.ask("(() => { const box = document.getElementById('model'); box.append(new Option('m', 'demo/m')); box.value = 'demo/m'; box.dispatchEvent(new Event('change')); })()");
    for (title, id, model) in [("Another one", &other, ""), ("Sort a list", &session, "demo/m")] {
        place.ask(&format!(
            "[...document.querySelectorAll('.session')].find((one) => one.textContent.includes('{title}')).click()"
        ));
        place.until(&format!("location.search.includes('{id}')"));
        place.until(&format!("document.getElementById('model').value === '{model}'"));
    }
    place.was_quiet();
}

#[test]
fn a_turn_that_waits_for_an_answer_says_so_wherever_one_is() {
    let world = World::new();
    let session = world.branched();
    world.ok(&["new", "--title", "Another one"]);
    let Some(mut place) = Place::scripted(world, ASKING, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    write(&mut place, "make it");
    place.press(&["ctrl+Enter"]);
    place.sees(".question", "touch made");
    place.sees(".status", "needs you");
    place.sees(".session .chip", "needs you");
    place.until("document.title.startsWith('Needs you: ')");
    place.sees(".live .waiting", "waits for your answer");
    // Also from another session, and for whoever comes later.
    place.ask(
        "[...document.querySelectorAll('.session')].find((one) => one.textContent.includes('Another one')).click()",
    );
    place.until("!document.title.startsWith('Needs you: ')");
    place.ask("location.reload()");
    place.sees(".session .chip", "needs you");
    place.was_quiet();
}
