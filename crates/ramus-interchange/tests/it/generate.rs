//! Made-up sessions of our own format, of any shape.

use proptest::prelude::*;
use serde_json::{Value, json};

/// One thing that happens in a session.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    User(String, bool),
    Answer { text: String, thought: Option<String>, calls: Vec<(String, String)>, answered: bool },
    Compaction { summary: String, back: usize },
    Title(String),
    Note(String),
    Model(String),
    Branch(usize),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\u{1f41b} \"quoted\" \\ back\u{7}\n".to_owned()),
        Just("x".repeat(200)),
        Just("<environment_context> not really".to_owned()),
        "[a-zA-Z0-9 ,.é\u{4e2d}]{1,80}",
    ]
}

pub(crate) fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => (text(), any::<bool>()).prop_map(|(text, picture)| Event::User(text, picture)),
        4 => (text(), prop::option::of(text()), prop::collection::vec(("[a-z_:/]{1,12}", text()), 0..3), any::<bool>())
            .prop_map(|(text, thought, calls, answered)| Event::Answer { text, thought, calls, answered }),
        1 => (text(), 0..8_usize).prop_map(|(summary, back)| Event::Compaction { summary, back }),
        1 => text().prop_map(Event::Title),
        1 => text().prop_map(Event::Note),
        1 => "[a-z0-9-]{1,10}".prop_map(Event::Model),
        1 => (0..20_usize).prop_map(Event::Branch),
    ];
    prop::collection::vec(event, 1..24)
}

/// Writes the log of a session in which these things happen.
pub(crate) fn log(events: &[Event]) -> Vec<u8> {
    let mut writer = Writer::default();
    for event in events {
        writer.event(event);
    }
    writer.finish()
}

#[derive(Default)]
struct Writer {
    lines: Vec<String>,
    ids: Vec<String>,
    parent: Option<String>,
    calls: usize,
}

impl Writer {
    fn entry(&mut self, kind: &str, rest: Value) {
        let id = format!("{:08x}", self.lines.len() + 0x1000);
        let time = format!("2026-11-01T10:{:02}:{:02}.000Z", self.lines.len() / 60, self.lines.len() % 60);
        let mut entry = json!({"type": kind, "id": id, "parentId": self.parent, "timestamp": time});
        entry.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        self.lines.push(entry.to_string());
        if kind != "session_info" {
            self.parent = Some(id.clone());
            self.ids.push(id);
        }
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::User(text, picture) => {
                let mut parts = vec![json!({"type": "text", "text": text})];
                if *picture {
                    parts.push(json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8gd29ybGQ="}));
                }
                self.entry("message", json!({"message": {"role": "user", "content": parts}}));
            }
            Event::Answer { text, thought, calls, answered } => self.answer(text, thought.as_deref(), calls, *answered),
            Event::Compaction { summary, back } => {
                let Some(last) = self.ids.len().checked_sub(1) else { return };
                let kept = self.ids[last.saturating_sub(*back)].clone();
                self.entry("compaction", json!({"summary": summary, "firstKeptEntryId": kept, "tokensBefore": 1234}));
            }
            Event::Title(title) => self.entry("session_info", json!({"name": title})),
            Event::Note(text) => {
                let note = json!({"customType": "note", "content": [{"type": "text", "text": text}], "display": true});
                self.entry("custom_message", note);
            }
            Event::Model(model) => self.entry("model_change", json!({"model": format!("openai/{model}")})),
            Event::Branch(at) => self.parent = self.ids.get(*at).cloned().or(self.parent.take()),
        }
    }

    fn answer(&mut self, text: &str, thought: Option<&str>, calls: &[(String, String)], answered: bool) {
        let mut parts: Vec<_> = thought
            .iter()
            .map(|thought| json!({"type": "thinking", "thinking": thought, "thinkingSignature": "c2ln"}))
            .collect();
        parts.push(json!({"type": "text", "text": text}));
        let mut open = Vec::new();
        for (name, argument) in calls {
            self.calls += 1;
            let id = format!("call|{}", self.calls);
            parts.push(
                json!({"type": "toolCall", "id": id, "name": name, "arguments": {"argument": argument, "n": 1.5}}),
            );
            open.push((id, name.clone()));
        }
        let usage = json!({"input": 10, "output": 5, "cacheRead": 3, "cacheWrite": 0, "totalTokens": 18,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}});
        self.entry(
            "message",
            json!({"message": {"role": "assistant", "content": parts, "api": "anthropic-messages",
            "provider": "anthropic", "model": "m", "usage": usage, "stopReason": "stop", "timestamp": 1}}),
        );
        for (id, name) in open.iter().filter(|_| answered) {
            let content = [json!({"type": "text", "text": "out"})];
            self.entry(
                "message",
                json!({"message": {"role": "toolResult", "toolCallId": id, "toolName": name, "content": content,
                "isError": id.ends_with('2')}}),
            );
        }
    }

    fn finish(self) -> Vec<u8> {
        let header = json!({"type": "session", "version": 3, "id": "cccccccc-0000-4000-8000-000000000003",
            "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/home/ada/shop"});
        let mut file = format!("{header}\n");
        for line in self.lines {
            file.push_str(&line);
            file.push('\n');
        }
        file.into_bytes()
    }
}
