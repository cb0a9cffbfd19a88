//! Nothing that axe-core finds serious, on any screen. It is not of this repository: `cargo xtask conformance` installs it and
//! says where it is.

use serde_json::Value;

use crate::place::Place;
use crate::world::World;

/// Has the page judged.
const JUDGE: &str = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations \
     .filter(({ impact }) => ['serious', 'critical'].includes(impact)) \
     .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`))";

/// A screen: what it is called, the address that shows it, the keys that lead there, and what is there when it is.
const SCREENS: &[(&str, &str, &[&str], &str)] = &[
    ("message", "", &[], ".message"),
    ("thread", "&tab=thread", &[], ".message"),
    ("files", "&tab=files", &[], "#detail .segments"),
    ("context", "&tab=context", &[], ".legend"),
    ("raw", "&tab=raw", &[], ".raw"),
    ("all entries", "&view=all", &[], ".message"),
    ("timeline", "&page=timeline", &[], ".timeline"),
    ("usage", "&page=usage", &[], ".figures"),
    ("done", "&page=done", &[], ".page-pane h1"),
    ("compare", "", &["h", "c"], ".sides"),
    ("palette", "", &["ctrl+k"], "#found li"),
    ("help", "", &["?"], "dialog dl"),
    ("new session", "", &["n"], "dialog form"),
    ("label", "", &["L"], "dialog form"),
    ("rewind", "", &["r"], "dialog .plan"),
];

#[test]
#[ignore = "needs axe-core, which cargo xtask conformance installs"]
fn axe_finds_nothing_serious_on_any_screen() {
    let script = std::env::var_os("RAMUS_AXE").expect("RAMUS_AXE says where axe.min.js is");
    let axe = std::fs::read_to_string(script).unwrap();
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(World::new(), &[], "") else { return };
    place.until("document.querySelector('.welcome')");
    let mut found = judged(&mut place, &axe, "first run");
    let Some(mut place) = Place::open(world, &[], "") else { return };
    let mut screens = 1;
    for (is_dark, width) in [(false, 1280), (true, 1280), (true, 390)] {
        place.browser.look(width, 800, is_dark).unwrap();
        for (name, more, keys, there) in SCREENS {
            let address = format!("{}/?s={session}{more}", place.address);
            place.browser.visit(&address).unwrap();
            place.until("document.querySelectorAll('.entry').length > 0 && document.querySelector('.detail h1')");
            if !keys.is_empty() {
                place.until("document.querySelectorAll('.message').length > 0");
                place.press(keys);
            }
            place.until(&format!("document.querySelector({})", Value::from(*there)));
            found.extend(judged(&mut place, &axe, &format!("{name}, {width} wide, dark: {is_dark}")));
            screens += 1;
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    println!("axe: {screens} screens, nothing serious");
}

fn judged(place: &mut Place, axe: &str, what: &str) -> Vec<String> {
    place.ask(&format!("{axe}; undefined"));
    let found = place.ask(JUDGE);
    found.as_array().unwrap().iter().map(|one| format!("{what}: {}", one.as_str().unwrap())).collect()
}
