//! The exported page in a real browser: nothing of a session runs, nothing is asked for, and it is of use.

use std::path::{Path, PathBuf};

use ramus_engine::{Engine, Include, TranscriptScope};
use ramus_publish::html;
use ramus_testkit::browser::Browser;
use ramus_testkit::payloads;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A browser, or the reason why there is none.
fn browser() -> Option<Browser> {
    let browser = Browser::start().unwrap();
    if browser.is_none() {
        #[expect(clippy::print_stderr, reason = "who runs the tests must know what they did not do")]
        {
            eprintln!("skipped: there is no chromium on this machine");
        }
    }
    browser
}

fn page_of(folder: &TempDir, file: &str) -> PathBuf {
    let source = folder.path().join("session.jsonl");
    std::fs::write(&source, file).unwrap();
    let engine = Engine::in_memory();
    let mut session = engine.open(source.to_str().unwrap(), "");
    if session.is_err() {
        // A home in memory has no files; one on disk opens any.
        let store = ramus_store::JsonlStore::new(folder.path().join("home"), ramus_store::Layout::Pi);
        session = Engine::new(std::sync::Arc::new(store), "test").open(source.to_str().unwrap(), "");
    }
    let mut session = session.unwrap();
    let leaf = session.log().leaf();
    let transcript = engine.transcript(&mut session, TranscriptScope::Whole(leaf), Include::everything()).unwrap();
    let page = folder.path().join("page.html");
    std::fs::write(&page, html::write(&transcript, &html::Options::default())).unwrap();
    page
}

/// Touches everything that could be waiting to be touched, and looks at what became of the page.
const TOUCH: &str = r#"(async () => {
    const bad = [];
    const tags = new Set(["HTML","HEAD","META","TITLE","STYLE","BODY","HEADER","BUTTON","DIV","H1","H2","H3","H4","H5","H6","P","SPAN",
        "INPUT","NAV","OL","UL","LI","A","I","B","MAIN","ARTICLE","DETAILS","SUMMARY","PRE","CODE","IMG","SCRIPT","STRONG","EM",
        "BLOCKQUOTE","HR","TABLE","TBODY","TR","TD"]);
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    document.querySelectorAll(".side").forEach((entry) => entry.classList.remove("side"));
    document.addEventListener("click", (event) => event.preventDefault(), true);
    for (const element of document.querySelectorAll("*")) {
        if (!tags.has(element.tagName)) bad.push(element.tagName);
        for (const attribute of element.attributes) {
            if (attribute.name.startsWith("on") || attribute.name === "srcdoc" || attribute.name === "style") bad.push(attribute.name);
            if (["href", "src", "action", "data", "formaction", "xlink:href"].includes(attribute.name)
                && !/^(#e-|https?:\/\/|mailto:|data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+\/=]*$)/.test(attribute.value)) bad.push(attribute.value);
        }
        for (const name of ["mouseover", "pointerenter", "focus", "click", "toggle", "load", "error", "animationend", "begin"]) {
            element.dispatchEvent(new Event(name, { bubbles: false, cancelable: true }));
        }
    }
    await new Promise((done) => setTimeout(done, 50));
    return { ran: window.ran ?? null, title: document.title.length > 0, scripts: document.scripts.length, ready: document.documentElement.dataset.ready,
        entries: document.querySelectorAll(".entry").length, bad: bad.slice(0, 20) };
})()"#;

fn check(browser: &mut Browser, page: &Path, entries: usize) {
    browser.open(page, "").unwrap();
    let seen = browser.evaluate(TOUCH).unwrap();
    let expected = json!({"ran": null, "title": true, "scripts": 1, "ready": "true", "entries": entries, "bad": []});
    assert_eq!(seen, expected);
    let others: Vec<String> = browser
        .requests()
        .into_iter()
        .filter(|url| !url.starts_with("file://") && !url.starts_with("data:image/"))
        .collect();
    assert_eq!(others, Vec::<String>::new());
    assert_eq!(browser.requests().iter().filter(|url| url.starts_with("file://")).count(), 1);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn i12_no_payload_runs_in_any_field() {
    let Some(mut browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let payloads = payloads::all();
    let page = page_of(&folder, &payloads::file(&payloads));
    let entries = payloads.len() * 8;
    check(&mut browser, &page, entries);
    // The policy is the second wall; the first one must hold alone.
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, after) = text.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let open = format!("{before}{}", after.split_once('\n').unwrap().1);
    std::fs::write(&page, open).unwrap();
    check(&mut browser, &page, entries);
}

/// A session with a branch, to look at.
fn conversation(messages: usize) -> String {
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": "look", "timestamp": "2026-11-15T10:20:30.000Z",
        "cwd": "/srv/shop", "title": "Fix the login bug"})
        .to_string(),
    ];
    let mut parent = Value::Null;
    for at in 0..messages {
        let id = format!("e{at:06}");
        let body = if at % 2 == 0 {
            json!({"role": "user", "content": [{"type": "text", "text": format!("Question {at}: why does the **login** page loop?")}]})
        } else {
            json!({"role": "assistant", "model": "claude", "content": [{"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": format!("Answer {at}.\n\n```rust\nfn main() {{}}\n```\n\n1. one\n2. `two`")},
                {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls"}}]})
        };
        lines.push(json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-15T10:20:30.000Z", "message": body}).to_string());
        if at == 3 {
            lines.push(
                json!({"type": "message", "id": "side", "parentId": "e000001", "timestamp": "2026-11-15T10:20:31.000Z",
                "message": {"role": "user", "content": "another needle"}})
                .to_string(),
            );
        }
        parent = id.into();
    }
    lines.join("\n") + "\n"
}

#[test]
fn i11_the_page_can_be_searched_filtered_and_linked_into() {
    let Some(mut browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(&folder, &conversation(10));
    browser.open(&page, "#e-side").unwrap();
    let shown = r#"[...document.querySelectorAll(".entry")].filter((entry) => entry.offsetParent !== null).map((entry) => entry.id)"#;
    // A deep link shows the branch it leads into.
    assert_eq!(browser.evaluate(shown).unwrap(), json!(["e-e000000", "e-e000001", "e-side"]));
    browser.open(&page, "#e-e000005").unwrap();
    browser.evaluate(r#"location.hash = "" "#).unwrap();
    let path: Vec<String> = (0..10).map(|at| format!("e-e{at:06}")).collect();
    assert_eq!(browser.evaluate(shown).unwrap(), json!(path));
    browser.evaluate(r#"document.querySelector('[data-filter="user"]').click()"#).unwrap();
    let answers: Vec<&String> = path.iter().skip(1).step_by(2).collect();
    assert_eq!(browser.evaluate(shown).unwrap(), json!(answers));
    let search = r#"(async () => { const box = document.getElementById("search"); box.value = "needle"; box.dispatchEvent(new Event("input"));
        await new Promise((done) => setTimeout(done, 600)); return document.getElementById("count").textContent; })()"#;
    assert_eq!(browser.evaluate(search).unwrap(), json!("1"));
    browser.evaluate(r#"document.getElementById("theme").click()"#).unwrap();
    assert_eq!(browser.evaluate("document.documentElement.dataset.theme").unwrap(), json!("dark"));
}

#[test]
fn i11_ten_thousand_messages_stay_usable() {
    let Some(mut browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(&folder, &conversation(10_000));
    browser.open(&page, "").unwrap();
    // How long a search of everything takes within the page, which is all there is to wait for.
    let search = r#"(() => { const began = performance.now(); const box = document.getElementById("search"); box.value = "question 9998";
        box.dispatchEvent(new Event("input")); return new Promise((done) => setTimeout(() => done({
            count: document.getElementById("count").textContent, took: performance.now() - began }), 200)); })()"#;
    let seen = browser.evaluate(search).unwrap();
    assert_eq!(seen["count"], json!("1"), "{seen}");
    assert!(seen["took"].as_f64().unwrap() < 20_000.0, "{seen}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
