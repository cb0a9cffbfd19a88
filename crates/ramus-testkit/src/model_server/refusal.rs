//! How providers say no: the shapes of their errors, and the words in which they speak of a context that is full.

use serde::Deserialize;
use serde_json::{Value, json};

use super::format::Format;

/// Who says that the context is full, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overflow {
    /// OpenAI, chat completions.
    OpenAi,
    /// OpenAI, responses.
    Responses,
    /// vLLM, when prompt and answer together are too long.
    Vllm,
    /// vLLM, when the prompt leaves too little room for the answer asked for.
    VllmAnswer,
    /// Anthropic, when the prompt alone is too long.
    Anthropic,
    /// Anthropic, when prompt and answer together are too long.
    AnthropicAnswer,
    /// Gemini.
    Gemini,
    /// The server of llama.cpp.
    LlamaCpp,
}

impl Overflow {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::OpenAi,
        Self::Responses,
        Self::Vllm,
        Self::VllmAnswer,
        Self::Anthropic,
        Self::AnthropicAnswer,
        Self::Gemini,
        Self::LlamaCpp,
    ];

    /// Returns what it says: a context of `limit` tokens was to hold `prompt` tokens and `answer` more.
    pub fn message(self, limit: u64, prompt: u64, answer: u64) -> String {
        let sum = prompt + answer;
        match self {
            Self::OpenAi => format!(
                "This model's maximum context length is {limit} tokens. However, your messages resulted in {prompt} tokens. \
                 Please reduce the length of the messages."
            ),
            Self::Responses => {
                "Your input exceeds the context window of this model. Please adjust your input and try again."
                    .to_owned()
            }
            Self::Vllm => format!(
                "This model's maximum context length is {limit} tokens. However, you requested {sum} tokens ({prompt} in the \
                 messages, {answer} in the completion). Please reduce the length of the messages or completion."
            ),
            Self::VllmAnswer => format!(
                "'max_tokens' or 'max_completion_tokens' is too large: {answer}. This model's maximum context length is \
                 {limit} tokens and your request has {prompt} input tokens ({answer} > {limit} - {prompt})."
            ),
            Self::Anthropic => format!("prompt is too long: {prompt} tokens > {limit} maximum"),
            Self::AnthropicAnswer => format!(
                "input length and `max_tokens` exceed context limit: {prompt} + {answer} > {limit}, decrease input length or \
                 `max_tokens` and try again"
            ),
            Self::Gemini => {
                format!("The input token count ({prompt}) exceeds the maximum number of tokens allowed ({limit}).")
            }
            Self::LlamaCpp => format!(
                "request ({prompt} tokens) exceeds the available context size ({limit} tokens), try increasing it"
            ),
        }
    }

    /// Returns the body of its answer, whose status is 400.
    pub fn body(self, limit: u64, prompt: u64, answer: u64) -> Value {
        let message = self.message(limit, prompt, answer);
        match self {
            Self::OpenAi => error_body(Format::Chat, 400, &message, Some("messages"), Some("context_length_exceeded")),
            Self::Responses => {
                error_body(Format::Responses, 400, &message, Some("input"), Some("context_length_exceeded"))
            }
            Self::Vllm | Self::VllmAnswer => {
                json!({"error": {"message": message, "type": "BadRequestError", "param": null, "code": 400}})
            }
            Self::Anthropic | Self::AnthropicAnswer => error_body(Format::Anthropic, 400, &message, None, None),
            Self::Gemini => error_body(Format::Gemini, 400, &message, None, None),
            Self::LlamaCpp => json!({"error": {
                "code": 400,
                "message": message,
                "type": "exceed_context_size_error",
                "n_prompt_tokens": prompt,
                "n_ctx": limit,
            }}),
        }
    }
}

/// Returns the body of an error in the shape of a provider. `param` and `code` are named by OpenAI only.
pub fn error_body(format: Format, status: u16, message: &str, param: Option<&str>, code: Option<&str>) -> Value {
    match format {
        Format::Chat | Format::Responses => {
            json!({"error": {"message": message, "type": openai_type(status), "param": param, "code": code}})
        }
        Format::Anthropic => json!({
            "type": "error",
            "error": {"type": anthropic_type(status), "message": message},
            "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
        }),
        Format::Gemini => json!({"error": {"code": status, "message": message, "status": gemini_status(status)}}),
    }
}

/// Returns what a provider says along with a status that has nothing to do with the request.
pub fn message(format: Format, status: u16) -> &'static str {
    match (format, status) {
        (Format::Chat | Format::Responses, 429) => {
            "Rate limit reached for requests. Limit: 3 / min. Please try again in 20s."
        }
        (Format::Anthropic, 429) => {
            "This request would exceed your organization's rate limit of 50,000 input tokens per minute."
        }
        (Format::Gemini, 429) => "Resource has been exhausted (e.g. check quota).",
        (Format::Gemini, 503) => "The model is overloaded. Please try again later.",
        (_, 503) => "The server is currently overloaded with other requests. Sorry about that!",
        (_, 529) => "Overloaded",
        _ => "The server had an error while processing your request. Sorry about that!",
    }
}

fn openai_type(status: u16) -> &'static str {
    match status {
        429 => "requests",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

/// Returns the name Anthropic has for a status.
pub(crate) fn anthropic_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn gemini_status(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}
