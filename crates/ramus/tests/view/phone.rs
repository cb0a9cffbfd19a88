//! A narrow screen: one pane at a time, and always the one that has what was asked for.

use crate::place::Place;
use crate::scripts::TALK;
use crate::world::World;

/// Waits until this pane is the one that is seen.
fn shows(place: &mut Place, pane: &str) {
    place.until(&format!("document.querySelector('.switch [aria-current=true]').dataset.pane === '{pane}'"));
    place.until(&format!(
        "[...document.querySelectorAll('.pane')].filter((pane) => getComputedStyle(pane).visibility === 'visible').map((pane) => pane.classList[1]).join() === '{pane}'"
    ));
}

#[test]
fn on_a_phone_one_searches_opens_goes_back_and_writes() {
    let world = World::new();
    world.branched();
    let Some(mut place) = Place::scripted(world, TALK, "") else { return };
    place.browser.look(390, 780, true).unwrap();
    place.sees(".session", "Sort a list");
    shows(&mut place, "sessions");
    // A hit is shown, and going back leads to the list.
    place.browser.click("#search").unwrap();
    place.until("document.activeElement.id === 'palette'");
    place.browser.write("reverse").unwrap();
    place.until("document.querySelector('#found .snippet mark')?.textContent === 'reverse'");
    place.press(&["Enter"]);
    place.sees(".message.user", "And in reverse?");
    shows(&mut place, "detail");
    place.ask("history.back()");
    shows(&mut place, "sessions");
    // Session, tree, entry, and back the same way.
    place.browser.click(".session").unwrap();
    shows(&mut place, "tree");
    place.sees(".entry", "How do I sort a list?");
    place.browser.click(".entry").unwrap();
    shows(&mut place, "detail");
    place.ask("history.back()");
    shows(&mut place, "tree");
    place.ask("history.back()");
    shows(&mut place, "sessions");
    place.ask("history.forward()");
    shows(&mut place, "tree");
    // A row of a page.
    place.press(&["T"]);
    place.browser.click(".timeline button").unwrap();
    shows(&mut place, "detail");
    place.press(&["u"]);
    place.browser.click("[data-by=session]").unwrap();
    place.push("Sort a list");
    shows(&mut place, "tree");
    // The box can be written in, wherever one was.
    place.press(&["i"]);
    shows(&mut place, "detail");
    place.until("document.activeElement.id === 'prompt'");
    place.browser.write("say it").unwrap();
    place.push("Send");
    place.sees(".message.assistant", "hello");
    place.browser.click(".switch [data-pane=sessions]").unwrap();
    shows(&mut place, "sessions");
    place.push("New");
    place.push("Start");
    shows(&mut place, "detail");
    place.until("document.activeElement.id === 'prompt'");
    assert_eq!(place.ask("document.documentElement.scrollWidth <= 390"), true);
    place.was_quiet();
}

#[test]
fn on_a_wide_screen_the_address_says_nothing_of_panes() {
    let world = World::new();
    world.branched();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.browser.click(".session").unwrap();
    place.browser.click(".entry").unwrap();
    place.sees(".message.user", "How do I sort a list?");
    let address = place.ask("location.search").as_str().unwrap().to_owned();
    assert!(!address.contains("pane"), "{address}");
    place.was_quiet();
}
