//! Texts that run a script in a page that is careless with them. Each would set `window.ran`.

use serde_json::{Value, json};

/// What runs.
const RUN: &str = "window.ran=1";

/// Returns all of them.
pub fn all() -> Vec<String> {
    let mut all = Vec::new();
    let tags = [
        "img src=x",
        "svg",
        "body",
        "video src=x",
        "audio src=x",
        "input autofocus",
        "details open",
        "iframe",
        "object data=x",
        "embed src=x",
        "math",
        "marquee",
        "select autofocus",
        "textarea autofocus",
        "a href=x",
        "form",
        "button autofocus",
        "style",
        "link rel=stylesheet href=x",
        "p",
        "template",
        "dialog open",
        "canvas",
        "xss",
    ];
    let handlers = [
        "onerror",
        "onload",
        "onfocus",
        "ontoggle",
        "onmouseover",
        "onclick",
        "onstart",
        "onanimationend",
        "onpointerenter",
    ];
    for tag in tags {
        all.extend(handlers.iter().map(|handler| format!("<{tag} {handler}={RUN}>")));
    }
    let scripts = [
        format!("<script>{RUN}</script>"),
        format!("<SCRIPT SRC=data:text/javascript,{RUN}></SCRIPT>"),
        format!("<svg><script>{RUN}</script></svg>"),
        format!("<svg><animate onbegin={RUN} attributeName=x dur=1s>"),
        format!("<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>"),
        format!("<iframe src='javascript:parent.{RUN}'></iframe>"),
        format!("<math><mtext><table><mglyph><style><img src=x onerror={RUN}>"),
        format!("<noscript><p title='</noscript><img src=x onerror={RUN}>'>"),
        format!("<meta http-equiv=refresh content='0;url=javascript:{RUN}'>"),
        format!("<base href='javascript:{RUN}//'>"),
        format!("<a href='javascript:{RUN}' autofocus>x</a>"),
        format!("<form action='javascript:{RUN}'><input type=submit autofocus>"),
    ];
    let breaks =
        ["", "\">", "'>", "-->", "</title>", "</textarea>", "</style>", "</script>", "]]>", "`>", "\u{0}", "<!--"];
    for before in breaks {
        all.extend(scripts.iter().map(|script| format!("{before}{script}")));
    }
    for quote in ["\"", "'", "`", ""] {
        all.extend(handlers.iter().map(|handler| format!("x{quote} {handler}={RUN} {quote}")));
    }
    let schemes = [
        "javascript:",
        "JaVaScRiPt:",
        "java\tscript:",
        "java\nscript:",
        "\u{1}javascript:",
        " javascript:",
        "javascript&colon;",
        "&#106;avascript:",
        "vbscript:",
        "data:text/html,<script>",
        "data:text/html;base64,",
        "blob:",
        "file:///etc/passwd#",
        "//evil.example/",
    ];
    for scheme in schemes {
        all.extend([
            format!("[click]({scheme}{RUN})"),
            format!("![x]({scheme}{RUN})"),
            format!("<{scheme}{RUN}>"),
            format!("[x]: {scheme}{RUN}\n[x]"),
            format!("[a](https://x.example/\"onmouseover={RUN}//{scheme})"),
            format!("```{scheme}\"><img src=x onerror={RUN}>\ncode\n```"),
            format!("| <img src=x onerror={RUN}> |\n|---|\n| [x]({scheme}{RUN}) |"),
        ]);
    }
    all.extend((0..20).map(|depth| format!("{}<img src=x onerror={RUN}>", "> ".repeat(depth))));
    all
}

#[test]
fn there_are_five_hundred_and_more() {
    assert!(all().len() >= 500, "{}", all().len());
}

/// Every field that a file can have, with a payload in each.
pub fn file(payloads: &[String]) -> String {
    let all = payloads.join(" ");
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": payloads.first(), "timestamp": payloads.get(1), "cwd": all, "title": all}),
        json!({"type": "session_info", "id": "title", "parentId": null, "timestamp": "", "name": all}),
    ];
    let mut parent = Value::Null;
    let mut add = |lines: &mut Vec<Value>, id: String, mut body: Value| {
        if let Some(body) = body.as_object_mut() {
            body.insert("id".into(), id.as_str().into());
            body.insert("parentId".into(), parent.take());
            body.entry("timestamp").or_insert_with(|| "2026-11-15T10:20:30.000Z".into());
        }
        lines.push(body);
        parent = id.into();
    };
    for (at, text) in payloads.iter().enumerate() {
        let bodies = [
            json!({"type": "message", "timestamp": text, "message": {"role": "user", "content": [{"type": "text", "text": text}]}}),
            json!({"type": "message", "message": {"role": "assistant", "model": text, "provider": text, "stopReason": text, "content": [
                {"type": "text", "text": format!("a {text} b\n\n- {text}\n\n{text}")},
                {"type": "thinking", "thinking": text},
                {"type": "toolCall", "id": text, "name": text, "arguments": {"command": text, text.as_str(): text}},
                {"type": "image", "mimeType": text, "data": text},
                {"type": "image", "mimeType": "image/png", "data": format!("\"{text}")},
                {"type": text, "x": text}]}}),
            json!({"type": "message", "message": {"role": "toolResult", "toolCallId": text, "toolName": text, "isError": true,
                "content": [{"type": "text", "text": text}]}}),
            json!({"type": "message", "message": {"role": text, "content": text}}),
            json!({"type": "custom_message", "customType": text, "content": text, "display": true}),
            json!({"type": "compaction", "summary": text, "firstKeptEntryId": text, "tokensBefore": 1}),
            json!({"type": "branch_summary", "summary": text, "fromId": text}),
            json!({"type": text, "data": text}),
        ];
        for (kind, body) in bodies.into_iter().enumerate() {
            let id = format!("{at}.{kind}{text}");
            add(&mut lines, id, body);
        }
        let target = format!("{at}.0{text}");
        lines.push(json!({"type": "label", "id": format!("label{at}"), "parentId": null, "timestamp": "", "targetId": target, "label": text}));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
