//! Every route that there is, asked by everyone who must not be answered. The list of routes is made from the router.

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
            | ("POST", "/login")
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
        "messages" => json!({"text": "planted"}),
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
    for (method, path) in routes() {
        for origin in &origins {
            let response = ground.send(&ground.authorised(&method, &path).header("origin", origin));
            assert_eq!(response.status, 403, "{method} {path} from {origin}");
        }
        for site in ["cross-site", "same-site", "other"] {
            let response = ground.send(&ground.authorised(&method, &path).header("sec-fetch-site", site));
            assert_eq!(response.status, 403, "{method} {path} from {site}");
        }
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
fn a_cookie_works_from_our_own_pages_and_nowhere_else() {
    let ground = Ground::new();
    let port = ground.world.address.port();
    let login = ground.send(&Request::new("POST", "/login").json(&json!({"token": ground.world.token})));
    assert_eq!(login.status, 204);
    let cookie = login.header("set-cookie").unwrap().to_owned();
    for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(flag), "{cookie}");
    }
    assert!(!cookie.contains(&ground.world.token));
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let get = |headers: &[(&str, &str)]| {
        let request = Request::new("GET", "/api/v1/sessions").header("cookie", &cookie);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        ground.send(&request).status
    };
    let ours = format!("http://127.0.0.1:{port}");
    assert_eq!(get(&[("sec-fetch-site", "same-origin")]), 200);
    assert_eq!(get(&[("origin", &ours)]), 200);
    assert_eq!(get(&[]), 401);
    assert_eq!(get(&[("sec-fetch-site", "none")]), 401);
    assert_eq!(get(&[("sec-fetch-site", "cross-site")]), 403);
    let wrong = ground.send(&Request::new("POST", "/login").json(&json!({"token": "wrong-wrong-wrong-wrong"})));
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, None));
    let page = ground.send(&Request::new("GET", "/login"));
    assert!(page.header("content-security-policy").unwrap().contains("script-src 'self'"));
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
