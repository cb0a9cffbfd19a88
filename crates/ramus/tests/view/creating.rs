//! A new session: where it works is chosen, and told.

use crate::place::Place;
use crate::world::World;

#[test]
fn where_a_new_session_works_is_chosen() {
    let world = World::new();
    world.branched();
    let elsewhere = world.path("user").display().to_string();
    let project = world.path("project").display().to_string();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    // The page before a session is open offers it, with where the last ones worked.
    place.sees(".home .recent", "Sort a list");
    place.push("New session");
    place.until("document.activeElement.id === 'new-place'");
    assert_eq!(place.ask("document.activeElement.value"), project.as_str());
    // One that is called off is none.
    place.press(&["Escape"]);
    place.until("!document.querySelector('dialog')");
    assert_eq!(place.ask("location.search"), "");
    place.press(&["n"]);
    place.until("document.activeElement.id === 'new-place'");
    // What the server refuses is said where it was written.
    place.browser.write("not/a/path").unwrap();
    place.press(&["Enter"]);
    place.sees("dialog [role=alert]", "absolute");
    place.browser.forget();
    place.ask("document.getElementById('new-place').select()");
    place.browser.write(&elsewhere).unwrap();
    place.ask("document.getElementById('new-title').focus()");
    place.browser.write("Somewhere else").unwrap();
    place.press(&["Enter"]);
    place.until("document.activeElement.id === 'prompt'");
    place.sees(".detail h1", "Somewhere else");
    let told = format!("document.getElementById('prompt').placeholder.includes('it works in {elsewhere}.')");
    place.until(&told);
    let made = place.ask("new URLSearchParams(location.search).get('s')");
    let shown = place.world.json(&["session", "show", made.as_str().unwrap()]);
    assert_eq!(shown["session"]["cwd"], elsewhere.as_str());
    // The next one is offered both.
    place.push("New");
    place.until("document.activeElement.id === 'new-place'");
    assert_eq!(place.ask("document.activeElement.value"), elsewhere.as_str());
    place.ask(&format!("document.querySelector('.places [title=\"{project}\"]').click()"));
    assert_eq!(place.ask("document.activeElement.value"), project.as_str());
    place.was_quiet();
}
