//! One entry on the page.

use super::blocks;
use super::text::{escape, fragment};
use crate::transcript::{Entry, Part, Speaker};

/// Media types that are shown; what else a picture claims to be is only named.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Writes an entry. What is not on the path is there and hidden until somebody goes to it.
pub(super) fn write(entry: &Entry, at: usize, on_path: bool, out: &mut String) {
    let side = if on_path { "" } else { " side" };
    let parent = entry.parent.map_or(String::new(), |parent| format!(" data-parent=\"{parent}\""));
    let speaker = entry.speaker.name();
    out.push_str(&format!(
        "<article id=\"e-{}\" class=\"entry {speaker}{side}\" data-at=\"{at}\"{parent} data-speaker=\"{speaker}\">\n",
        escape(&entry.id)
    ));
    heading(entry, out);
    for part in &entry.parts {
        write_part(entry, part, out);
    }
    out.push_str("</article>\n");
}

fn heading(entry: &Entry, out: &mut String) {
    let name = match (entry.speaker, &entry.result) {
        (_, Some((tool, _))) => format!("Result of <code>{}</code>", escape(tool)),
        (Speaker::User, _) => "User".to_owned(),
        (Speaker::Assistant, _) => "Assistant".to_owned(),
        (Speaker::System, _) => "System".to_owned(),
        (Speaker::Summary, _) => "Summary".to_owned(),
        (Speaker::Tool | Speaker::Other, _) => escape(&entry.role).to_string(),
    };
    out.push_str(&format!("<h2><span class=\"speaker\">{name}</span>"));
    if matches!(entry.result, Some((_, true))) {
        out.push_str("<span class=\"failed\">error</span>");
    }
    if let Some(label) = &entry.label {
        out.push_str(&format!("<span class=\"label\">{}</span>", escape(label)));
    }
    if let Some(model) = &entry.model {
        out.push_str(&format!("<span class=\"model\">{}</span>", escape(model)));
    }
    let minute = entry.time.get(..16).map(|time| time.replace('T', " "));
    let time = minute.unwrap_or_default();
    out.push_str(&format!(
        "<a class=\"link\" href=\"{}\" title=\"{}\">{}</a></h2>\n",
        escape(&fragment(&entry.id)),
        escape(&entry.id),
        escape(if time.is_empty() { "#" } else { &time })
    ));
}

fn write_part(entry: &Entry, part: &Part, out: &mut String) {
    match part {
        Part::Text(text) if entry.result.is_some() => folded("Output", "output", "", text, out),
        Part::Text(text) => blocks::write(text, out),
        Part::Thinking(text) => {
            out.push_str("<details class=\"thinking\"><summary>Thinking</summary>\n");
            blocks::write(text, out);
            out.push_str("</details>\n");
        }
        Part::Call { name, input } => folded(&format!("{name} {}", brief(input)), "call", "json", input, out),
        Part::Image { mime, data } => picture(mime, data, out),
        Part::Diff { path, diff } => folded(path, "change", "diff", diff, out),
        Part::Other(kind, text) => folded(kind, "unknown", "", text, out),
    }
}

/// Text that can be opened. A short one is open.
fn folded(title: &str, class: &str, language: &str, text: &str, out: &mut String) {
    let open = if class == "output" && text.len() < 600 && text.lines().count() < 12 { " open" } else { "" };
    out.push_str(&format!("<details class=\"{class}\"{open}><summary>{}</summary>\n", escape(title)));
    blocks::write_code(language, text, out);
    out.push_str("</details>\n");
}

fn picture(mime: &str, data: &str, out: &mut String) {
    let is_base64 = !data.is_empty() && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    match PICTURES.iter().find(|known| **known == mime) {
        Some(known) if is_base64 => {
            out.push_str(&format!("<img alt=\"Picture\" loading=\"lazy\" src=\"data:{known};base64,{data}\">\n"));
        }
        _ => out.push_str(&format!("<p class=\"missing\">Picture ({})</p>\n", escape(mime))),
    }
}

/// The first value of the arguments, which says most about a call.
fn brief(input: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(input).ok();
    let first = value.as_ref().and_then(|value| value.as_object()?.values().find_map(|value| value.as_str()));
    let line = first.and_then(|text| text.lines().next()).unwrap_or_default();
    let mut brief: String = line.chars().take(90).collect();
    if brief.len() < line.len() {
        brief.push('…');
    }
    brief
}
