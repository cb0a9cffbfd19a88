//! The lines between panes: wide enough to take hold of, moved by the mouse and by keys, and honest about where they are.

use serde_json::json;

use crate::place::Place;
use crate::world::World;

/// What the line behind a pane says of it, and how wide the pane is.
fn told(place: &mut Place, pane: &str) -> (u64, u64, u64) {
    let asked = place.ask(&format!(
        "(() => {{ const pane = document.querySelector('.pane.{pane}'); const line = pane.nextElementSibling; \
         return [line.getAttribute('aria-valuenow'), line.getAttribute('aria-valuemax'), pane.getBoundingClientRect().width].map((one) => Math.floor(Number(one))); }})()"
    ));
    let one = |at: usize| asked[at].as_u64().unwrap();
    (one(0), one(1), one(2))
}

#[test]
fn a_line_between_panes_says_where_it_is_and_can_be_taken_hold_of() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], &format!("?s={session}")) else { return };
    place.sees(".message", "Call sorted(names).");
    // What somebody chose in a wider window is not what it is here.
    place.ask("(() => { localStorage.setItem('width-tree', 620); location.reload(); })()");
    place.sees(".message", "Call sorted(names).");
    place.until("Number(document.querySelector('.tree + .divider').getAttribute('aria-valuenow')) === Math.floor(document.querySelector('.tree').getBoundingClientRect().width)");
    let (now, most, width) = told(&mut place, "tree");
    assert!(now == width && now <= most && most < 620, "{now} {most} {width}");
    for pane in ["sessions", "tree"] {
        let hold = place.ask(&format!("document.querySelector('.{pane} + .divider').getBoundingClientRect().width"));
        assert!((7.0..=9.0).contains(&hold.as_f64().unwrap()), "{hold}");
    }
    place.ask("document.querySelector('.tree + .divider').focus()");
    for (key, wanted) in
        [("ArrowLeft", most - 20), ("ArrowRight", most), ("ArrowRight", most), ("Home", 200), ("End", most)]
    {
        place.press(&[key]);
        place.until(&format!("Math.floor(document.querySelector('.tree').getBoundingClientRect().width) === {wanted}"));
        assert_eq!(told(&mut place, "tree").0, wanted, "{key}");
    }
    // In a narrower window it says what it is there.
    place.browser.look(1024, 700, false).unwrap();
    place.until("innerWidth === 1024");
    place.until(
        "Number(document.querySelector('.tree + .divider').getAttribute('aria-valuemax')) === Math.floor(1024 * 0.42)",
    );
    let (now, most, width) = told(&mut place, "tree");
    assert!(now == width && now <= most, "{now} {most} {width}");
    assert_eq!(place.ask("document.documentElement.scrollWidth <= innerWidth"), json!(true));
    place.was_quiet();
}
