//! What tools made, over HTTP: shown to whoever owns it, and able to do nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use ramus_server::Limits;
use serde_json::{Value, json};

use crate::world::World;

/// A directory with a page is deployed, and slides are made.
const MAKING: &str = "answers = [\n\
    { steps = [{ call = { id = \"c1\", name = \"write\", arguments = { path = \"site/index.html\", content = \"<script src=a.js></script>\" } } }] },\n\
    { steps = [{ call = { id = \"c2\", name = \"write\", arguments = { path = \"site/a.js\", content = \"alert(1)\" } } }] },\n\
    { steps = [{ call = { id = \"c3\", name = \"deploy\", arguments = { source = \"site\", name = \"My Site\" } } }] },\n\
    { steps = [{ call = { id = \"c4\", name = \"slides\", arguments = { title = \"Plan\", slides = [{ title = \"One\", points = [\"a\"] }] } } }] },\n\
    { steps = [{ text = \"done\" }] },\n]";

/// A client for whom something was made, and where.
fn made() -> (World, Value, PathBuf) {
    let world = World::with(MAKING, Limits::default());
    world.allow_everything();
    let answer = world.post("/api/chat?client_id=ada%20l", &json!({"message": "make it"}));
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    let answer = answer.json();
    let root = answer["workspace_state"]["paths"]["internal_root"].as_str().unwrap().into();
    (world, answer, root)
}

#[test]
fn b11_what_was_made_is_told_with_the_address_of_its_client() {
    let (world, answer, _) = made();
    let kinds: Vec<&str> =
        answer["artifacts"].as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["slides", "web"], "{answer:#}");
    let url = answer["web_preview"]["url"].as_str().unwrap();
    assert!(url.starts_with("/api/session/assets/deployments/client-") && url.ends_with("?client_id=ada%20l"), "{url}");
    assert_eq!(answer["ppt_slides"][0]["title"], "One");
    let page = world.get(url);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(page.body, b"<script src=a.js></script>");
    let policy = page.header("content-security-policy").unwrap();
    for part in [
        "sandbox allow-same-origin;",
        "default-src 'none'",
        "script-src 'none'",
        "connect-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    // A script is text, and a directory stands for its page.
    let script = world.get(&url.replace("index.html", "a.js"));
    assert_eq!((script.status, script.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    assert_eq!(world.get(&url.replace("/index.html", "")).body, page.body);
    // What was made is a node below the call that made it.
    let listed = world.read("/api/session/history?client_id=ada%20l&limit=100");
    let tool = listed["history"].as_array().unwrap().iter().find(|node| node["name"] == "deploy").unwrap();
    let node = world.read(&format!("/api/session/history/{}?client_id=ada%20l", tool["id"].as_str().unwrap()));
    let child = node["children"][0].as_str().unwrap();
    let artifact = world.read(&format!("/api/session/history/{child}?client_id=ada%20l"));
    assert_eq!((&artifact["role"], &artifact["data"]["type"]), (&json!("artifact"), &json!("web")));
    // Wherever it is told, it has the address under which this client sees it.
    assert_eq!(artifact["data"]["url"], url);
    assert!(!node.to_string().contains("\"url\":\"deployments"), "{node:#}");
}

#[test]
fn i8_what_was_made_is_shown_to_nobody_else() {
    let (world, answer, _) = made();
    let url = answer["web_preview"]["url"].as_str().unwrap();
    let (path, _) = url.split_once('?').unwrap();
    for other in [path.to_owned(), format!("{path}?client_id=eve")] {
        world.request("POST", &other.replace(path, "/api/session/boot")).json(&json!({})).send(world.address);
        assert_eq!(world.get(&other).status, 404, "{other}");
    }
    assert_eq!(world.as_bob("GET", url).send(world.address).status, 404);
    assert_eq!(crate::http::Request::new("GET", url).send(world.address).status, 401);
}

#[test]
fn g15_no_path_leads_out_of_what_was_made() {
    let (world, answer, root) = made();
    let url = answer["web_preview"]["url"].as_str().unwrap();
    let (site, _) = url.split_once("/index.html").unwrap();
    let inner = root.join(site.strip_prefix("/api/session/assets/").unwrap());
    fs::write(root.join("secret.html"), "secret").unwrap();
    fs::create_dir_all(root.join("deployments/other/site")).unwrap();
    fs::write(root.join("deployments/other/site/index.html"), "secret").unwrap();
    symlink("/etc/passwd", inner.join("passwd.txt")).unwrap();
    symlink(root.join("secret.html"), inner.join("link.html")).unwrap();
    symlink("../../../secret.html", inner.join("up.html")).unwrap();
    symlink(&root, inner.join("directory")).unwrap();
    let ask = |path: &str| world.get(&format!("{path}?client_id=ada%20l"));
    for wrong in [
        "..",
        "../secret.html",
        "%2e%2e/%2e%2e/secret.html",
        "..%2f..%2fsecret.html",
        "a/../../x",
        "./index.html",
        "a%5C..%5Cb",
        "a%00b",
    ] {
        let response = ask(&format!("{site}/{wrong}"));
        assert!(matches!(response.status, 400 | 404), "{wrong}: {}", response.status);
        assert!(!response.body.ends_with(b"secret"), "{wrong}");
    }
    assert_eq!(ask(&format!("{site}/../x")).status, 400);
    assert_eq!(ask("/api/session/assets/%2Fetc%2Fpasswd").status, 400);
    for elsewhere in [
        format!("{site}/passwd.txt"),
        format!("{site}/link.html"),
        format!("{site}/up.html"),
        format!("{site}/directory/secret.html"),
        format!("{site}/missing.html"),
        "/api/session/assets/secret.html".to_owned(),
        "/api/session/assets/deployments/other/site/index.html".to_owned(),
        "/api/session/assets/deployments/manifest.json".to_owned(),
    ] {
        let response = ask(&elsewhere);
        assert_eq!((response.status, response.kind().as_str()), (404, "not-found"), "{elsewhere}");
    }
    // What is shown by nothing is handed over, however large it is.
    fs::write(inner.join("large.bin"), vec![7; 300_000]).unwrap();
    let large = ask(&format!("{site}/large.bin"));
    assert_eq!(
        (large.status, large.body.len(), large.header("content-disposition")),
        (200, 300_000, Some("attachment"))
    );
}
