//! What a request gets: a refusal, a list of models, or the next reply of the plan.

use serde_json::{Value, json};

use super::echo::last_user_text;
use super::flow::Flow;
use super::format::Format;
use super::http::Request;
use super::illegal::{Illegal, Rule};
use super::plan::{Fault, Plan, Reply, Then};
use super::record::Verdict;
use super::server::Keys;
use super::wire::{self, Asked};
use super::{judge, refusal};
use ramus_engine::run::TITLE_INSTRUCTIONS;

/// An answer.
pub(super) enum Answer {
    /// One that is sent at once.
    Whole { status: u16, content_type: &'static str, headers: Vec<(&'static str, String)>, body: String },
    /// One that is streamed.
    Stream { content_type: &'static str, flow: Flow },
}

/// What was asked for, what the judge said, and what is answered.
pub(super) struct Routed {
    pub(super) format: Option<Format>,
    pub(super) verdict: Verdict,
    pub(super) answer: Answer,
}

/// Answers a request, which is the one of this `number`.
pub(super) fn route(request: &Request, keys: &Keys, plan: &mut Plan, number: usize) -> Routed {
    match (request.method.as_str(), request.path()) {
        ("GET", "/v1/models") if request.header("anthropic-version").is_some() => {
            models(request, keys, plan, Format::Anthropic)
        }
        ("GET", "/v1/models") => models(request, keys, plan, Format::Chat),
        ("GET", "/v1beta/models") => models(request, keys, plan, Format::Gemini),
        ("GET", "/api/tags") => {
            Routed { format: None, verdict: Verdict::None, answer: whole(200, &tags(&plan.models)) }
        }
        ("POST", path) => match asked_for(path) {
            Some((format, model)) => match admit(request, keys, format, model) {
                Ok(body) => legal(request, plan, number, format, model, &body),
                Err(error) => refused(format, error),
            },
            None => nowhere(request),
        },
        _ => nowhere(request),
    }
}

/// Returns the format that a path belongs to, and the model it names.
fn asked_for(path: &str) -> Option<(Format, &str)> {
    Some(match path {
        "/v1/chat/completions" => (Format::Chat, ""),
        "/v1/responses" => (Format::Responses, ""),
        "/v1/messages" => (Format::Anthropic, ""),
        _ => {
            let path = path.strip_prefix("/v1beta/models/").or_else(|| path.strip_prefix("/v1/models/"))?;
            (Format::Gemini, path.strip_suffix(":streamGenerateContent")?)
        }
    })
}

/// Checks key, headers and body of a request, and returns the body.
fn admit(request: &Request, keys: &Keys, format: Format, model: &str) -> Result<Value, Illegal> {
    keys.admit(request, format)?;
    let json = request.header("content-type").is_some_and(|value| value.starts_with("application/json"));
    if !json {
        let message = "Unsupported content type: the content type must be 'application/json'.";
        return Err(Illegal::new(format, Rule::Shape, message));
    }
    if format == Format::Anthropic && request.header("anthropic-version").is_none() {
        return Err(Illegal::new(format, Rule::Version, "anthropic-version: header is required"));
    }
    let body = judge::bytes(format, model, &request.body)?;
    if format != Format::Gemini && body.get("stream") != Some(&Value::Bool(true)) {
        return Err(Illegal::new(format, Rule::Setting, "stream: this server answers in streams only"));
    }
    Ok(body)
}

fn refused(format: Format, error: Illegal) -> Routed {
    let answer = whole(error.status, &error.body());
    Routed { format: Some(format), verdict: Verdict::Illegal(error), answer }
}

fn nowhere(request: &Request) -> Routed {
    let message = format!("Invalid URL ({} {})", request.method, request.path());
    let error = Illegal::new(Format::Chat, Rule::Path, message).with_status(404);
    Routed { format: None, answer: whole(404, &error.body()), verdict: Verdict::Illegal(error) }
}

/// Answers a legal request with the next reply.
fn legal(request: &Request, plan: &mut Plan, number: usize, format: Format, model: &str, body: &Value) -> Routed {
    // Titles are asked for between turns; a plan is about turns.
    let wants_title = memchr::memmem::find(&request.body, TITLE_INSTRUCTIONS.as_bytes()).is_some();
    let reply = match (if wants_title { None } else { plan.replies.pop_front() }, plan.then) {
        _ if wants_title => Reply::text("A conversation"),
        (Some(reply), _) => reply,
        (None, Then::Echo) => Reply::text(last_user_text(format, body)),
        (None, Then::Refuse) => {
            let message = "The plan of this server has no more replies.";
            let answer = whole(500, &refusal::error_body(format, 500, message, None, None));
            return Routed { format: Some(format), verdict: Verdict::Legal, answer };
        }
    };
    let model = body.get("model").and_then(Value::as_str).unwrap_or(model);
    let asked = Asked { model, body, tag: wire::tag(number) };
    let answer = early(format, &reply).unwrap_or_else(|| {
        let events = wire::events(format, &asked, &reply);
        if format == Format::Gemini && request.query("alt") != Some("sse") {
            return Answer::Stream { content_type: "application/json", flow: Flow::of(&wire::list(events), &reply) };
        }
        Answer::Stream { content_type: "text/event-stream; charset=utf-8", flow: Flow::of(&events, &reply) }
    });
    Routed { format: Some(format), verdict: Verdict::Legal, answer }
}

/// Returns the answer of a fault that comes instead of a stream.
fn early(format: Format, reply: &Reply) -> Option<Answer> {
    match reply.fault.as_ref()? {
        Fault::Status { code, retry_after } => {
            let body = refusal::error_body(format, *code, refusal::message(format, *code), None, None);
            let headers = retry_after.iter().map(|value| ("retry-after", value.clone())).collect();
            Some(Answer::Whole { status: *code, content_type: "application/json", headers, body: body.to_string() })
        }
        Fault::Overflow(overflow) => Some(whole(400, &overflow.body(8_192, 9_000, 1_024))),
        Fault::Html => Some(Answer::Whole {
            status: 200,
            content_type: "text/html; charset=utf-8",
            headers: Vec::new(),
            body: "<!doctype html><title>Sign in</title><p>Please sign in to use this network.</p>".to_owned(),
        }),
        _ => None,
    }
}

fn whole(status: u16, body: &Value) -> Answer {
    Answer::Whole { status, content_type: "application/json", headers: Vec::new(), body: body.to_string() }
}

fn models(request: &Request, keys: &Keys, plan: &Plan, format: Format) -> Routed {
    if let Err(error) = keys.admit(request, format) {
        return refused(format, error);
    }
    let names = plan.models.iter();
    let list = match format {
        Format::Anthropic => {
            let models = names.map(
                |name| json!({"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}),
            );
            json!({
                "data": models.collect::<Vec<_>>(),
                "has_more": false,
                "first_id": plan.models.first(),
                "last_id": plan.models.last(),
            })
        }
        Format::Gemini => {
            let models = names.map(|name| {
                json!({
                    "name": format!("models/{name}"),
                    "displayName": name,
                    "inputTokenLimit": 8_192,
                    "outputTokenLimit": 1_024,
                    "supportedGenerationMethods": ["generateContent", "countTokens"],
                })
            });
            json!({"models": models.collect::<Vec<_>>()})
        }
        Format::Chat | Format::Responses => {
            let models = names
                .map(|name| json!({"id": name, "object": "model", "created": 1_760_000_000, "owned_by": "system"}));
            json!({"object": "list", "data": models.collect::<Vec<_>>()})
        }
    };
    Routed { format: Some(format), verdict: Verdict::None, answer: whole(200, &list) }
}

/// Returns the list of models as Ollama gives it.
fn tags(models: &[String]) -> Value {
    let models = models.iter().map(|name| {
        json!({
            "name": name,
            "model": name,
            "modified_at": "2026-01-01T00:00:00Z",
            "size": 1_000_000,
            "digest": "0".repeat(64),
            "details": {
                "parent_model": "",
                "format": "gguf",
                "family": "llama",
                "families": ["llama"],
                "parameter_size": "1B",
                "quantization_level": "Q4_0",
            },
        })
    });
    json!({"models": models.collect::<Vec<_>>()})
}
