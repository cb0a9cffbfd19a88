//! What a command said, made comparable.

use std::collections::BTreeSet;

use serde_json::Value;

use super::server::Server;
use crate::world::{Ran, World};

/// What a command said, without what may differ: times, new ids, where the home is; and of stderr only of which kind it is.
pub(super) fn told(world: &World, server: &Server, words: &[&str], ran: &Ran) -> String {
    let out = ran
        .stdout
        .replace(&server.address, "http://127.0.0.1:7347")
        .replace(&world.path("there").display().to_string(), &world.path("home").display().to_string());
    let is_json = words.contains(&"--json");
    let mut lines: Vec<String> = out
        .lines()
        .map(|line| match serde_json::from_str::<Value>(line) {
            Ok(value) if is_json => tamed(value).to_string(),
            _ => line.to_owned(),
        })
        .collect();
    // How much a catalogue takes depends on when it was last tidied.
    lines.retain(|line| !line.starts_with("the home takes"));
    if words.contains(&"export") {
        // When it was exported is in it.
        lines.retain(|line| !line.contains("exported"));
    }
    let text = numbered(&lines.join("\n"));
    let class: BTreeSet<&str> = ["error:", "warning:", "hint:", "\"error\"", "\"warning\""]
        .into_iter()
        .filter(|class| *class != "hint:" && ran.stderr.contains(class))
        .collect();
    let kind = serde_json::from_str::<Value>(ran.stderr.lines().last().unwrap_or_default());
    let kind = kind.ok().and_then(|value| Some(value["error"]["kind"].as_str()?.to_owned()));
    format!("exit {}\nstderr {class:?} {kind:?}\n{text}", ran.code)
}

/// Replaces ids and times by the order they appear in, and what is counted in bytes or seconds.
fn numbered(text: &str) -> String {
    let mut known: Vec<String> = Vec::new();
    let mut out = String::new();
    let mut token = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric()
            || c == '-'
            || (c == ':' && token.starts_with("20"))
            || (c == '.' && token.contains(':'))
        {
            token.push(c);
            continue;
        }
        let word = std::mem::take(&mut token);
        let name = word.strip_prefix("ramus-").unwrap_or(&word);
        let is_hex = name.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f' | '-'));
        let is_made_up = ["aaaa0", "bbbb0", "cccc0"].iter().any(|start| name.starts_with(start));
        let is_time = name.starts_with("20") && name.contains('T') && (name.contains(':') || name.ends_with('Z'));
        if (is_hex && name.len() >= 8 && !is_made_up) || is_time {
            let at = known.iter().position(|other| other == name).unwrap_or_else(|| {
                known.push(name.to_owned());
                known.len() - 1
            });
            out.push_str(&format!("[{at}]"));
        } else {
            out.push_str(&word);
        }
        out.push(c);
    }
    out
}

/// Takes out of an object what depends on when and where something was done.
fn tamed(value: Value) -> Value {
    const MOVING: [&str; 14] = [
        "timestamp",
        "created",
        "updated",
        "time",
        "bytes",
        "disk",
        "size",
        "url",
        "secret",
        "share",
        "client",
        "duration_ms",
        "archived_at",
        "token_file",
    ];
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(name, _)| !MOVING.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, tamed(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(tamed).collect()),
        other => other,
    }
}
