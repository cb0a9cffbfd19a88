//! A request as contents for Gemini.

use ramus_model::json::Raw;
use ramus_model::request::{Request, Thinking, ToolDefinition};

use super::super::history::{Answer, Call, History, Piece, Rules, Turn};
use super::super::images::Sight;
use super::super::json::Json;
use super::super::{effort, names};
use crate::models::{Control, Facts};

/// What Google documents for calls that another model made: models that check seals let it pass.
const FOREIGN_CALL: &str = "skip_thought_signature_validator";

const RULES: Rules =
    Rules { keeps: |thought| !thought.is_redacted, seals_text: true, shows_results: false, sight: Sight::Still };

pub(crate) fn encode(request: &Request, facts: &Facts) -> Vec<u8> {
    let history = History::new(request, facts, RULES);
    // Models that take levels check the seals of calls.
    let checks_seals = !matches!(facts.control, Control::Budget { .. } | Control::Never);
    let mut json = Json::for_request(request);
    json.object(|json| {
        if !history.system.is_empty() {
            json.key("systemInstruction").object(|json| {
                json.key("parts").array(|json| {
                    json.object(|json| json.key("text").paragraphs(&history.system));
                });
            });
        }
        json.key("contents").array(|json| history.sides().for_each(|side| content(side, checks_seals, json)));
        if !request.tools.is_empty() {
            json.key("tools").array(|json| {
                json.object(|json| {
                    let tools = request.tools.iter();
                    json.key("functionDeclarations").array(|json| tools.for_each(|tool| definition(tool, json)));
                });
            });
        }
        json.key("generationConfig").object(|json| configuration(request, facts, json));
    });
    json.into_bytes()
}

fn configuration(request: &Request, facts: &Facts, json: &mut Json) {
    if let Some(most) = request.max_tokens {
        json.key("maxOutputTokens").number(most);
    }
    let is_on = request.thinking != Thinking::Off;
    match &facts.control {
        Control::Budget { least } => json.key("thinkingConfig").object(|json| {
            if is_on {
                json.key("includeThoughts").flag(true);
            }
            json.key("thinkingBudget").number(effort::budget(request.thinking).max(*least));
        }),
        control => {
            if let Some(level) = effort::word(request.thinking, control).filter(|level| *level != "none") {
                json.key("thinkingConfig").object(|json| {
                    json.key("includeThoughts").flag(true);
                    json.key("thinkingLevel").text(&level.to_ascii_uppercase());
                });
            }
        }
    }
}

/// Results stand first in what comes from the user's side.
fn content(side: &[Turn<'_>], checks_seals: bool, json: &mut Json) {
    let role = if side.iter().any(Turn::is_model) { "model" } else { "user" };
    json.object(|json| {
        json.key("role").text(role);
        json.key("parts").array(|json| {
            for turn in side {
                match turn {
                    Turn::User(pieces) => pieces.iter().for_each(|piece| shown(piece, json)),
                    Turn::Model(pieces) => model(pieces, checks_seals, json),
                    Turn::Results(answers) => answers.iter().for_each(|answer| result(answer, json)),
                }
            }
        });
    });
}

fn shown(piece: &Piece<'_>, json: &mut Json) {
    match piece {
        Piece::Text(text) => json.object(|json| json.key("text").own_or_stored(text)),
        Piece::Image(image) => json.object(|json| {
            json.key("inlineData").object(|json| {
                json.key("mimeType").text(image.mime);
                json.key("data").raw(image.data);
            });
        }),
        Piece::Thought(_) | Piece::Call(_) => {}
    }
}

fn model(pieces: &[Piece<'_>], checks_seals: bool, json: &mut Json) {
    let mut is_first_call = true;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => json.object(|json| {
                json.key("text").own_or_stored(text);
                if let Some(seal) = pieces.get(at + 1).and_then(seal_of_text) {
                    json.key("thoughtSignature").raw(seal);
                }
            }),
            Piece::Thought(thought) if thought.text.bytes().len() > 2 => json.object(|json| {
                json.key("text").raw(thought.text);
                json.key("thought").flag(true);
                if let Some(seal) = thought.seal {
                    json.key("thoughtSignature").raw(seal);
                }
            }),
            Piece::Call(made) => {
                call(made, checks_seals && is_first_call, json);
                is_first_call = false;
            }
            Piece::Thought(_) | Piece::Image(_) => {}
        }
    }
}

/// A seal without a thought belongs to the text it came with.
fn seal_of_text<'a>(piece: &Piece<'a>) -> Option<Raw<'a>> {
    match piece {
        Piece::Thought(thought) if thought.is_only_seal() => thought.seal,
        _ => None,
    }
}

/// Of the calls of one answer only the first is sealed.
fn call(call: &Call<'_>, must_be_sealed: bool, json: &mut Json) {
    json.object(|json| {
        json.key("functionCall").object(|json| {
            json.key("name").text(&call.name);
            json.key("args");
            call.write_arguments(json);
        });
        match call.seal {
            Some(seal) => json.key("thoughtSignature").raw(seal),
            None if must_be_sealed => json.key("thoughtSignature").text(FOREIGN_CALL),
            None => {}
        }
    });
}

fn result(answer: &Answer<'_>, json: &mut Json) {
    json.object(|json| {
        json.key("functionResponse").object(|json| {
            json.key("name").text(&answer.name);
            json.key("response").object(|json| {
                json.key(if answer.is_error { "error" } else { "output" });
                json.lines(answer.pieces.iter().filter_map(Piece::as_text));
            });
        });
    });
}

fn definition(tool: &ToolDefinition, json: &mut Json) {
    json.object(|json| {
        json.key("name").text(&names::tool(&tool.name));
        json.key("description").text(&tool.description);
        json.key("parametersJsonSchema").value(&tool.parameters);
    });
}
