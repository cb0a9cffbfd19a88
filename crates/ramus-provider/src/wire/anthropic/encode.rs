//! A request as Anthropic's messages.
//!
//! Roles alternate, so results and what the user says behind them are one message. The cache is told where a prompt that
//! comes again ends: behind the system prompt, and behind the last two things from the user's side.

use ramus_model::request::{Request, Thinking, ToolDefinition};

use super::super::history::{Answer, History, Piece, Rules, Thought, Turn};
use super::super::images::Sight;
use super::super::json::Json;
use super::super::{effort, names};
use crate::models::{Control, Facts};

/// The most tokens of an answer when nobody says. The format demands a number, and every model allows this one.
const OUTPUT: u64 = 8_192;

/// The fewest tokens that thinking can be given, and the fewest that must be left for the answer.
const LEAST: u64 = 1_024;

const RULES: Rules =
    Rules { keeps: |thought| thought.seal.is_some(), seals_text: false, shows_results: true, sight: Sight::Moving };

pub(crate) fn encode(request: &Request, facts: &Facts) -> Vec<u8> {
    let mut history = History::new(request, facts, RULES);
    if matches!(facts.control, Control::Budget { .. }) {
        put_thoughts_first(&mut history);
    }
    let most = request.max_tokens.or(facts.output).unwrap_or(OUTPUT);
    let mut json = Json::for_request(request);
    json.object(|json| {
        json.key("model").text(&request.model.model);
        json.key("max_tokens").number(most);
        json.key("stream").flag(true);
        if !history.system.is_empty() {
            json.key("system").array(|json| {
                json.object(|json| {
                    json.key("type").text("text");
                    json.key("text").paragraphs(&history.system);
                    cached(json);
                });
            });
        }
        json.key("messages").array(|json| messages(&history, json));
        if !request.tools.is_empty() {
            json.key("tools").array(|json| request.tools.iter().for_each(|tool| definition(tool, json)));
        }
        thinking(request, facts, &history, most, json);
    });
    json.into_bytes()
}

fn cached(json: &mut Json) {
    json.key("cache_control").object(|json| json.key("type").text("ephemeral"));
}

/// Messages of alternating roles: neighbours from the user's side are one.
fn messages(history: &History<'_>, json: &mut Json) {
    let users = history.sides().filter(|side| !side.iter().any(Turn::is_model)).count();
    let mut user = 0;
    for side in history.sides() {
        if let [Turn::Model(pieces)] = side {
            message("assistant", json, |json| pieces.iter().for_each(|piece| block(piece, false, json)));
            continue;
        }
        user += 1;
        let is_marked = user + 2 > users;
        message("user", json, |json| {
            for (at, turn) in side.iter().enumerate() {
                user_side(turn, is_marked && at + 1 == side.len(), json);
            }
        });
    }
}

fn message(role: &str, json: &mut Json, content: impl FnOnce(&mut Json)) {
    json.object(|json| {
        json.key("role").text(role);
        json.key("content").array(content);
    });
}

fn user_side(turn: &Turn<'_>, is_marked: bool, json: &mut Json) {
    match turn {
        Turn::User(pieces) | Turn::Model(pieces) => {
            for (at, piece) in pieces.iter().enumerate() {
                block(piece, is_marked && at + 1 == pieces.len(), json);
            }
        }
        Turn::Results(answers) => {
            for (at, answer) in answers.iter().enumerate() {
                result(answer, is_marked && at + 1 == answers.len(), json);
            }
        }
    }
}

fn block(piece: &Piece<'_>, is_marked: bool, json: &mut Json) {
    json.object(|json| {
        match piece {
            Piece::Text(text) => {
                json.key("type").text("text");
                json.key("text").own_or_stored(text);
            }
            Piece::Image(image) => {
                json.key("type").text("image");
                json.key("source").object(|json| {
                    json.key("type").text("base64");
                    json.key("media_type").text(image.mime);
                    json.key("data").raw(image.data);
                });
            }
            Piece::Thought(thought) => self::thought(thought, json),
            Piece::Call(call) => {
                json.key("type").text("tool_use");
                json.key("id").text(&call.id);
                json.key("name").text(&call.name);
                json.key("input");
                call.write_arguments(json);
            }
        }
        if is_marked {
            cached(json);
        }
    });
}

/// A thought goes back exactly as it came.
fn thought(thought: &Thought<'_>, json: &mut Json) {
    let Some(seal) = thought.seal else { return };
    if thought.is_redacted {
        json.key("type").text("redacted_thinking");
        json.key("data").raw(seal);
    } else {
        json.key("type").text("thinking");
        json.key("thinking").raw(thought.text);
        json.key("signature").raw(seal);
    }
}

fn result(answer: &Answer<'_>, is_marked: bool, json: &mut Json) {
    json.object(|json| {
        json.key("type").text("tool_result");
        json.key("tool_use_id").text(&answer.id);
        json.key("content").array(|json| answer.pieces.iter().for_each(|piece| block(piece, false, json)));
        if answer.is_error {
            json.key("is_error").flag(true);
        }
        if is_marked {
            cached(json);
        }
    });
}

fn definition(tool: &ToolDefinition, json: &mut Json) {
    json.object(|json| {
        json.key("name").text(&names::tool(&tool.name));
        json.key("description").text(&tool.description);
        json.key("input_schema").value(&tool.parameters);
    });
}

fn thinking(request: &Request, facts: &Facts, history: &History<'_>, most: u64, json: &mut Json) {
    if let Control::Budget { .. } = facts.control {
        let budget = effort::budget(request.thinking).min(most.saturating_sub(LEAST));
        if request.thinking != Thinking::Off && budget >= LEAST && may_think(history) {
            json.key("thinking").object(|json| {
                json.key("type").text("enabled");
                json.key("budget_tokens").number(budget);
            });
        }
        return;
    }
    match effort::word(request.thinking, &facts.control) {
        Some("none") => json.key("thinking").object(|json| json.key("type").text("disabled")),
        Some(level) => {
            json.key("thinking").object(|json| {
                json.key("type").text("adaptive");
                json.key("display").text("summarized");
            });
            json.key("output_config").object(|json| json.key("effort").text(level));
        }
        None => {}
    }
}

/// Models that are given a budget want thoughts in front of calls. Thoughts that stand elsewhere in a message with calls,
/// as they do when two messages became one, do not go back.
fn put_thoughts_first(history: &mut History<'_>) {
    for turn in &mut history.turns {
        if let Turn::Model(pieces) = turn
            && pieces.iter().any(|piece| piece.as_call().is_some())
            && !matches!(pieces.first(), Some(Piece::Thought(_)))
        {
            pieces.retain(|piece| !matches!(piece, Piece::Thought(_)));
        }
    }
}

/// Models that are given a budget refuse to think on when the last calls were made without a thought, as they are when
/// another model made them.
fn may_think(history: &History<'_>) -> bool {
    let last =
        history.turns.iter().rev().find_map(|turn| if let Turn::Model(pieces) = turn { Some(pieces) } else { None });
    last.is_none_or(|pieces| {
        let has_calls = pieces.iter().any(|piece| piece.as_call().is_some());
        !has_calls || matches!(pieces.first(), Some(Piece::Thought(_)))
    })
}
