//! The answer that is coming in: what is said of it so far, for whoever comes while it does.

use ramus_agent::{Event, Piece};
use ramus_wire::run::{RunningCall, SpokenAnswer};

/// How much of an answer is kept, in bytes: its words, its thoughts and the names of its calls together.
const MOST: usize = 1 << 19;

/// What was said so far.
#[derive(Default)]
pub(super) struct Spoken {
    text: String,
    thinking: String,
    /// The calls that run, and what they are called.
    calls: Vec<(String, String)>,
    /// Which answer of the turn it is, and how many pieces of it are there.
    answer: usize,
    pieces: usize,
    /// How much of it was left out, in bytes.
    left_out: usize,
}

impl Spoken {
    /// Takes note of what happens.
    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::MessageStart => self.begin(self.answer + 1),
            // It is in the log now.
            Event::MessageEnd { .. } => self.begin(self.answer),
            Event::MessageDelta(piece) => self.add(piece, |spoken| &mut spoken.text),
            Event::ThinkingDelta(piece) => self.add(piece, |spoken| &mut spoken.thinking),
            Event::ToolStart { call, name, .. } if self.has_room(call.len() + name.len()) => {
                self.calls.push((call.clone(), name.clone()));
            }
            Event::ToolEnd { call, .. } => self.calls.retain(|(known, _)| known != call),
            _ => {}
        }
    }

    fn begin(&mut self, answer: usize) {
        let calls = std::mem::take(&mut self.calls);
        *self = Self { calls, answer, pieces: 0, ..Self::default() };
    }

    fn add(&mut self, piece: &Piece, to: impl Fn(&mut Self) -> &mut String) {
        (self.answer, self.pieces) = (piece.answer, piece.number);
        // What comes behind something that was left out would read as if it belonged there.
        if self.left_out > 0 || !self.has_room(piece.text.len()) {
            self.left_out += piece.text.len();
            return;
        }
        to(self).push_str(&piece.text);
    }

    fn has_room(&self, more: usize) -> bool {
        let calls: usize = self.calls.iter().map(|(call, name)| call.len() + name.len()).sum();
        self.text.len() + self.thinking.len() + calls + more <= MOST
    }

    /// Describes it.
    pub(super) fn told(&self) -> SpokenAnswer {
        let running = |(call, name): &(String, String)| RunningCall { call: call.clone(), name: name.clone() };
        SpokenAnswer {
            answer: self.answer,
            pieces: self.pieces,
            text: self.text.clone(),
            thinking: self.thinking.clone(),
            calls: self.calls.iter().map(running).collect(),
            left_out: self.left_out,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn piece(answer: usize, number: usize, text: &str) -> Piece {
        Piece { text: text.into(), answer, number }
    }

    #[test]
    fn what_was_said_of_an_answer_is_kept_until_it_is_in_the_log() {
        let mut spoken = Spoken::default();
        let start = Event::ToolStart { call: "c1".into(), name: "bash".into(), input: Value::Null };
        for event in [
            Event::MessageStart,
            Event::ThinkingDelta(piece(1, 1, "hm ")),
            Event::MessageDelta(piece(1, 2, "one ")),
            Event::MessageDelta(piece(1, 3, "two")),
            start,
        ] {
            spoken.hear(&event);
        }
        let calls = json!([{"call": "c1", "name": "bash"}]);
        let told =
            json!({"answer": 1, "pieces": 3, "text": "one two", "thinking": "hm ", "calls": calls, "left_out": 0});
        assert_eq!(json!(spoken.told()), told);
        spoken.hear(&Event::MessageEnd { stop_reason: "stop".into(), seq: None });
        let told = json!(spoken.told());
        assert_eq!((&told["text"], &told["pieces"], &told["calls"]), (&json!(""), &json!(0), &calls));
    }

    #[test]
    fn a_long_answer_is_kept_as_far_as_there_is_room() {
        let mut spoken = Spoken::default();
        let text = "a".repeat(MOST / 2);
        for number in 1..=4 {
            spoken.hear(&Event::MessageDelta(piece(1, number, &text)));
        }
        spoken.hear(&Event::MessageDelta(piece(1, 5, "b")));
        assert_eq!((spoken.text.len(), spoken.pieces, spoken.left_out), (MOST, 5, MOST + 1));
    }
}
