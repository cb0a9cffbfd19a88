//! A request as chat completions.

use ramus_model::json::Raw;
use ramus_model::request::{Request, ToolDefinition};

use super::super::history::{Answer, Call, History, Piece, Rules, Thought, Turn};
use super::super::images::Sight;
use super::super::json::{Json, Text};
use super::super::{Dialect, effort, names};
use super::THOUGHTS;
use crate::models::Facts;

const RULES: Rules = Rules {
    keeps: |thought| thought_member(thought).is_some(),
    seals_text: false,
    shows_results: false,
    sight: Sight::Moving,
};

pub(crate) fn encode(request: &Request, facts: &Facts, dialect: Dialect) -> Vec<u8> {
    let history = History::new(request, facts, RULES);
    let mut json = Json::for_request(request);
    json.object(|json| {
        json.key("model").text(&request.model.model);
        json.key("messages").array(|json| messages(&history, json));
        json.key("stream").flag(true);
        json.key("stream_options").object(|json| json.key("include_usage").flag(true));
        if !request.tools.is_empty() {
            json.key("tools").array(|json| request.tools.iter().for_each(|tool| definition(tool, json)));
        }
        if let Some(most) = request.max_tokens {
            // OpenAI's own models refuse the old name, and other servers do not know the new one.
            let name = if dialect == Dialect::Original { "max_completion_tokens" } else { "max_tokens" };
            json.key(name).number(most);
        }
        if let Some(level) = effort::word(request.thinking, &facts.control) {
            json.key("reasoning_effort").text(level);
        }
        if dialect == Dialect::Original {
            json.key("store").flag(false);
            if let Some(key) = &request.cache_key {
                json.key("prompt_cache_key").text(key);
            }
        }
    });
    json.into_bytes()
}

fn messages(history: &History<'_>, json: &mut Json) {
    if !history.system.is_empty() {
        json.object(|json| {
            json.key("role").text("system");
            json.key("content").paragraphs(&history.system);
        });
    }
    for turn in &history.turns {
        match turn {
            Turn::User(pieces) => user(pieces, json),
            Turn::Model(pieces) => model(pieces, json),
            Turn::Results(answers) => answers.iter().for_each(|answer| result(answer, json)),
        }
    }
}

fn user(pieces: &[Piece<'_>], json: &mut Json) {
    json.object(|json| {
        json.key("role").text("user");
        json.key("content");
        // Small servers understand only a string.
        if pieces.iter().all(|piece| piece.as_text().is_some()) {
            json.lines(pieces.iter().filter_map(Piece::as_text));
        } else {
            json.array(|json| pieces.iter().for_each(|piece| part(piece, json)));
        }
    });
}

fn part(piece: &Piece<'_>, json: &mut Json) {
    match piece {
        Piece::Text(text) => json.object(|json| {
            json.key("type").text("text");
            json.key("text").own_or_stored(text);
        }),
        Piece::Image(image) => json.object(|json| {
            json.key("type").text("image_url");
            json.key("image_url").object(|json| json.key("url").data_url(image.mime, image.data));
        }),
        Piece::Thought(_) | Piece::Call(_) => {}
    }
}

fn model(pieces: &[Piece<'_>], json: &mut Json) {
    json.object(|json| {
        json.key("role").text("assistant");
        let texts: Vec<&Text<'_>> = pieces.iter().filter_map(Piece::as_text).collect();
        json.key("content");
        if texts.is_empty() {
            json.null();
        } else {
            json.lines(texts);
        }
        for name in THOUGHTS {
            let thoughts = pieces.iter().filter_map(|piece| thought_in(piece, name)).collect::<Vec<_>>();
            if !thoughts.is_empty() {
                json.key(name).lines(&thoughts);
            }
        }
        let mut calls = pieces.iter().filter_map(Piece::as_call).peekable();
        if calls.peek().is_some() {
            json.key("tool_calls").array(|json| calls.for_each(|made| call(made, json)));
        }
    });
}

/// The member that a thought came in.
fn thought_member(thought: &Thought<'_>) -> Option<&'static str> {
    let seal = thought.seal.and_then(Raw::text)?;
    THOUGHTS.into_iter().find(|name| *name == seal).filter(|_| thought.text.bytes().len() > 2)
}

fn thought_in<'a>(piece: &Piece<'a>, name: &str) -> Option<Text<'a>> {
    match piece {
        Piece::Thought(thought) if thought_member(thought) == Some(name) => Some(Text::Stored(thought.text)),
        _ => None,
    }
}

fn call(call: &Call<'_>, json: &mut Json) {
    json.object(|json| {
        json.key("id").text(&call.id);
        json.key("type").text("function");
        json.key("function").object(|json| {
            json.key("name").text(&call.name);
            json.key("arguments");
            call.spell_arguments(json);
        });
    });
}

fn result(answer: &Answer<'_>, json: &mut Json) {
    json.object(|json| {
        json.key("role").text("tool");
        json.key("tool_call_id").text(&answer.id);
        json.key("content").lines(answer.pieces.iter().filter_map(Piece::as_text));
    });
}

fn definition(tool: &ToolDefinition, json: &mut Json) {
    json.object(|json| {
        json.key("type").text("function");
        json.key("function").object(|json| {
            json.key("name").text(&names::tool(&tool.name));
            json.key("description").text(&tool.description);
            json.key("parameters").value(&tool.parameters);
        });
    });
}
