//! Many windows of one browser: they share one stream of events, and the server answers all of them.

use serde_json::json;

use crate::place::Place;
use crate::scripts::ENDLESS;
use crate::world::World;

/// How many windows there are besides the first: a browser has six connections for a server.
const MORE: usize = 6;

/// Whether all windows hold so many elements with a text.
fn all_see(selector: &str, text: &str) -> String {
    format!(
        "[window, ...window.more].every((one) => [...one.document.querySelectorAll('{selector}')].some((found) => found.textContent.includes('{text}')))"
    )
}

#[test]
fn seven_windows_are_answered_and_told_what_happens() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ENDLESS, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.ask("window.more = []; undefined");
    for at in 1..=MORE {
        // Only what a person does opens windows.
        let open = "window.more.push(window.open(location.href, '', 'width=900,height=700')); undefined";
        place.browser.command("Runtime.evaluate", json!({"expression": open, "userGesture": true})).unwrap();
        place.until(&format!("window.more[{at} - 1]?.document.querySelectorAll('.entry').length > 1"));
    }
    place.until(&all_see(".entry", "Without changing it?"));
    // What is said from elsewhere, and what a model says word by word, comes to all of them.
    place.world.say(&session, "user", "Is anybody there?");
    place.until(&all_see(".entry", "Is anybody there?"));
    place.ask("window.more[3].document.getElementById('prompt').focus()");
    place.ask(
        "(() => { const { document } = window.more[3]; const box = document.getElementById('prompt'); box.value = 'go on for ever'; \
         box.dispatchEvent(new Event('input')); document.getElementById('send').click(); })()",
    );
    place.until(&all_see(".streaming", "one two"));
    // Whoever holds the stream goes, and the others are told on.
    place.ask("window.more.shift().close()");
    place.ask("window.more[0].document.getElementById('cancel').click()");
    place.until("[window, ...window.more].every((one) => one.document.getElementById('send'))");
    place.until(&all_see(".message.assistant", "one two"));
    place.was_quiet();
}
