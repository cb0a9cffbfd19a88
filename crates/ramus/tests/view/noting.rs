//! Notes: they lie over nothing that is needed next, and go by themselves unless somebody is at them.

use crate::place::Place;
use crate::scripts::ENDLESS;
use crate::world::World;

/// What of the page lies under a note: buttons that can be pressed, fields, and rows of the tree.
const UNDER: &str = "(() => { const note = document.querySelector('.note').getBoundingClientRect(); \
     return [...document.querySelectorAll('.detail button, .tree button, .top button, .page-pane button, textarea, .entry, .session')] \
         .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.note')) \
         .filter((one) => { const box = one.getBoundingClientRect(); const list = one.closest('.list')?.getBoundingClientRect(); \
             const bottom = list ? Math.min(box.bottom, list.bottom) : box.bottom; \
             return box.left < note.right && box.right > note.left && box.top < note.bottom && bottom > note.top; }) \
         .map((one) => one.textContent); })()";

#[test]
fn a_note_covers_nothing_that_is_needed_next() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    place.press(&["h", "Enter"]);
    place.sees(".note", "Checked out");
    for (width, height) in [(1280, 800), (1024, 700), (390, 844)] {
        place.browser.look(width, height, false).unwrap();
        place.until(&format!("innerWidth === {width}"));
        place.until("document.querySelector('.note').checkVisibility({ visibilityProperty: true })");
        assert_eq!(place.ask(UNDER), serde_json::json!([]), "{width} wide");
        let sight = "(() => { const { left, top, right, bottom } = document.querySelector('.note').getBoundingClientRect(); \
             return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && document.elementFromPoint(left + 3, top + 10)?.closest('.note') !== null; })()";
        assert_eq!(place.ask(sight), true, "{width} wide");
    }
    place.was_quiet();
}

#[test]
fn a_note_goes_by_itself_unless_somebody_is_at_it() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    // What takes long takes a moment here.
    place.ask("(() => { const real = window.setTimeout; window.setTimeout = (act, time, ...more) => real(act, time >= 5000 ? 1500 : time, ...more); })()");
    place.press(&["r"]);
    place.until("document.querySelector('[data-do=both]')?.disabled === false");
    place.browser.click("[data-do=both]").unwrap();
    place.sees(".note", "Went back");
    place.until("!document.querySelector('.note')");
    place.press(&["l", "Enter"]);
    place.until("document.querySelector('.note button')");
    place.ask("document.querySelector('.note button').focus()");
    place.wait(2500);
    assert_eq!(place.ask("document.activeElement.closest('.note') !== null"), true);
    place.ask("document.activeElement.blur()");
    place.until("!document.querySelector('.note')");
    place.was_quiet();
}

#[test]
fn what_nobody_heard_is_told_until_somebody_has_read_it() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(world, ENDLESS, &format!("?s={session}")) else { return };
    place.sees(".entry", "Without changing it?");
    place.say("go on for ever");
    place.press(&["Escape"]);
    place.sees(".streaming", "one two");
    // Somebody else says something, which the turn does not hear.
    let say = format!(
        "(async () => {{ const runs = '/api/v1/sessions/{session}/runs'; const {{ runs: [{{ run }}] }} = await (await fetch(runs)).json(); \
         await fetch(`${{runs}}/${{run}}/messages`, {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: JSON.stringify({{ text: 'from elsewhere', when: 'queue' }}) }}); }})()"
    );
    place.ask(&say);
    place.sees(".queued", "from elsewhere");
    // What takes long takes a moment here.
    place.ask("(() => { const real = window.setTimeout; window.setTimeout = (act, time, ...more) => real(act, time >= 5000 ? 300 : time, ...more); })()");
    place.browser.click("#cancel").unwrap();
    place.sees(".note", "Not told: from elsewhere");
    place.until("!document.querySelector('.notes').textContent.includes('cancelled')");
    place.wait(1000);
    place.push("Put it into the box");
    place.until("document.getElementById('prompt').value === 'from elsewhere' && !document.querySelector('.note')");
    place.was_quiet();
}
