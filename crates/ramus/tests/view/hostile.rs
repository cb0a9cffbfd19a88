//! Texts that would run in a careless page, in every field of a session.

use ramus_testkit::payloads;
use serde_json::json;

use crate::place::Place;
use crate::world::World;

/// The session that holds all of them.
const SESSION: &str = "01a1e43f-0000-7248-ac95-b58e78732fff";

/// Looks at everything below an element, touches it, and says what is wrong with it.
const TOUCH: &str = r#"(async (root) => {
    const bad = [];
    for (const element of root.querySelectorAll("*")) {
        for (const attribute of element.attributes) {
            if (attribute.name.startsWith("on") || attribute.name === "srcdoc") bad.push(attribute.name);
            if (["src", "action", "data", "formaction", "xlink:href"].includes(attribute.name)
                && !/^(\/assets\/|data:image\/(png|jpeg|gif|webp);base64,)/.test(attribute.value)) bad.push(attribute.value);
            if (attribute.name === "href" && !/^(#|\/assets\/|\/api\/v1\/sessions\/|https?:\/\/|mailto:)/.test(attribute.value)) bad.push(attribute.value);
        }
        for (const name of ["mouseover", "pointerenter", "focus", "toggle", "load", "error", "animationend", "begin"]) {
            element.dispatchEvent(new Event(name, { bubbles: false, cancelable: true }));
        }
    }
    await new Promise((done) => setTimeout(done, 20));
    return { ran: window.ran ?? null, scripts: document.scripts.length, bad: bad.slice(0, 10) };
})"#;

/// Goes through screens of the tree, from one to another, and touches the rows of each; says what is wrong with the first that is not
/// as it should be.
const SCREENS: &str = r#"(async (from, to) => {
    const list = document.querySelector(".tree .list");
    const touch = TOUCH;
    for (let at = from; at < to; at++) {
        list.scrollTop = at * list.clientHeight;
        // What a row says comes a moment after the row.
        const isThere = () => { const rows = [...list.querySelectorAll(".entry")]; return rows.length > 5 && rows.every((row) => row.querySelector("time") || row.querySelector(".text").textContent !== "…"); };
        await new Promise((go) => setTimeout(go, 30));
        for (let tries = 0; tries < 40 && !isThere(); tries++) await new Promise((go) => setTimeout(go, 25));
        if (list.querySelectorAll(".entry").length < 5) return `screen ${at} shows nothing`;
        const found = await touch(list);
        if (found.ran !== null || found.scripts !== 1 || found.bad.length > 0) return `screen ${at}: ${JSON.stringify(found)}`;
    }
    return "";
})"#;

/// How many screens are gone through at a time.
const BATCH: u64 = 20;

fn fine() -> serde_json::Value {
    json!({"ran": null, "scripts": 1, "bad": []})
}

fn touch(place: &mut Place, what: &str) {
    assert_eq!(place.ask(&format!("{TOUCH}(document)")), fine(), "{what}");
}

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
    place.until("document.querySelectorAll('.entry').length > 3 && document.querySelectorAll('.message').length > 0");
    touch(&mut place, "at first");
    // Every row, a screen at a time; now and then an entry whole, with all around it.
    let screens = "(() => { const tree = document.querySelector('.tree .list'); return Math.ceil(tree.scrollHeight / tree.clientHeight); })()";
    let screens = place.ask(screens).as_u64().unwrap();
    assert!(screens > 100, "{screens}");
    let rows = SCREENS.replace("TOUCH", TOUCH);
    for from in (0..screens).step_by(BATCH as usize) {
        assert_eq!(place.ask(&format!("{rows}({from}, {})", screens.min(from + BATCH))), "");
        place.ask("document.querySelector('.entry:nth-child(12)')?.click()");
        place.until("document.querySelectorAll('.message').length > 0");
        touch(&mut place, &format!("the entry on screen {from}"));
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
        touch(&mut place, tab);
    }
    place.press(&["T"]);
    place.until("document.querySelector('.timeline, .page-pane .quiet')");
    touch(&mut place, "timeline");
    place.press(&["T", "ctrl+k"]);
    place.until("document.querySelectorAll('#found li').length > 0");
    touch(&mut place, "palette");
    // What is found is told with what is around it.
    place.browser.write("onerror").unwrap();
    place.until("document.querySelectorAll('#found .snippet').length > 3");
    touch(&mut place, "hits");
    place.was_quiet();
}

/// What would run wherever a text became markup, an attribute or an address; and one that can be the name of a file.
const MARKUP: &str = "\"><img src=x onerror=window.ran=1><svg onload=window.ran=1> [x](javascript:window.ran=1)";
const FILE: &str = "<img src=x onerror=window.ran=1>.txt";

/// A model that says, thinks and calls nothing else, and asks for it.
fn script(world: &World) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let (said, file) = (text(MARKUP), text(FILE));
    world.file(
        "../script.toml",
        &format!(
            "title = {said}\nanswers = [\n\
             {{ steps = [{{ thinking = {said} }}, {{ text = {said} }}, {{ delay_ms = 1500 }}, {{ call = {{ id = {said}, name = \"write\", arguments = {{ path = {file}, content = {said} }} }} }}] }},\n\
             {{ steps = [{{ call = {{ id = \"c2\", name = \"bash\", arguments = {{ command = {said} }} }} }}] }},\n\
             {{ steps = [{{ text = {said} }}] }},\n\
             {{ steps = [{{ text = {said} }}] }},\n]"
        ),
    )
}

#[test]
fn i13_no_payload_runs_on_any_page_nor_while_a_turn_runs() {
    let world = World::new();
    let script = script(&world);
    let session = world.branched();
    world.ok(&["rename", &session, MARKUP]);
    world.ok(&["tag", &session, "add", MARKUP]);
    world.ok(&["label", &format!("{session}@bbbb0001"), MARKUP]);
    world.ok(&["snapshot", &session, "--label", MARKUP]);
    let usage = json!({"input": 900, "output": 100, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1000});
    let answer = json!({"type": "message", "message": {"role": "assistant", "provider": MARKUP, "model": MARKUP, "stopReason": MARKUP,
        "content": [{"type": "text", "text": MARKUP}], "usage": usage}});
    assert_eq!(world.run_with(&answer.to_string(), &["append", &session]).code, 0);
    let Some(mut place) = Place::open(world, &["--script", &script], &format!("?s={session}")) else { return };
    place.sees(".detail h1", "window.ran");
    place.say(MARKUP);
    place.press(&["Escape"]);
    // Words as they come, questions, and what is said meanwhile.
    place.sees(".streaming", "onerror");
    touch(&mut place, "words");
    place.press(&["i"]);
    place.browser.write(MARKUP).unwrap();
    place.push("Queue");
    place.sees(".queued", "onerror");
    for (what, key) in [("Write this file?", "y"), ("Run this command?", "D")] {
        place.sees(".question .asks", what);
        place.sees(".question", "onerror");
        touch(&mut place, what);
        place.press(&["Escape"]);
        place.answer(key);
    }
    place.until("document.getElementById('send') && !document.querySelector('.question')");
    assert!(place.world.path("project").join(FILE).exists());
    touch(&mut place, "the turn");
    // The same again after it was loaded anew: the list with its tags and titles, the tree with its labels, every tab.
    for (what, more, there) in [
        ("message", "", ".message"),
        ("all entries", "&view=all", ".entry .label"),
        ("thread", "&tab=thread", "details.call"),
        ("files", "&tab=files&diff=branch", ".diff .path"),
        ("side by side", "&tab=files&diff=start&sides=1", ".lines.two"),
        ("since the start", "&tab=files&diff=start", ".diff .path"),
        ("now", "&tab=files&diff=now", "#detail .quiet"),
        ("context", "&tab=context", ".legend"),
        ("raw", "&tab=raw", ".raw"),
        ("timeline", "&page=timeline", ".timeline"),
        ("done", "&page=done", ".page-pane tbody tr"),
        ("compare", "&page=compare&a=4&b=6", ".sides td"),
        ("usage of sessions", "&page=usage&by=session", ".page-pane table"),
        ("usage of models", "&page=usage&by=model", ".page-pane table"),
    ] {
        place.browser.visit(&format!("{}/?s={session}{more}", place.address)).unwrap();
        place.sees(".session .chip", "onerror");
        place.until(&format!("document.querySelector('{there}')"));
        touch(&mut place, what);
    }
    place.browser.visit(&format!("{}/?s={session}", place.address)).unwrap();
    place.sees(".message", "onerror");
    for (what, key, there) in [
        ("rewind", "r", "dialog .plan p:not(.quiet)"),
        ("branches", "b", "#found li"),
        ("label", "L", "dialog input"),
        ("export", "e", "dialog button"),
        ("new", "n", "#new-place"),
    ] {
        place.press(&[key]);
        place.until(&format!("document.querySelector('{there}')"));
        touch(&mut place, what);
        place.press(&["Escape"]);
        place.until("!document.querySelector('dialog')");
    }
    for (what, there) in
        [("Share…", "would be shared"), ("Tags…", "commas"), ("Rename…", "Title"), ("Continue in…", "Copy")]
    {
        place.more(what);
        place.sees("dialog", there);
        touch(&mut place, what);
        place.press(&["Escape"]);
        place.until("!document.querySelector('dialog')");
    }
    place.press(&["ctrl+k"]);
    place.until("document.activeElement.id === 'palette'");
    place.browser.write("onerror").unwrap();
    place.until("document.querySelectorAll('#found .snippet').length > 1");
    touch(&mut place, "hits");
    place.browser.visit(&place.address.clone()).unwrap();
    place.sees(".home .recent", "onerror");
    touch(&mut place, "home");
    place.was_quiet();
}
