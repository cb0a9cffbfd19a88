//! One entry on one line: who speaks and what about.

use ramus_engine::Summary;
use ramus_model::json::Raw;
use ramus_model::message::{Message, Part};
use ramus_model::{Kind, Marker, Record, Role};

use crate::clean::{self, Breaks};

/// The signs that previews are written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signs {
    /// In front of a call of a tool.
    pub call: &'static str,
    /// In front of what changed in files.
    pub changed: &'static str,
    /// In front of how many lines were removed.
    pub minus: &'static str,
}

impl Default for Signs {
    fn default() -> Self {
        Self { call: "→", changed: "±", minus: "−" }
    }
}

/// One entry, described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The `type` as written.
    pub type_name: String,
    /// The role as written, of entries that show as messages.
    pub role: Option<String>,
    /// Who speaks, or what kind of entry it is, for people.
    pub speaker: String,
    /// What it says, clean and on one line.
    pub text: String,
}

impl Preview {
    /// Describes a stored entry with at most `limit` characters.
    pub fn of_entry(line: &[u8], record: &Record, limit: usize, signs: &Signs) -> Self {
        let Some(raw) = Raw::parse(line) else {
            let type_name = record.kind.wire().unwrap_or("unknown").to_owned();
            return Self { speaker: "damaged".into(), type_name, role: None, text: String::new() };
        };
        let type_name = match record.kind.wire() {
            Some(name) => name.to_owned(),
            None => text(raw, "type"),
        };
        let message = Message::of_entry(raw).filter(|_| shows_as_message(record.kind));
        let said = match &message {
            Some(message) if record.kind == Kind::Compaction => {
                Some(text(raw, "shortSummary")).filter(|short| !short.is_empty()).unwrap_or_else(|| message.text())
            }
            Some(message) => of_message(message, signs),
            None => of_change(raw, record, signs),
        };
        Self {
            speaker: speaker(record, message.as_ref(), raw),
            type_name,
            role: message.map(|message| message.role_name),
            text: clean::clean(&said, Breaks::Fold, limit),
        }
    }
}

fn shows_as_message(kind: Kind) -> bool {
    matches!(kind, Kind::Message | Kind::CustomMessage | Kind::BranchSummary | Kind::Compaction)
}

/// Returns what a message says in few words, not yet clean.
pub fn of_message(message: &Message, signs: &Signs) -> String {
    let mut pieces: Vec<String> = Vec::new();
    if let Some(result) = &message.result {
        let outcome = if result.is_error { " failed:" } else { ":" };
        pieces.push(format!("{}{outcome}", result.name));
    }
    let says = message.parts.iter().any(|part| matches!(part, Part::Text(text) if !text.trim().is_empty()));
    for part in &message.parts {
        match part {
            Part::Text(text) => pieces.push(text.clone()),
            Part::Thinking(text) if !says && message.calls().next().is_none() => pieces.push(format!("({text})")),
            Part::Thinking(_) => {}
            Part::Image { mime, .. } => pieces.push(format!("[{mime}]")),
            Part::ToolCall { name, arguments, .. } => pieces.push(call(name, arguments, signs)),
            Part::Unknown(kind, _) => pieces.push(format!("[{kind}]")),
        }
    }
    pieces.join(" ")
}

/// Returns a tool call in few words: its only argument, or all of them.
pub fn call(name: &str, arguments: &str, signs: &Signs) -> String {
    let raw = Raw::parse(arguments.as_bytes());
    let mut fields: Vec<String> = Vec::new();
    for (key, value) in raw.into_iter().flat_map(Raw::fields) {
        let value = match value.text() {
            Some(text) => clean::clean(&text, Breaks::Fold, 200),
            None => String::from_utf8_lossy(value.bytes()).into_owned(),
        };
        fields.push(format!("{key}: {value}"));
    }
    match fields.as_slice() {
        [] => format!("{} {name}", signs.call),
        [only] => {
            let value = only.split_once(": ").map_or(&**only, |(_, value)| value);
            format!("{} {name} {value}", signs.call)
        }
        several => format!("{} {name} {}", signs.call, several.join(", ")),
    }
}

/// What an entry that is no message says.
fn of_change(raw: Raw<'_>, record: &Record, signs: &Signs) -> String {
    match record.kind {
        Kind::ModelChange => {
            let model = match (text(raw, "model"), text(raw, "provider")) {
                (model, _) if !model.is_empty() => model,
                (_, provider) => format!("{provider}/{}", text(raw, "modelId")),
            };
            match text(raw, "role").as_str() {
                "" | "default" => model,
                role => format!("{model} for {role}"),
            }
        }
        Kind::ThinkingLevelChange => text(raw, "thinkingLevel"),
        Kind::ModeChange => text(raw, "mode"),
        Kind::SessionInfo => text(raw, "name"),
        Kind::TitleChange => text(raw, "title"),
        Kind::Label => match text(raw, "label").as_str() {
            "" => format!("none for {}", text(raw, "targetId")),
            label => format!("{label} for {}", text(raw, "targetId")),
        },
        Kind::TtsrInjection => {
            let rules = raw.field("injectedRules").into_iter().flat_map(Raw::items).filter_map(Raw::text);
            rules.collect::<Vec<_>>().join(", ")
        }
        Kind::SessionInit => text(raw, "task"),
        Kind::ContextEdit => format!("of {}", text(raw, "targetId")),
        Kind::Custom => of_custom(raw, record.marker, signs),
        _ => String::new(),
    }
}

fn of_custom(raw: Raw<'_>, marker: Marker, signs: &Signs) -> String {
    let data = raw.field("data");
    let part = |name: &str| data.map(|data| text(data, name)).unwrap_or_default();
    match marker {
        Marker::Leaf if part("target").is_empty() => "to nothing".into(),
        Marker::Leaf => format!("to {}", part("target")),
        Marker::Meta => {
            let set = data.and_then(|data| data.field("set")).into_iter().flat_map(Raw::fields);
            set.map(|(key, value)| format!("{key}={}", String::from_utf8_lossy(value.bytes())))
                .collect::<Vec<_>>()
                .join(" ")
        }
        Marker::Segment => {
            let replaced = data.and_then(|data| data.field("replaced")).map_or(0, |ids| ids.items().count());
            format!("{} replaced by {}", count(replaced as u64, "entry", "entries"), part("replacement"))
        }
        Marker::Purged => "erased".into(),
        Marker::Gap | Marker::Session | Marker::None => match (text(raw, "customType"), data) {
            (name, Some(data)) if is_of_files(&name) => of_files(&name, data, signs),
            (name, Some(data)) => format!("{name}{}", of_files(&name, data, signs)).trim_end().to_owned(),
            (name, None) => name,
        },
    }
}

/// Says whether an entry is about files and nothing else.
fn is_of_files(custom_type: &str) -> bool {
    matches!(custom_type, "ramus.files" | "ramus.snapshot")
}

/// What an entry says about files.
fn of_files(name: &str, data: Raw<'_>, signs: &Signs) -> String {
    let summary = data.field("summary").filter(|_| matches!(name, "ramus.files" | "ramus.turn"));
    let count =
        |name: &str| summary.and_then(|summary| summary.field(name)).and_then(Raw::unsigned).unwrap_or_default();
    let summary = Summary { additions: count("additions"), deletions: count("deletions"), files: count("files") };
    match name {
        "ramus.snapshot" => text(data, "label"),
        "ramus.files" => told(summary, signs),
        "ramus.todo" => format!(" {}", of_tasks(data)),
        _ if summary.files > 0 => format!(" {}", told(summary, signs)),
        _ => String::new(),
    }
}

/// How many tasks a list has, and how many of them are open.
fn of_tasks(data: Raw<'_>) -> String {
    let tasks: Vec<Raw<'_>> = data.field("tasks").into_iter().flat_map(Raw::items).collect();
    let is_open = |task: &&Raw<'_>| !matches!(text(**task, "status").as_str(), "completed" | "cancelled");
    format!("{}, {} open", count(tasks.len() as u64, "task", "tasks"), tasks.iter().filter(is_open).count())
}

fn speaker(record: &Record, message: Option<&Message>, raw: Raw<'_>) -> String {
    let name = match record.kind {
        Kind::Message => return message.map_or_else(|| "message".into(), of_role),
        Kind::Custom if text(raw, "customType") == "ramus.files" => "files",
        Kind::Custom if text(raw, "customType") == "ramus.snapshot" => "snapshot",
        Kind::CustomMessage if text(raw, "customType") == "ramus.segment" => "segment",
        Kind::CustomMessage => "custom",
        Kind::ModelChange => "model",
        Kind::ThinkingLevelChange => "thinking",
        Kind::Compaction => "compaction",
        Kind::BranchSummary => "summary",
        Kind::Custom => match record.marker {
            Marker::Leaf => "leaf",
            Marker::Meta => "meta",
            Marker::Segment => "replace",
            Marker::Purged => "purged",
            Marker::Gap | Marker::Session | Marker::None => "custom",
        },
        Kind::Label => "label",
        Kind::TtsrInjection => "rules",
        Kind::SessionInit => "init",
        Kind::ModeChange => "mode",
        Kind::SessionInfo | Kind::TitleChange => "title",
        Kind::ResetBoundary => "reset",
        Kind::ContextEdit => "edit",
        Kind::Unknown => return text(raw, "type"),
    };
    name.to_owned()
}

/// Returns who speaks in a message, for people.
pub fn of_role(message: &Message) -> String {
    match message.role {
        Role::ToolResult => "tool".to_owned(),
        Role::BashExecution => "bash".to_owned(),
        Role::Custom => "custom".to_owned(),
        Role::Other => match message.role_name.as_str() {
            "compactionSummary" => "compaction".to_owned(),
            "branchSummary" => "summary".to_owned(),
            other => other.to_owned(),
        },
        Role::System | Role::User | Role::Assistant => message.role_name.clone(),
    }
}

/// Says what changed in files, in few words.
pub fn told(summary: Summary, signs: &Signs) -> String {
    let files = count(summary.files, "file", "files");
    format!("{}{files} +{} {}{}", signs.changed, summary.additions, signs.minus, summary.deletions)
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Writes a number with separators.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn text(raw: Raw<'_>, name: &str) -> String {
    raw.field(name).and_then(Raw::text).unwrap_or_default().into_owned()
}
