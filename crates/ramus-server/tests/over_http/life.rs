//! What happens to sessions over their life, over HTTP: todos, archiving, undoing, comparing, sharing, leaving and coming in.

use serde_json::{Value, json};

use crate::http::{Request, Response};
use crate::world::World;

fn done(response: &Response) -> Value {
    assert!(response.status < 300, "{}: {}", response.status, String::from_utf8_lossy(&response.body));
    response.json()
}

fn of(session: &str, what: &str) -> String {
    format!("/api/v1/sessions/{session}/{what}")
}

#[test]
fn todos_belong_to_the_path() {
    let world = World::start();
    let session = world.session();
    let todos = of(&session, "todos");
    done(&world.post(&todos, &json!({"add": {"text": "write"}})));
    let added = done(&world.post(&todos, &json!({"add": {"text": "test", "blocked_by": ["1"]}})));
    assert_eq!(added["todos"][1]["waits_for"], json!(["1"]));
    let finished = done(&world.post(&todos, &json!({"done": ["1"]})));
    assert_eq!(finished["todos"][0]["status"], "completed");
    assert_eq!(world.read(&todos)["todos"], finished["todos"]);
    assert_eq!(world.post(&todos, &json!({"done": ["9"]})).status / 100, 4);
    assert_eq!(world.post(&todos, &json!({"forget": []})).status, 422);
}

#[test]
fn archived_sessions_are_out_of_the_way_until_they_are_brought_back() {
    let world = World::start();
    let session = world.session();
    let listed = |archived: bool| {
        let list = world.read(&format!("/api/v1/sessions?drafts=true&archived={archived}"));
        list["sessions"].as_array().unwrap().len()
    };
    assert_eq!(done(&world.post(&of(&session, "archive"), &json!({})))["session"]["archived"], true);
    assert_eq!((listed(false), listed(true)), (0, 1));
    done(&world.post(&of(&session, "unarchive"), &json!({})));
    assert_eq!(listed(false), 1);
}

#[test]
fn whatever_was_done_last_is_undone_and_done_again() {
    let world = World::start();
    let session = world.session();
    let show = || world.read(&format!("/api/v1/sessions/{session}"))["session"]["title"].clone();
    done(
        &world
            .request("PATCH", &format!("/api/v1/sessions/{session}"))
            .json(&json!({"title": "other"}))
            .send(world.address),
    );
    assert_eq!(show(), "other");
    let log = world.read(&of(&session, "log"));
    assert_eq!((&log["operations"][0]["op"], &log["operations"][0]["client"]), (&json!("rename"), &json!("server")));
    let planned = done(&world.post(&of(&session, "undo"), &json!({"dry_run": true})));
    assert_eq!((&planned["applied"], show()), (&json!(false), json!("other")));
    done(&world.post(&of(&session, "undo"), &json!({})));
    assert_eq!(show(), "a session");
    done(&world.post(&of(&session, "redo"), &json!({})));
    assert_eq!(show(), "other");
    assert!(world.read(&of(&session, "log?all=true"))["sessions"].as_array().unwrap().len() == 1);
}

#[test]
fn branches_are_compared_and_brought_together() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["ask"]);
    let fork = done(&world.post(&of(&session, "fork"), &json!({})))["session"]["id"].as_str().unwrap().to_owned();
    world.append(&fork, &["there"]);
    world.append(&session, &["here"]);
    let compared = world.read(&of(&session, &format!("compare?with={fork}")));
    assert_eq!(compared["shared_messages"], 1);
    assert_eq!((&compared["a"]["messages"], &compared["b"]["messages"]), (&json!(1), &json!(1)));
    let order = json!({"from": fork, "summary": "It works there."});
    let merged = done(&world.post(&of(&session, "merge-back"), &order));
    assert!(merged["text"].as_str().unwrap().contains("It works there."));
    assert_eq!(world.read(&of(&session, "artifacts"))["artifacts"], json!([]));
    assert_eq!(world.get(&of(&session, "compare?with=none")).status, 404);
}

#[test]
fn what_was_said_is_cleared_reset_and_purged() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["one", "two", "three"]);
    assert_eq!(done(&world.post(&of(&session, "purge"), &json!({"entry": "#4"})))["purged"]["messages"], 1);
    assert_eq!(done(&world.post(&of(&session, "clear"), &json!({})))["messages"], 2);
    let watched = world.request("GET", &of(&session, "events")).events(world.address);
    let reset = done(&world.post(&of(&session, "reset"), &json!({})));
    assert_eq!(reset["history_cleared"], true);
    // Positions that were told mean nothing any more, so whoever watches is told and starts anew.
    let last = watched.last().unwrap();
    assert_eq!((last.name.as_str(), last.data["seq"].as_u64().unwrap() < 4), ("reset", true));
    let booted = done(&world.post(&of(&session, "boot"), &json!({"welcome": "Hello!"})));
    assert_eq!((&booted["welcome"], &booted["is_new"]), (&json!("Hello!"), &json!(true)));
    assert_eq!(done(&world.post(&of(&session, "boot"), &json!({})))["is_new"], false);
}

#[test]
fn i11_a_share_is_served_to_whoever_has_its_address_until_it_is_taken_back() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["the secret is sk-ant-REDACTED, keep it"]);
    let planned = world.post(&of(&session, "share"), &json!({"dry_run": true}));
    assert_eq!((planned.status, &planned.json()["share"]), (200, &Value::Null));
    let made = world.post(&of(&session, "share"), &json!({"expires_in": 3600}));
    assert_eq!(made.status, 201);
    let made = made.json();
    let url = made["share"]["url"].as_str().unwrap();
    let target = url.strip_prefix(&format!("http://{}", world.address)).unwrap();
    let open = |target: &str| Request::new("GET", target).send(world.address);
    let page = open(target);
    let text = String::from_utf8_lossy(&page.body).into_owned();
    assert_eq!(page.status, 200);
    assert!(text.contains("keep it") && !text.contains("sk-ant-api03"), "{text}");
    assert!(page.header("x-robots-tag").unwrap().contains("noindex"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("sha256-"), "{policy}");
    // Another secret, none, and one that is too short.
    let (path, secret) = target.split_once("?secret=").unwrap();
    for wrong in ["", "?secret=", &format!("?secret={}", &secret[1..]), &format!("?secret={secret}0")] {
        assert_eq!(open(&format!("{path}{wrong}")).status, 404, "{wrong}");
    }
    assert_eq!(world.read("/api/v1/shares")["shares"].as_array().unwrap().len(), 1);
    let theirs = world.as_bob("GET", "/api/v1/shares").send(world.address).json();
    assert_eq!(theirs["shares"], json!([]));
    assert!(!world.read("/api/v1/shares").to_string().contains(secret));
    assert_eq!(world.read(&format!("/api/v1/sessions/{session}"))["session"]["share"]["id"], made["share"]["id"]);
    let ended = world.request("DELETE", &of(&session, "share")).send(world.address);
    let unshared = done(&ended)["unshared"].as_array().unwrap().clone();
    assert!(unshared.len() == 1 && unshared[0]["revoked"].is_string(), "{unshared:?}");
    // It is gone for whoever had its address, and nothing for everybody else.
    let gone = open(target);
    assert_eq!((gone.status, gone.kind().as_str()), (410, "not-found"));
    assert_eq!(open(&format!("{path}?secret={}", &secret[1..])).status, 404);
    assert!(world.post(&of(&session, "share"), &json!({"expires_in": 0})).status == 422);
}

/// Shares a path and returns its id and what opens it.
fn shared(world: &World, session: &str, entry: Option<&str>) -> (String, String) {
    let made = done(&world.post(&of(session, "share"), &json!({"entry": entry, "expires_in": null})));
    let url = made["share"]["url"].as_str().unwrap();
    let target = url.strip_prefix(&format!("http://{}", world.address)).unwrap();
    (made["share"]["id"].as_str().unwrap().to_owned(), target.to_owned())
}

#[test]
fn i11_a_share_does_not_outlive_what_was_erased_of_it() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["one", "two", "three"]);
    let open = |target: &str| Request::new("GET", target).send(world.address).status;
    let (early, short) = shared(&world, &session, Some("#2"));
    let (late, long) = shared(&world, &session, None);
    let purge = |dry_run: bool| {
        let answer = world.post(&of(&session, "purge"), &json!({"entry": "#4", "dry_run": dry_run}));
        done(&answer)["purged"]["shares"].clone()
    };
    assert_eq!((purge(true), open(&long)), (json!([late]), 200));
    assert_eq!((purge(false), open(&long), open(&short)), (json!([late]), 410, 200));
    let reset = |dry_run: bool| {
        let answer = world.post(&of(&session, "reset"), &json!({"dry_run": dry_run}));
        done(&answer)["removed"]["shares"].clone()
    };
    assert_eq!((reset(true), open(&short)), (json!([early]), 200));
    assert_eq!((reset(false), open(&short)), (json!([early]), 410));
    assert_eq!(done(&world.post("/api/chat", &json!({"message": "hello"})))["reply"], "two words");
    let own = done(&world.get("/api/session/info"))["session"].as_str().unwrap().to_owned();
    let (_, target) = shared(&world, &own, None);
    assert_eq!(open(&target), 200);
    done(&world.delete("/api/session/history"));
    assert_eq!(open(&target), 410);
}

#[test]
fn i11_where_entries_were_written_again_a_purge_ends_every_share() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["one", "two", "three", "four"]);
    let order = json!({"first": "#3", "last": "#4", "text": "in short"});
    done(&world.post(&of(&session, "replace-segment"), &order));
    let (_, target) = shared(&world, &session, Some("#5"));
    done(&world.post(&of(&session, "branch"), &json!({"entry": "#2"})));
    let aside = world.append(&session, &["aside"])[0];
    assert_eq!(Request::new("GET", &target).send(world.address).status, 200);
    // Which paths it was on is not known any more.
    done(&world.post(&of(&session, "purge"), &json!({"entry": format!("#{aside}")})));
    assert_eq!(Request::new("GET", &target).send(world.address).status, 410);
}

#[test]
fn a_bundle_leaves_one_home_and_comes_into_another() {
    let (here, there) = (World::start(), World::start());
    let session = here.session();
    here.append(&session, &["one", "two"]);
    let bundle = here.get(&of(&session, "export"));
    assert_eq!(bundle.status, 200);
    assert!(bundle.header("content-disposition").unwrap().starts_with("attachment"));
    let send = |world: &World, query: &str| {
        let mut request = world.request("POST", &format!("/api/v1/import{query}"));
        request = request.header("content-type", "application/json");
        request.body = bundle.body.clone();
        request.send(world.address)
    };
    assert_eq!(done(&send(&there, "?dry_run=true"))["imported"].as_array().unwrap().len(), 1);
    assert_eq!(there.get(&format!("/api/v1/sessions/{session}")).status, 404);
    assert_eq!(done(&send(&there, ""))["imported"][0]["id"], session.as_str());
    let read = |world: &World| world.read(&of(&session, "entries"))["entries"].clone();
    assert_eq!(read(&here), read(&there));
    for (to, part) in [("html", "<!doctype html>"), ("md", "two"), ("pi", "\"type\":\"session\"")] {
        let text = here.get(&of(&session, &format!("export?to={to}")));
        assert!(String::from_utf8_lossy(&text.body).contains(part), "{to}");
        assert!(text.header("content-security-policy").unwrap().contains("default-src 'none'"));
    }
    let mut broken = there.request("POST", "/api/v1/import").header("content-type", "application/json");
    broken.body = bundle.body[..bundle.body.len() / 2].to_vec();
    assert_eq!(broken.send(there.address).status / 100, 4);
    let mut theirs = there.as_bob("POST", "/api/v1/import").header("content-type", "application/json");
    theirs.body = bundle.body.clone();
    assert_eq!(theirs.send(there.address).status, 403);
}

#[test]
fn only_the_user_of_the_home_may_clean_it_up() {
    let world = World::start();
    let collected = done(&world.post("/api/v1/gc", &json!({})));
    assert_eq!(collected["dry_run"], true);
    for route in ["/api/v1/gc", "/api/v1/retain"] {
        assert_eq!(world.as_bob("POST", route).json(&json!({})).send(world.address).status, 403);
    }
    assert_eq!(world.post("/api/v1/retain", &json!({})).status, 422);
}

#[test]
fn a25_the_files_of_snapshots_come_along_when_they_are_asked_for() {
    let (world, other) = (World::start(), World::start());
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("a.txt");
    std::fs::write(&file, "kept").unwrap();
    let made = world.post("/api/v1/sessions", &json!({"cwd": place.path()}));
    let session = done(&made)["session"]["id"].as_str().unwrap().to_owned();
    let taken = done(&world.post(&of(&session, "snapshots"), &json!({})));
    let export = |query: &str| world.get(&of(&session, &format!("export{query}")));
    let whole = export("?with_snapshots=true");
    assert_eq!(whole.status, 200);
    assert!(whole.body.len() > export("").body.len());
    assert_eq!(export("?to=md&with_snapshots=true").status, 400);
    let mut request = other.request("POST", "/api/v1/import").header("content-type", "application/json");
    request.body = whole.body;
    assert_eq!(done(&request.send(other.address))["imported"].as_array().unwrap().len(), 1);
    std::fs::remove_file(&file).unwrap();
    done(&other.post(&of(&session, "restore"), &json!({"snapshot": taken["snapshot"]["commit"]})));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn whoever_says_the_name_of_a_snapshot_gets_no_files_for_it() {
    let world = World::start();
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("a.txt"), "private").unwrap();
    let made = world.post("/api/v1/sessions", &json!({"cwd": place.path()}));
    let session = done(&made)["session"]["id"].as_str().unwrap().to_owned();
    let taken = done(&world.post(&of(&session, "snapshots"), &json!({})));
    let commit = taken["snapshot"]["commit"].as_str().unwrap();
    let theirs = world.as_bob("POST", "/api/v1/sessions").json(&json!({})).send(world.address);
    let theirs = done(&theirs)["session"]["id"].as_str().unwrap().to_owned();
    let said = json!({"text": format!("what was in {commit}?")});
    assert_eq!(world.as_bob("POST", &of(&theirs, "messages")).json(&said).send(world.address).status, 201);
    let export = |query: &str| {
        let response = world.as_bob("GET", &of(&theirs, &format!("export{query}"))).send(world.address);
        assert_eq!(response.status, 200);
        response.body.len()
    };
    assert_eq!(export("?with_snapshots=true"), export(""));
}

#[test]
fn b7_an_import_that_was_interrupted_is_finished_before_anyone_is_answered() {
    let mut world = World::start();
    let session = world.session();
    world.append(&session, &["from elsewhere"]);
    world.end();
    // As a process leaves it that decided what shall appear, and was killed.
    let home = world.home.path().to_owned();
    let is_log = |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
    let files = std::fs::read_dir(home.join("drafts")).unwrap().map(|entry| entry.unwrap().path());
    let target = files.filter(is_log).find(|path| path.to_string_lossy().contains(&session)).unwrap();
    let stage = home.join("imports/interrupted");
    std::fs::create_dir_all(&stage).unwrap();
    std::fs::rename(&target, stage.join("1.jsonl")).unwrap();
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let within = target.strip_prefix(&home).unwrap().to_str().unwrap();
    let (staged, target, id) = (hex("imports/interrupted/1.jsonl"), hex(within), hex(&session));
    let decided = format!("ramus import 1\n{staged} {target} {id} draft -\nend 1\n");
    std::fs::write(stage.join("journal"), decided).unwrap();
    world.restart();
    let told = world.read(&of(&session, "messages"));
    assert_eq!(told["messages"][0]["text"], "from elsewhere");
    assert!(!stage.exists());
}
