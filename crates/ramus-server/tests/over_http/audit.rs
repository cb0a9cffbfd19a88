//! Every route that there is, asked by everyone who must not be answered. The list of routes is made from the router.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::http::{Request, Response, raw};
use crate::world::World;

/// The routes that are described, and those that are not.
pub(crate) fn routes() -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(&ramus_server::document()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let mut routes: Vec<(String, String)> = paths
        .iter()
        .flat_map(|(path, item)| {
            item.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.clone()))
        })
        .collect();
    routes.extend(
        ["/openapi.json", "/login", "/login.js", "/", "/assets/{bundle}/app.js"]
            .map(|path| ("GET".into(), path.into())),
    );
    assert!(routes.len() > 40, "{routes:?}");
    routes
}

/// Routes that anyone may ask. This list is the whole of it.
fn is_public(method: &str, path: &str) -> bool {
    matches!(
        (method, path),
        ("GET", "/" | "/assets/{bundle}/app.js" | "/health" | "/login" | "/login.js" | "/share/{id}")
            | ("POST", "/login" | "/logout")
    )
}

/// A session with something in it, and its name in a path.
pub(crate) struct Ground {
    pub(crate) world: World,
    session: String,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let world = World::start();
        let session = world.session();
        world.append(&session, &["one"]);
        Self { world, session }
    }

    /// Puts names in the place of parameters.
    fn target(&self, path: &str) -> String {
        let path = path.replace("{path}", "deployments/none/index.html");
        let path = path.replace("{id}", &self.session).replace("{entry}", "%232").replace("{sha256}", &"0".repeat(64));
        let path = path.replace("{bundle}", ramus_web::bundle());
        path.replace("{run}", "none").replace("{approval}", "none").replace("{call}", "none")
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> Request {
        let request = Request::new(method, &self.target(path));
        if matches!(method, "POST" | "PATCH" | "PUT") { request.json(&body_for(path)) } else { request }
    }

    fn authorised(&self, method: &str, path: &str) -> Request {
        self.request(method, path).header("authorization", &format!("Bearer {}", self.world.token))
    }

    /// What a browser that is logged in sends along.
    pub(crate) fn cookie(&self) -> String {
        let login = self.send(&Request::new("POST", "/login").json(&json!({"token": self.world.token})));
        assert_eq!(login.status, 204);
        login.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }

    pub(crate) fn send(&self, request: &Request) -> Response {
        let response = request.send(self.world.address);
        assert_eq!(response.header("access-control-allow-origin"), None, "{request:?}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{request:?}");
        assert!(response.header("content-security-policy").is_some(), "{request:?}");
        response
    }

    /// What the home holds: every log, byte for byte.
    pub(crate) fn logs(&self) -> Vec<(String, Vec<u8>)> {
        let mut logs = Vec::new();
        let mut open = vec![self.world.home.path().to_owned()];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                    logs.push((path.display().to_string(), std::fs::read(&path).unwrap()));
                }
            }
        }
        logs.sort();
        logs
    }
}

/// A body that would do something, if it were taken.
fn body_for(path: &str) -> Value {
    match path.rsplit('/').next().unwrap_or_default() {
        "entries" => json!({"entries": [crate::world::message("planted")]}),
        "label" => json!({"entry": "#1", "name": "planted"}),
        "restore" if path.starts_with("/api/session/") => json!({"snapshot_id": "none"}),
        "restore" => json!({"snapshot": "none"}),
        "branch" if path.starts_with("/api/session/") => json!({"branch": "planted"}),
        "branch" => json!({"entry": "#1"}),
        "chat" => json!({"message": "planted"}),
        "conversations" => json!({"id": "planted", "messages": [{"id": "m1", "role": "user", "content": "planted"}]}),
        "purge" => json!({"entry": "#1"}),
        "todos" => json!({"add": {"text": "planted"}}),
        "merge-back" => json!({"from": "none"}),
        "messages" | "take-out" => json!({"text": "planted"}),
        "evict" => json!({"tokens": 1}),
        "replace-segment" => json!({"first": "#1", "last": "#1", "text": "planted"}),
        "workspace" => json!({"beneath": "/nowhere"}),
        "relocate" => json!({"from": "/nowhere", "to": "/elsewhere", "dry_run": false}),
        "login" => json!({"token": "wrong-wrong-wrong-wrong"}),
        "{id}" => json!({"title": "planted"}),
        "{call}" => json!({"answer": "once"}),
        "runs" => json!({"prompt": "planted"}),
        _ => json!({}),
    }
}

#[test]
fn l1_nobody_comes_in_without_the_token() {
    let ground = Ground::new();
    let before = ground.logs();
    let token = &ground.world.token;
    let shorter = &token[..token.len() - 1];
    let (longer, upper) = (format!("{token}0"), token.to_uppercase());
    let wrong = [
        None,
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some(format!("Bearer {shorter}")),
        Some(format!("Bearer {longer}")),
        Some(format!("Bearer {upper}")),
        Some(format!("Bearer {}", ground.world.expired)),
        Some(format!("Basic {token}")),
        Some(token.clone()),
    ];
    let mut peers = 0_u32;
    for (method, path) in routes().into_iter().filter(|(method, path)| !is_public(method, path)) {
        for given in &wrong {
            let mut request = ground.request(&method, &path);
            if let Some(given) = given {
                request = request.header("authorization", given);
            }
            peers += 1;
            // Wrong tokens are answered slowly, so each comes from another address of this machine.
            let response = send_from(&request, ground.world.address, peers);
            assert_eq!(response.status, 401, "{method} {path} with {given:?}");
        }
        // A token in the address would be kept by logs and histories.
        let separator = if path.contains('?') { '&' } else { '?' };
        let mut request = ground.request(&method, &path);
        request.target = format!("{}{separator}token={token}", request.target);
        peers += 1;
        assert_eq!(send_from(&request, ground.world.address, peers).status, 401, "{method} {path}");
    }
    assert_eq!(ground.logs(), before);
}

/// Sends a request from an address of its own.
fn send_from(request: &Request, address: std::net::SocketAddr, number: u32) -> Response {
    crate::http::send_from(request, address, std::net::Ipv4Addr::from(0x7f01_0000 + number))
}

/// The routes that take JSON.
fn routes_with_bodies() -> Vec<(String, String)> {
    let document: Value = serde_json::from_str(&ramus_server::document()).unwrap();
    let takes_json = |(method, path): &(String, String)| {
        document["paths"][path][method.to_lowercase()]["requestBody"]["content"].get("application/json").is_some()
    };
    routes().into_iter().filter(takes_json).collect()
}

#[test]
fn a_body_is_an_object_and_nothing_else() {
    let ground = Ground::new();
    let before = ground.logs();
    let routes = routes_with_bodies();
    assert!(routes.len() > 30, "{routes:?}");
    for (method, path) in routes {
        let members = body_for(&path);
        // What an object would hold, in the order of a list.
        let positional = Value::from(members.as_object().unwrap().values().cloned().collect::<Vec<_>>());
        for body in [positional, json!([]), json!([false]), json!(["planted"]), json!("planted"), json!(1), json!(null)]
        {
            let request = Request { body: body.to_string().into(), ..ground.authorised(&method, &path) };
            assert_eq!(ground.send(&request).status, 422, "{method} {path} with {body}");
        }
        let request = ground.authorised(&method, &path);
        for text in ["[", "{", "planted", "{} {}"] {
            let request = Request { body: text.into(), ..request.clone() };
            let status = ground.send(&request).status;
            // What comes in to be imported is read line by line.
            let is_refused = status == 400 || status == 422 && path.ends_with("/import");
            assert!(is_refused, "{method} {path} with {text:?}: {status}");
        }
    }
    assert_eq!(ground.logs(), before);
}

#[test]
fn l2_only_our_own_names_are_answered() {
    let ground = Ground::new();
    let before = ground.logs();
    let port = ground.world.address.port();
    let names = [
        "evil.com".to_owned(),
        format!("evil.com:{port}"),
        format!("127.0.0.1.nip.io:{port}"),
        format!("localhost.evil.com:{port}"),
        format!("localhost.:{port}"),
        format!("[::]:{port}"),
        format!("0.0.0.0:{port}"),
        format!("127.0.0.1:{}", port.wrapping_add(1)),
        "127.0.0.1".to_owned(),
        format!("user@127.0.0.1:{port}"),
        String::new(),
    ];
    for (method, path) in routes() {
        for name in &names {
            let request = ground.authorised(&method, &path).header("host", name);
            let response = request.send(ground.world.address);
            assert!(matches!(response.status, 400 | 421), "{method} {path} as {name:?}: {}", response.status);
        }
        // Twice, as an absolute address, and not at all.
        let (target, token) = (ground.target(&path), &ground.world.token);
        let ours = format!("127.0.0.1:{port}");
        for head in [
            format!("{method} {target} HTTP/1.1\r\nhost: {ours}\r\nhost: {ours}\r\n"),
            format!("{method} http://evil.com{target} HTTP/1.1\r\nhost: {ours}\r\n"),
            format!("{method} {target} HTTP/1.1\r\n"),
        ] {
            let rest = format!(
                "authorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}"
            );
            if let Some(response) = raw(ground.world.address, format!("{head}{rest}").as_bytes()) {
                assert!(matches!(response.status, 400 | 421), "{head}: {}", response.status);
            }
        }
    }
    assert_eq!(ground.logs(), before);
}

#[test]
fn l3_no_page_from_elsewhere_is_answered() {
    let ground = Ground::new();
    let before = ground.logs();
    let port = ground.world.address.port();
    let origins = [
        "null".to_owned(),
        "http://evil.com".to_owned(),
        format!("http://evil.com:{port}"),
        format!("http://localhost:{}", port.wrapping_add(1)),
        format!("https://127.0.0.1:{port}"),
        format!("http://localhost:{port}"),
        format!("HTTP://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}.evil.com"),
        format!("http://sub.127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}/"),
    ];
    let cookie = ground.cookie();
    for (method, path) in routes() {
        for origin in &origins {
            let response = ground.send(&ground.authorised(&method, &path).header("origin", origin));
            assert_eq!(response.status, 403, "{method} {path} from {origin}");
        }
        for site in ["cross-site", "same-site", "other"] {
            let response = ground.send(&ground.authorised(&method, &path).header("sec-fetch-site", site));
            assert_eq!(response.status, 403, "{method} {path} from {site}");
        }
        // The same with what a browser sends along by itself.
        for (name, value) in
            origins.iter().map(|origin| ("origin", &**origin)).chain([("sec-fetch-site", "cross-site")])
        {
            let request = ground.request(&method, &path).header("cookie", &cookie).header(name, value);
            assert_eq!(ground.send(&request).status, 403, "{method} {path} from {value}");
        }
    }
    assert_eq!(ground.logs(), before);
}

#[test]
fn l3_a_cookie_alone_changes_nothing() {
    let ground = Ground::new();
    let before = ground.logs();
    let changing = routes().into_iter().filter(|(method, path)| method != "GET" && !is_public(method, path));
    let cookie = ground.cookie();
    for (at, (method, path)) in (1..).zip(changing) {
        let request = ground.request(&method, &path).header("cookie", &cookie);
        assert_eq!(send_from(&request, ground.world.address, at).status, 401, "{method} {path}");
    }
    assert_eq!(ground.logs(), before);
}

#[test]
fn l4_what_a_form_can_send_is_refused() {
    let ground = Ground::new();
    let before = ground.logs();
    let simple = [
        Some("text/plain"),
        Some("text/plain; charset=application/json"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
        Some(""),
        None,
    ];
    for (method, path) in routes().into_iter().filter(|(method, _)| matches!(method.as_str(), "POST" | "PATCH" | "PUT"))
    {
        for kind in simple {
            let mut request = Request::new(&method, &ground.target(&path));
            request = request.header("authorization", &format!("Bearer {}", ground.world.token));
            if let Some(kind) = kind {
                request = request.header("content-type", kind);
            }
            request.body = body_for(&path).to_string().into_bytes();
            let response = ground.send(&request);
            assert_eq!(response.status, 415, "{method} {path} with {kind:?}");
        }
    }
    assert_eq!(ground.logs(), before);
}

/// What is beneath a directory, byte for byte.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut found, mut open) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push((path.clone(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The journal of a restore that was interrupted before it brought back a file that holds `one`.
const INTERRUPTED: &str =
    "ramus restore 1\n- 100644:5626abf0f72e58d7a153368ba57db4c673c0e171 706c616e7465642e747874\nend 02ef572f\n";

#[test]
fn l5_looking_at_files_keeps_nothing_and_puts_nothing_back() {
    let mut ground = Ground::new();
    let place = tempfile::tempdir().unwrap();
    let made = ground.world.post("/api/v1/sessions", &json!({"cwd": place.path(), "title": "with files"}));
    ground.session = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let world = &ground.world;
    world.append(&ground.session, &["one"]);
    let info = world.post("/api/session/boot", &json!({})).json();
    assert_eq!(info["schema_version"], 1, "{info}");
    let workspace = std::fs::read_dir(world.workspaces.path()).unwrap().map(|entry| entry.unwrap().path());
    let workspace = workspace.into_iter().find(|path| path.join("mnt").is_dir()).unwrap();
    let snapshots = format!("/api/v1/sessions/{}/snapshots", ground.session);
    for (directory, target) in [(place.path(), &*snapshots), (&*workspace, "/api/session/workspace/snapshots")] {
        std::fs::write(directory.join("a.txt"), "one\n").unwrap();
        let kept = world.post(target, &json!({"label": "kept"}));
        assert!(kept.status < 300, "{}", String::from_utf8_lossy(&kept.body));
        std::fs::write(directory.join("a.txt"), "two\n").unwrap();
        std::fs::write(directory.join("b.txt"), "three\n").unwrap();
    }
    let vaults = world.home.path().join("snapshots");
    for vault in std::fs::read_dir(&vaults).unwrap() {
        std::fs::write(vault.unwrap().path().join("restore"), INTERRUPTED).unwrap();
    }
    let places = [&*vaults, world.workspaces.path(), place.path()];
    let state = || (ground.logs(), places.map(files));
    let before = state();
    for (method, path) in routes().into_iter().filter(|(method, path)| method == "GET" && !path.ends_with("/events")) {
        let response = ground.send(&ground.authorised(&method, &path));
        assert!(response.status < 500, "{path}: {}", response.status);
        assert!(state() == before, "GET {path} changed something");
    }
    let session = format!("/api/v1/sessions/{}", ground.session);
    let diff = world.read(&format!("{session}/diff"));
    assert!(diff.to_string().contains("+two") && diff.to_string().contains("+three"), "{diff}");
    // What was interrupted is told, and ended by whoever changes something.
    let told = world.read(&format!("{session}/workspace"));
    assert_eq!((&told["workspace"]["restore_interrupted"], &told["workspace"]["dirty"]), (&json!(true), &json!(true)));
    assert!(state() == before);
    assert!(world.post(&snapshots, &json!({})).status < 300);
    assert_eq!(std::fs::read_to_string(place.path().join("planted.txt")).unwrap(), "one\n");
    let told = world.read(&format!("{session}/workspace"));
    assert_eq!((&told["workspace"]["restore_interrupted"], &told["workspace"]["dirty"]), (&json!(null), &json!(false)));
}

#[test]
fn l5_reading_changes_nothing() {
    let ground = Ground::new();
    let before = ground.logs();
    for (method, path) in routes().into_iter().filter(|(method, path)| method == "GET" && !path.ends_with("/events")) {
        let response = ground.send(&ground.authorised(&method, &path));
        assert!(response.status < 500, "{path}: {}", response.status);
    }
    assert_eq!(ground.logs(), before);
}

#[test]
fn i8_no_route_of_a_session_answers_another_owner() {
    let ground = Ground::new();
    let before = ground.logs();
    let of_sessions = routes().into_iter().filter(|(_, path)| path.contains("{id}"));
    for (method, path) in of_sessions {
        let request = ground.request(&method, &path).header("authorization", &format!("Bearer {}", ground.world.other));
        let response = ground.send(&request);
        // What would be laid over another's is a conflict, and says no more.
        let status = if method == "PUT" { 409 } else { 404 };
        assert_eq!(response.status, status, "{method} {path}: {}", String::from_utf8_lossy(&response.body));
    }
    assert_eq!(ground.logs(), before);
}

#[test]
fn a_token_that_is_taken_back_ends_what_it_reads() {
    let ground = Ground::new();
    let world = &ground.world;
    let made = world.as_bob("POST", "/api/v1/sessions").json(&json!({})).send(world.address).json();
    let target = format!("/api/v1/sessions/{}/events", made["session"]["id"].as_str().unwrap());
    let (theirs, ours) = (world.as_bob("GET", "/api/v1/events"), world.request("GET", "/api/v1/events"));
    let mut streams = [world.as_bob("GET", &target).events(world.address), theirs.events(world.address)];
    let mut stays = ours.events(world.address);
    assert!(streams.iter_mut().all(|events| events.next().is_some()) && stays.next().is_some());
    let token = ramus_server::Token::new(&*world.token).unwrap();
    world.access.as_ref().unwrap().replace(&ramus_server::Access::new("default", &token));
    for events in streams {
        // It ends: otherwise this would never.
        assert!(events.count() < 100);
    }
    assert_eq!(theirs.send(world.address).status, 401);
    world.session();
    assert!(stays.any(|event| event.name == "session.created"));
}

#[test]
fn l11_no_secret_is_logged_or_told() {
    let ground = Ground::new();
    let canary = "canary-5f2a9c";
    let (token, session) = (ground.world.token.clone(), ground.session.clone());
    let requests = [
        ground.authorised("GET", "/api/v1/sessions").header("x-secret", canary),
        ground.world.request("GET", &format!("/api/v1/search?q={canary}")),
        ground.world.request("POST", &format!("/api/v1/sessions/{session}/entries")).json(&json!({"entries": canary})),
        Request::new("GET", &format!("/api/v1/sessions?token={token}"))
            .header("authorization", &format!("Bearer {canary}")),
        Request::new("GET", &format!("/{canary}")),
    ];
    for request in &requests {
        let response = ground.send(request);
        assert!(!String::from_utf8_lossy(&response.body).contains(&token), "{request:?}");
    }
    let lines = ground.world.lines.lock().unwrap().join("\n");
    assert!(lines.contains("/api/v1/sessions"), "{lines}");
    assert!(!lines.contains(canary) && !lines.contains(&token), "{lines}");
}

#[test]
fn l11_what_the_server_fails_at_is_in_its_log_without_secrets() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["one"]);
    let mut open = vec![world.home.path().to_owned()];
    let mut log = None;
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false if path.extension().is_some_and(|kind| kind == "jsonl") => log = Some(path),
                false => {}
            }
        }
    }
    // Something that cannot be opened stands in its place.
    let log = log.unwrap();
    std::fs::remove_file(&log).unwrap();
    let _listening = std::os::unix::net::UnixListener::bind(&log).unwrap();
    let failed = world.get(&format!("/api/v1/sessions/{session}/tree"));
    assert_eq!(failed.status, 500, "{}", String::from_utf8_lossy(&failed.body));
    let lines = world.lines.lock().unwrap().clone();
    let told = lines.iter().find(|line| line.contains("\"event\":\"failure\"")).unwrap();
    let told: serde_json::Value = serde_json::from_str(told).unwrap();
    assert_eq!((&told["status"], &told["kind"]), (&json!(500), &json!("io")));
    assert_eq!((&told["method"], &told["route"]), (&json!("GET"), &json!("/api/v1/sessions/{id}/tree")));
    assert_eq!(told["message"], failed.json()["error"]["message"]);
    assert_eq!(failed.header("x-request-id"), told["request"].as_str());
}
