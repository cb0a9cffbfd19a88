//! How a browser is let in, from which pages, and until when.

use serde_json::json;

use crate::audit::Ground;
use crate::http::Request;
use crate::world::World;

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
    assert!(!cookie.contains(&ground.world.token) && !cookie.contains("Secure"));
    // Browsers do not tell the ports of a machine apart.
    assert!(cookie.starts_with(&format!("ramus-{port}=")), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let get = |headers: &[(&str, &str)]| {
        let request = Request::new("GET", "/api/v1/sessions").header("cookie", &cookie);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        ground.send(&request).status
    };
    let ours = format!("http://127.0.0.1:{port}");
    assert_eq!(get(&[("sec-fetch-site", "same-origin")]), 200);
    assert_eq!(get(&[("origin", &ours)]), 200);
    // Of a page that came unencrypted from another machine browsers say nothing.
    assert_eq!(get(&[]), 200);
    assert_eq!(get(&[("sec-fetch-site", "none")]), 401);
    assert_eq!(get(&[("sec-fetch-site", "cross-site")]), 403);
    let wrong = ground.send(&Request::new("POST", "/login").json(&json!({"token": "wrong-wrong-wrong-wrong"})));
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, None));
    let page = ground.send(&Request::new("GET", "/login"));
    assert!(page.header("content-security-policy").unwrap().contains("script-src 'self'"));
}

#[test]
fn whoever_logs_out_has_the_cookie_taken_away() {
    let ground = Ground::new();
    let port = ground.world.address.port();
    let logout = ground.send(&Request::new("POST", "/logout").json(&json!({})));
    let cookie = logout.header("set-cookie").unwrap();
    assert_eq!(logout.status, 204);
    assert!(cookie.starts_with(&format!("ramus-{port}=;")) && cookie.contains("Max-Age=0"), "{cookie}");
}

#[test]
fn a_cookie_ends_with_the_logout_that_sends_it() {
    let mut ground = Ground::new();
    let (one, other) = (ground.cookie(), ground.cookie());
    assert_ne!(one, other);
    let get = |ground: &Ground, cookie: &str| {
        let request = Request::new("GET", "/api/v1/sessions").header("cookie", cookie);
        ground.send(&request.header("sec-fetch-site", "same-origin")).status
    };
    assert_eq!([get(&ground, &one), get(&ground, &other)], [200, 200]);
    ground.send(&Request::new("POST", "/logout").header("cookie", &one).json(&json!({})));
    assert_eq!([get(&ground, &one), get(&ground, &other)], [401, 200]);
    // A restart logs nobody out.
    let port = ground.world.address.port();
    ground.world.restart();
    let other = other.replacen(&port.to_string(), &ground.world.address.port().to_string(), 1);
    assert_eq!(get(&ground, &other), 200);
}

#[test]
fn a_proxy_that_encrypts_is_a_site_of_its_own() {
    let world = World::under(&["https://ramus.example"]);
    let ask = |method: &str, target: &str, origin: &str| {
        let request = Request::new(method, target).header("host", "ramus.example");
        if origin.is_empty() { request } else { request.header("origin", origin) }
    };
    let login = |origin: &str| ask("POST", "/login", origin).json(&json!({"token": world.token})).send(world.address);
    for wrong in ["http://ramus.example", "https://ramus.example:443", "https://evil.example", "null"] {
        assert_eq!(login(wrong).status, 403, "{wrong}");
    }
    let made = login("https://ramus.example");
    let cookie = made.header("set-cookie").unwrap();
    assert!(made.status == 204 && cookie.contains("; Secure"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let list = ask("GET", "/api/v1/sessions", "").header("cookie", cookie).header("sec-fetch-site", "same-origin");
    assert_eq!(list.send(world.address).status, 200);
    let new = ask("POST", "/api/v1/sessions", "https://ramus.example").header("cookie", cookie);
    let session = new.json(&json!({})).send(world.address).json()["session"]["id"].as_str().unwrap().to_owned();
    world.append(&session, &["shared"]);
    let share = ask("POST", &format!("/api/v1/sessions/{session}/share"), "https://ramus.example");
    let shared = share.header("cookie", cookie).json(&json!({})).send(world.address).json();
    let url = shared["share"]["url"].as_str().unwrap();
    assert!(url.starts_with("https://ramus.example/share/"), "{url}");
    // The name stands for nothing else.
    let plain = Request::new("GET", "/health").header("host", &format!("ramus.example:{}", world.address.port()));
    assert_eq!(plain.send(world.address).status, 421);
}
