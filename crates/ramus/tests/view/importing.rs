//! The first run: what is found on the machine is counted and imported, and there is an example.

use std::path::Path;

use crate::place::Place;
use crate::world::World;

/// A session of Claude Code, as short as there are.
pub(crate) const CLAUDE: &str = r#"{"type":"user","uuid":"11111111-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"11111111-2222-4333-8444-555555555555","cwd":"/srv/shop","version":"2.1.0","timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"why does it loop"}}
{"type":"assistant","uuid":"11111111-0000-4000-8000-000000000002","parentUuid":"11111111-0000-4000-8000-000000000001","sessionId":"11111111-2222-4333-8444-555555555555","cwd":"/srv/shop","version":"2.1.0","timestamp":"2026-11-01T10:00:02.000Z","message":{"role":"assistant","id":"m1","type":"message","model":"claude-x","content":[{"type":"text","text":"because of the cookie"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":5}}}
"#;

#[test]
fn sessions_of_other_agents_are_counted_and_imported() {
    let world = World::new();
    let place = world.path("user/.claude/projects/-srv-shop");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("11111111-2222-4333-8444-555555555555.jsonl"), CLAUDE).unwrap();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.sees(".welcome", "Found 1 file of 1 agent on this machine");
    place.sees(".agents", "claude");
    place.browser.click("[data-do=import]").unwrap();
    place.sees(".session", "claude");
    place.browser.click(".session").unwrap();
    place.sees(".message.assistant", "because of the cookie");
    place.was_quiet();
}

/// Puts sessions beside the example, so that a picture shows what a list looks like.
fn furnish(world: &World) {
    let directory = world.path("user/.claude/projects/-srv-shop");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("11111111-2222-4333-8444-555555555555.jsonl"), CLAUDE).unwrap();
    world.ok(&["import", "--yes"]);
    for (title, tags) in [
        ("Flaky test in the importer", &["tests"][..]),
        ("Faster cold start", &["speed", "cli"]),
        ("Release notes 2.4", &[]),
    ] {
        let session = world.ok(&["new", "--title", title]).trim().to_owned();
        world.ok(&["say", &session, title]);
        world.ok(&["say", &session, "Let me look.", "--role", "assistant"]);
        for tag in tags {
            world.ok(&["tag", &session, "add", tag]);
        }
    }
    let session = world.branched();
    world.ok(&["star", &session]);
}

#[test]
fn without_anything_there_is_an_example() {
    let Some(mut place) = Place::open(World::new(), &[], "") else { return };
    place.sees(".welcome", "No sessions of other agents were found");
    place.browser.click("#demo").unwrap();
    place.sees(".session", "Example");
    place.sees(".entry .label", "decision");
    place.sees(".message.assistant table", "until the browser closes");
    place.until(
        "document.querySelectorAll('.lane-1').length > 0 && !document.querySelector('.welcome').checkVisibility()",
    );
    // The pictures in the documentation are what this test saw.
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        furnish(&place.world);
        place.until("document.querySelectorAll('.session').length >= 6");
        place.ask("document.activeElement.blur()");
        // Where this test ran is no part of the picture.
        place.until("document.getElementById('prompt').placeholder.includes('/project')");
        place.ask("(() => { const box = document.getElementById('prompt'); box.placeholder = box.placeholder.replace(/ \\S*\\/project/, ' /srv/project'); })()");
        place.browser.screenshot(&docs.join("web.png")).unwrap();
        place.browser.look(390, 780, true).unwrap();
        place.browser.click(".switch [data-pane=tree]").unwrap();
        place.browser.screenshot(&docs.join("web-phone.png")).unwrap();
    }
    place.was_quiet();
}
