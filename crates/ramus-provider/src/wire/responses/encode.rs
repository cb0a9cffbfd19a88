//! A request as a response to be made.
//!
//! A thought is stored with the whole item it came as, and goes back as that item, byte for byte.

use ramus_model::json::{Object, Raw};
use ramus_model::request::{Request, Thinking, ToolDefinition};

use super::super::history::{Answer, History, Piece, Rules, Thought, Turn};
use super::super::images::Sight;
use super::super::json::{Json, is_clean};
use super::super::{Dialect, effort, names};
use crate::models::{Control, Facts};

/// The fewest tokens that an answer can be limited to.
const FEWEST: u64 = 16;

const RULES: Rules =
    Rules { keeps: |thought| item(thought).is_some(), seals_text: false, shows_results: true, sight: Sight::Moving };

pub(crate) fn encode(request: &Request, facts: &Facts, dialect: Dialect) -> Vec<u8> {
    let history = History::new(request, facts, RULES);
    let mut json = Json::for_request(request);
    json.object(|json| {
        json.key("model").text(&request.model.model);
        if !history.system.is_empty() {
            json.key("instructions").paragraphs(&history.system);
        }
        json.key("input").array(|json| history.turns.iter().for_each(|turn| items(turn, json)));
        json.key("stream").flag(true);
        json.key("store").flag(false);
        if !request.tools.is_empty() {
            json.key("tools").array(|json| request.tools.iter().for_each(|tool| definition(tool, json)));
        }
        if let Some(most) = request.max_tokens {
            json.key("max_output_tokens").number(most.max(FEWEST));
        }
        reasoning(request, facts, json);
        if let Some(key) = request.cache_key.as_ref().filter(|_| dialect == Dialect::Original) {
            json.key("prompt_cache_key").text(key);
        }
    });
    json.into_bytes()
}

/// Models that do not think refuse to be asked for thoughts.
fn reasoning(request: &Request, facts: &Facts, json: &mut Json) {
    let level = effort::word(request.thinking, &facts.control);
    if let Some(level) = level {
        json.key("reasoning").object(|json| {
            json.key("effort").text(level);
            if level != "none" {
                json.key("summary").text("auto");
            }
        });
    }
    let thinks = match facts.control {
        Control::Levels(_) => true,
        Control::Unknown => request.thinking != Thinking::Off,
        Control::Never | Control::Budget { .. } => false,
    };
    if thinks && level != Some("none") {
        json.key("include").array(|json| json.text("reasoning.encrypted_content"));
    }
}

fn items(turn: &Turn<'_>, json: &mut Json) {
    match turn {
        Turn::User(pieces) => json.object(|json| {
            json.key("type").text("message");
            json.key("role").text("user");
            json.key("content").array(|json| pieces.iter().for_each(|piece| part(piece, json)));
        }),
        Turn::Model(pieces) => pieces.iter().for_each(|piece| spoken(piece, json)),
        Turn::Results(answers) => answers.iter().for_each(|answer| result(answer, json)),
    }
}

fn part(piece: &Piece<'_>, json: &mut Json) {
    match piece {
        Piece::Text(text) => json.object(|json| {
            json.key("type").text("input_text");
            json.key("text").own_or_stored(text);
        }),
        Piece::Image(image) => json.object(|json| {
            json.key("type").text("input_image");
            json.key("detail").text("auto");
            json.key("image_url").data_url(image.mime, image.data);
        }),
        Piece::Thought(_) | Piece::Call(_) => {}
    }
}

fn spoken(piece: &Piece<'_>, json: &mut Json) {
    match piece {
        Piece::Text(text) => json.object(|json| {
            json.key("type").text("message");
            json.key("role").text("assistant");
            json.key("content").array(|json| {
                json.object(|json| {
                    json.key("type").text("output_text");
                    json.key("text").own_or_stored(text);
                });
            });
        }),
        Piece::Thought(thought) => {
            let item = item(thought).unwrap_or_default();
            if let Some(item) = Raw::parse(item.as_bytes()) {
                json.raw(item);
            }
        }
        Piece::Call(call) => json.object(|json| {
            json.key("type").text("function_call");
            json.key("call_id").text(&call.id);
            json.key("name").text(&call.name);
            json.key("arguments");
            call.spell_arguments(json);
        }),
        Piece::Image(_) => {}
    }
}

/// The item that a thought came as. Without its encrypted content OpenAI would look for it in what it stored.
fn item(thought: &Thought<'_>) -> Option<String> {
    let item = thought.seal?.text()?.into_owned();
    let object = Object::parse(item.as_bytes())?;
    let is_whole = object.text("type")? == "reasoning" && !object.text("encrypted_content")?.is_empty();
    (is_whole && is_clean(item.as_bytes())).then_some(item)
}

fn result(answer: &Answer<'_>, json: &mut Json) {
    json.object(|json| {
        json.key("type").text("function_call_output");
        json.key("call_id").text(&answer.id);
        json.key("output");
        if answer.pieces.iter().all(|piece| piece.as_text().is_some()) {
            json.lines(answer.pieces.iter().filter_map(Piece::as_text));
        } else {
            json.array(|json| answer.pieces.iter().for_each(|piece| part(piece, json)));
        }
    });
}

fn definition(tool: &ToolDefinition, json: &mut Json) {
    json.object(|json| {
        json.key("type").text("function");
        json.key("name").text(&names::tool(&tool.name));
        json.key("description").text(&tool.description);
        json.key("parameters").value(&tool.parameters);
        json.key("strict").flag(false);
    });
}
