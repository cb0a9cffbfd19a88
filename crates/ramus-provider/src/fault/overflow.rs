//! Requests that are too long, recognised by what servers say about them: OpenAI, Anthropic, Google, OpenRouter, vLLM,
//! llama.cpp, Mistral, xAI, and those who speak like them.

/// Codes that mean nothing else.
const WORDS: [&str; 4] =
    ["context_length_exceeded", "exceed_context_size", "request_too_large", "context_window_exceeded"];

/// What is said of requests that are too long, in small letters.
const SAID: [&str; 17] = [
    "maximum context length",
    "context length exceeded",
    "exceeds the context",
    "exceed context limit",
    "context window",
    "context size",
    "context length is only",
    "prompt is too long",
    "input is too long",
    "input length exceeds",
    "request too large for",
    "maximum number of tokens allowed",
    "maximum prompt length",
    "maximum model length",
    "greater than the context length",
    "please reduce the length of",
    "tokens but limit is",
];

/// What stands in front of the number of tokens that there are.
const AVAILABLE: [&str; 12] = [
    "maximum context length is",
    "context length is only",
    "maximum model length of",
    "maximum number of tokens allowed",
    "available context size",
    "maximum prompt length is",
    "but limit is",
    "(tpm): limit",
    "tokens >",
    "for model with",
    "context window of",
    "context length of",
];

/// What stands in front of the number of tokens that are needed.
const NEEDED: [&str; 14] = [
    "resulted in",
    "requested about",
    "you requested",
    "input token count",
    "prompt is too long:",
    "request contains",
    "decoder prompt (length",
    "would need",
    "request (",
    ", requested",
    "prompt contains",
    "you passed",
    "prompt length of",
    "input length of",
];

pub(super) fn is_meant(words: &str, message: &str) -> bool {
    WORDS.iter().any(|word| words.contains(word)) || SAID.iter().any(|said| message.contains(said))
}

/// Returns how many tokens are needed, and how many there are.
pub(super) fn counts(message: &str) -> (Option<u64>, Option<u64>) {
    let first = |places: &[&str]| places.iter().find_map(|place| after(message, place));
    sum(message).unwrap_or_else(|| (too_large(message).or_else(|| first(&NEEDED)), first(&AVAILABLE)))
}

/// Anthropic adds the answer to the prompt: `context limit: 190000 + 21000 > 200000`.
fn sum(message: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (_, rest) = message.split_once("context limit:")?;
    let (sum, limit) = rest.split_once('>')?;
    let (prompt, answer) = sum.split_once('+')?;
    let needed = number(prompt)?.checked_add(number(answer)?);
    Some((needed, number(limit)))
}

/// vLLM names the answer first: `'max_tokens' is too large: 8192. … your request has 3000 input tokens`.
fn too_large(message: &str) -> Option<u64> {
    let answer = after(message, "is too large:")?;
    after(message, "your request has")?.checked_add(answer)
}

/// The number that follows a place in the text.
fn after(message: &str, place: &str) -> Option<u64> {
    let (_, rest) = message.split_once(place)?;
    number(rest)
}

/// The number at the start of a text, signs around it and commas within it passed over.
fn number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches([' ', '(', ':', '=', '`', '"']);
    let digits: String =
        text.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}
