//! Nothing that axe-core finds serious, on any screen. It is not of this repository: `cargo xtask conformance` installs it and
//! says where it is.

use serde_json::Value;

use crate::place::Place;
use crate::world::World;

/// Has the page judged.
const JUDGE: &str = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations \
     .filter(({ impact }) => ['serious', 'critical'].includes(impact)) \
     .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`))";

/// A model that changes a file, which it is allowed to.
const EDIT: &str = "answers = [\n\
    { steps = [{ call = { id = \"c1\", name = \"write\", arguments = { path = \"notes.txt\", content = \"new\\n\" } } }] },\n\
    { steps = [{ text = \"written\" }] },\n]";

/// A command that must be asked for.
const ASKING: &str =
    "answers = [{ steps = [{ call = { id = \"c1\", name = \"bash\", arguments = { command = \"touch made\" } } }] }]";

/// A screen: what it is called, the address that shows it, what leads there, and what is there when it is.
struct Screen(&'static str, &'static str, fn(&mut Place), &'static str);

/// Nothing more leads there.
fn at_once(_: &mut Place) {}

const SCREENS: &[Screen] = &[
    Screen("message", "", at_once, ".message"),
    Screen("thread", "&tab=thread", at_once, ".message"),
    Screen("files", "&tab=files", at_once, "#detail .segments"),
    Screen("side by side", "&tab=files&sides=1", at_once, ".lines.two"),
    Screen("context", "&tab=context", at_once, ".legend"),
    Screen("raw", "&tab=raw", at_once, ".raw"),
    Screen("all entries", "&view=all", at_once, ".message"),
    Screen("timeline", "&page=timeline", at_once, ".timeline"),
    Screen("usage", "&page=usage", at_once, ".figures"),
    Screen("done", "&page=done", at_once, ".page-pane h1"),
    Screen("compare", "", |place| place.press(&["h", "c"]), ".sides"),
    Screen(
        "merge back",
        "",
        |place| {
            place.press(&["h", "c"]);
            place.push("Bring back…");
        },
        "dialog textarea",
    ),
    Screen("palette", "", |place| place.press(&["ctrl+k"]), "#found li"),
    Screen("help", "", |place| place.press(&["?"]), "dialog dl"),
    Screen("new session", "", |place| place.press(&["n"]), "dialog form"),
    Screen("label", "", |place| place.press(&["L"]), "dialog form"),
    Screen("rewind", "", |place| place.press(&["r"]), "dialog .plan"),
    Screen("share", "", |place| place.act("share"), "#share-now"),
    Screen("import", "", |place| place.act("import"), "dialog"),
    Screen(
        "menu",
        "",
        |place| drop(place.ask("document.querySelector('.tools .menu > button').click()")),
        ".tools [role=menu] button",
    ),
];

#[test]
#[ignore = "needs axe-core, which cargo xtask conformance installs"]
fn axe_finds_nothing_serious_on_any_screen() {
    let script = std::env::var_os("RAMUS_AXE").expect("RAMUS_AXE says where axe.min.js is");
    let axe = std::fs::read_to_string(script).unwrap();
    let world = World::new();
    let session = world.branched();
    let edit = world.file("../edit.toml", EDIT);
    world.ok(&["run", "Change the notes", "-s", &session, "--script", &edit, "--permission", "all=allow"]);
    let asking = world.file("../asking.toml", ASKING);
    let Some(mut place) = Place::open(World::new(), &[], "") else { return };
    place.until("document.querySelector('.welcome')");
    let mut found = judged(&mut place, &axe, "first run");
    let Some(mut place) = Place::open(world, &["--script", &asking], "") else { return };
    let mut screens = 1;
    for (is_dark, width) in [(false, 1280), (true, 1280), (true, 390), (false, 390)] {
        place.browser.look(width, 800, is_dark).unwrap();
        let how = format!("{width} wide, dark: {is_dark}");
        place.browser.visit(&place.address.clone()).unwrap();
        place.sees(".home .recent", "Sort a list");
        found.extend(judged(&mut place, &axe, &format!("home, {how}")));
        screens += 1;
        for Screen(name, more, lead, there) in SCREENS {
            let address = format!("{}/?s={session}{more}", place.address);
            place.browser.visit(&address).unwrap();
            place.until("document.querySelectorAll('.entry').length > 0 && document.querySelector('.detail h1')");
            if more.is_empty() {
                place.until("document.querySelectorAll('.message').length > 0");
                lead(&mut place);
            }
            place.until(&format!("document.querySelector({})", Value::from(*there)));
            found.extend(judged(&mut place, &axe, &format!("{name}, {how}")));
            screens += 1;
        }
    }
    // What a turn asks.
    for (is_dark, width) in [(false, 1280), (true, 390)] {
        place.browser.look(width, 800, is_dark).unwrap();
        let asking = place.world.session();
        place.browser.visit(&format!("{}/?s={asking}", place.address)).unwrap();
        place.until("document.getElementById('send')");
        place.press(&["i"]);
        place.until("document.activeElement.id === 'prompt'");
        place.browser.write("make it").unwrap();
        place.press(&["ctrl+Enter"]);
        place.until("document.querySelector('.question[data-ready]')");
        found.extend(judged(&mut place, &axe, &format!("question, {width} wide, dark: {is_dark}")));
        screens += 1;
    }
    assert!(found.is_empty(), "{found:#?}");
    println!("axe: {screens} screens, nothing serious");
}

#[test]
fn nothing_moves_for_whoever_asked_for_less_motion() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::scripted(
        world,
        "answers = [{ steps = [{ text = \"one\" }, { hang = true }] }]",
        &format!("?s={session}"),
    ) else {
        return;
    };
    place.sees(".message", "Call sorted(names).");
    place.say("go on");
    place.press(&["Escape"]);
    // A dot tells of a turn that runs.
    place.until("document.querySelector('.dot.live')");
    let moving = "[...document.querySelectorAll('*')].filter((one) => { const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(one); \
         return animationName !== 'none' || !/^0s(, 0s)*$/.test(transitionDuration) || scrollBehavior === 'smooth'; }).map((one) => one.className)";
    assert_ne!(place.ask(moving), serde_json::json!([]), "otherwise something moves");
    let media = serde_json::json!({"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]});
    place.browser.command("Emulation.setEmulatedMedia", media).unwrap();
    assert_eq!(place.ask(moving), serde_json::json!([]));
    place.press(&["ctrl+k"]);
    place.until("document.querySelectorAll('#found li').length > 0");
    assert_eq!(place.ask(moving), serde_json::json!([]));
    place.was_quiet();
}

fn judged(place: &mut Place, axe: &str, what: &str) -> Vec<String> {
    place.ask(&format!("{axe}; undefined"));
    let found = place.ask(JUDGE);
    found.as_array().unwrap().iter().map(|one| format!("{what}: {}", one.as_str().unwrap())).collect()
}
