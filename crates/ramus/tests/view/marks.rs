//! Markdown as models write it, in the page.

use serde_json::json;

use crate::place::Place;
use crate::world::World;

/// Shows a text as an answer, and returns what the page makes of it.
fn shown(text: &str) -> Option<(Place, String)> {
    let world = World::new();
    let session = world.branched();
    let entry = json!({"type": "message", "id": "eeee0001", "message": {"role": "assistant", "content": [{"type": "text", "text": text}],
        "provider": "demo", "model": "small", "stopReason": "stop"}});
    assert_eq!(world.run_with(&entry.to_string(), &["append", &session]).code, 0);
    let mut place = Place::open(world, &[], &format!("?s={session}"))?;
    place.until("document.querySelectorAll('.message.assistant').length === 2");
    let made = place.ask("[...document.querySelectorAll('.message.assistant .markdown')].pop().innerHTML");
    let made = made.as_str().unwrap().to_owned();
    Some((place, made))
}

#[test]
fn lists_are_numbered_on_and_nested_by_tabs() {
    let text = "1. one\n\n2. two\n\n   more of it\n\n```\ncode\n```\n\n3. three\n\n- a\n\t- b\n\t- c\n\t\t- d\n- e";
    let Some((mut place, made)) = shown(text) else { return };
    assert!(made.contains("<ol><li>one</li><li>two<p>more of it</p></li></ol>"), "{made}");
    assert!(made.contains("<ol start=\"3\"><li>three</li></ol>"), "{made}");
    assert!(made.contains("<ul><li>a<ul><li>b</li><li>c<ul><li>d</li></ul></li></ul></li><li>e</li></ul>"), "{made}");
    place.was_quiet();
}

#[test]
fn spans_stand_in_spans_and_an_address_ends_before_the_sentence() {
    let text = "**run `a*b`** and **[the page](https://example.org/a)**, see https://example.org/b. Or (https://example.org/c_(d))";
    let Some((mut place, made)) = shown(text) else { return };
    assert!(made.contains("<strong>run <code>a*b</code></strong>"), "{made}");
    let link = "document.querySelector('.markdown strong > a').href";
    assert_eq!(place.ask(link), "https://example.org/a");
    let all = place.ask("[...document.querySelectorAll('.markdown a')].map((one) => one.textContent)");
    assert_eq!(all, json!(["the page", "https://example.org/b", "https://example.org/c_(d)"]));
    place.was_quiet();
}
