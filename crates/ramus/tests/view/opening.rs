//! `ramus open`: it finds the server that runs, tells nobody the token, and leads a browser in.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::place::Place;
use crate::world::World;

#[test]
fn a_browser_is_led_into_the_view_of_the_server_that_runs() {
    let world = World::new();
    let session = world.branched();
    let seen = world.path("seen");
    let program =
        world.file("../browser", &format!("#!/bin/sh\nprintf %s \"$*\" > {0}.new && mv {0}.new {0}\n", seen.display()));
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let world = world.with("BROWSER", &program);
    let Some(mut place) = Place::open(world, &[], "") else { return };
    let token = std::fs::read_to_string(place.world.path("home/token")).unwrap().trim().to_owned();
    // Only the address, when no browser is wanted.
    let printed: Value = place.world.json(&["open", &format!("{session}@answer"), "--no-browser"]);
    assert_eq!((&printed["address"], &printed["browser"]), (&Value::from(place.address.as_str()), &false.into()));
    assert!(printed["login"].as_str().unwrap().starts_with(&format!("{}/login#token={token}", place.address)));
    // A program is started, and what it is started with tells no secret.
    let opened = place.world.json(&["open", &format!("{session}@answer")]);
    assert_eq!(opened["browser"], true);
    let page = place.world.path("home/open.html");
    let began = std::time::Instant::now();
    while !seen.exists() && began.elapsed().as_secs() < 20 {
        std::thread::yield_now();
    }
    assert_eq!(std::fs::read_to_string(&seen).unwrap(), page.display().to_string());
    assert_eq!(std::fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o600);
    // The page leads a browser that nobody knows to the entry.
    place.browser.command("Network.clearBrowserCookies", serde_json::json!({})).unwrap();
    place.browser.visit(&format!("file://{}", page.display())).unwrap();
    place.until("location.pathname === '/' && !location.href.includes('token')");
    place.sees(".message", "Call names.sort().");
    place.until("document.querySelector('.entry[aria-selected=true] .label')?.textContent.includes('answer')");
}

#[test]
fn what_cannot_be_opened_is_said() {
    let world = World::new();
    let missing = world.run(&["open", "abcdef", "--no-browser"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (3, ""), "{}", missing.stderr);
    // What stands in a file that no server holds means nothing: a server would be started, and this port is none of ours.
    std::fs::write(world.path("home/server"), "http://127.0.0.1:9\n").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = world.run(&["open", "--no-browser", "--port", &port]);
    assert_eq!(refused.code, 1, "{} {}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("cannot listen"), "{}", refused.stderr);
}

#[test]
fn an_address_that_names_no_page_opens_the_session() {
    let world = World::new();
    let session = world.branched();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    for name in ["constructor", "toString", "__proto__", "nothing"] {
        place.browser.visit(&format!("{}/?s={session}&page={name}", place.address)).unwrap();
        place.sees(".message", "Call sorted(names).");
        place.until("document.querySelector('.page-pane').hidden");
        place.was_quiet();
    }
}

#[test]
fn whoever_is_not_known_is_asked_and_told_nothing_else() {
    let world = World::new();
    world.branched();
    let Some(mut place) = Place::open(world, &[], "") else { return };
    place.browser.command("Network.clearBrowserCookies", serde_json::json!({})).unwrap();
    place.browser.visit(&format!("{}/", place.address)).unwrap();
    place.until("document.querySelector('dialog[open] input[type=password]')");
    place.until("document.querySelector('.note') === null");
    place.browser.evaluate("document.querySelector('dialog[open] input').value = 'wrong'").unwrap();
    place.browser.evaluate("document.querySelector('dialog[open] .main').click()").unwrap();
    place.sees(".note.error", "token");
}
