//! Texts that would run in a careless page, in every field of a session.

use ramus_testkit::payloads;
use serde_json::json;

use crate::place::Place;
use crate::world::World;

/// The session that holds all of them.
const SESSION: &str = "01a1e43f-0000-7248-ac95-b58e78732fff";

/// Looks at everything, touches it, and says what is wrong with it.
const TOUCH: &str = r#"(async () => {
    const bad = [];
    for (const element of document.querySelectorAll("*")) {
        for (const attribute of element.attributes) {
            if (attribute.name.startsWith("on") || attribute.name === "srcdoc") bad.push(attribute.name);
            if (["src", "action", "data", "formaction", "xlink:href"].includes(attribute.name)
                && !/^(\/assets\/|data:image\/(png|jpeg|gif|webp);base64,)/.test(attribute.value)) bad.push(attribute.value);
            if (attribute.name === "href" && !/^(#|\/assets\/|https?:\/\/|mailto:)/.test(attribute.value)) bad.push(attribute.value);
        }
        for (const name of ["mouseover", "pointerenter", "focus", "toggle", "load", "error", "animationend", "begin"]) {
            element.dispatchEvent(new Event(name, { bubbles: false, cancelable: true }));
        }
    }
    await new Promise((done) => setTimeout(done, 20));
    return { ran: window.ran ?? null, scripts: document.scripts.length, bad: bad.slice(0, 10) };
})()"#;

#[test]
fn i13_no_payload_runs_in_any_field_of_the_view() {
    let world = World::new();
    let all = payloads::all();
    assert!(all.len() >= 500);
    let text = payloads::file(&all);
    // A session must have an id that can be a name; every other field is as bad as it gets.
    let (header, rest) = text.split_once('\n').unwrap();
    let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
    header["id"] = SESSION.into();
    let folder = world.path("home/sessions/--srv-shop--");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("2026-11-15T10-20-30-000Z_{SESSION}.jsonl")), format!("{header}\n{rest}"))
        .unwrap();
    let Some(mut place) = Place::open(world, &[], &format!("?s={SESSION}&view=all")) else { return };
    place.until("document.querySelectorAll('.session').length > 0");
    let fine = json!({"ran": null, "scripts": 1, "bad": []});
    place.until("document.querySelectorAll('.entry').length > 3 && document.querySelectorAll('.message').length > 0");
    assert_eq!(place.ask(TOUCH), fine);
    // Every row and every entry whole, a screen at a time.
    let entries = place.ask("(async () => { const tree = document.querySelector('.tree .list'); return Math.ceil(tree.scrollHeight / tree.clientHeight); })()");
    let screens = entries.as_u64().unwrap();
    for at in (0..screens).step_by(6) {
        place.ask(&format!("document.querySelector('.tree .list').scrollTop = {at} * document.querySelector('.tree .list').clientHeight"));
        place.until("[...document.querySelectorAll('.entry')].some((row) => row.querySelector('.text').textContent.length > 1 || row.querySelector('.label'))");
        place.ask("document.querySelector('.entry:nth-child(12)')?.click()");
        place.until("document.querySelectorAll('.message').length > 0");
        if at % 24 == 0 {
            assert_eq!(place.ask(TOUCH), fine, "screen {at}");
        }
    }
    // The same messages, whole, as the renderer makes them: all of them at once.
    let render = r#"(async () => {
        const base = document.querySelector("script").src.replace("app.js", "");
        const { transcript } = await import(base + "message.js");
        const { split, unified } = await import(base + "diff.js");
        const { markdown } = await import(base + "markdown.js");
        const id = new URLSearchParams(location.search).get("s");
        const outline = await (await fetch(`/api/v1/sessions/${encodeURIComponent(id)}/outline`)).json();
        let shown = 0;
        for (let at = 0; at < outline.seqs.length; at += 300) {
            const some = outline.seqs.slice(at, at + 300).join(",");
            const { entries } = await (await fetch(`/api/v1/sessions/${encodeURIComponent(id)}/passage?at=${some}`)).json();
            const room = document.createElement("div");
            document.body.append(room);
            room.append(...transcript(entries, ""));
            for (const entry of entries) if (entry.text) {
                const difference = `@@ -1 +1 @@\n-${entry.text}\n+${entry.text}!\n`;
                room.append(markdown(`[a](${entry.text}) ![b](${entry.text})`), unified(difference), split(difference));
            }
            for (const fold of room.querySelectorAll("details")) fold.open = true;
            shown += room.querySelectorAll(".message").length;
            await new Promise((done) => setTimeout(done, 5));
            if (window.ran) return "ran";
            if (room.querySelector("script, iframe, object, embed, style, link, form, base, meta, svg, math")) return "made";
            for (const element of room.querySelectorAll("*")) for (const { name, value } of element.attributes) {
                if (name.startsWith("on") || name === "style" || name === "srcdoc") return name;
                if (name === "href" && !/^(https?|mailto):/.test(value)) return value;
            }
            room.remove();
        }
        return shown;
    })()"#;
    let shown = place.ask(render);
    assert!(shown.as_u64().is_some_and(|shown| shown > 2000), "{shown}");
    for tab in ["context", "raw", "files", "thread", "message"] {
        place.ask(&format!("document.getElementById('tab-{tab}').click()"));
        place.until("document.querySelector('#detail').textContent.length > 0");
        assert_eq!(place.ask(TOUCH), fine, "{tab}");
    }
    place.press(&["T"]);
    place.until("document.querySelector('.timeline, .page-pane .quiet')");
    assert_eq!(place.ask(TOUCH), fine);
    place.press(&["T", "ctrl+k"]);
    place.until("document.querySelectorAll('#found li').length > 0");
    assert_eq!(place.ask(TOUCH), fine);
    place.was_quiet();
}
