//! OpenAI's chat completions, as OpenAI, OpenRouter, vLLM, llama.cpp, Ollama and many others speak them.

mod decode;
mod encode;

pub(crate) use decode::Chat;
pub(crate) use encode::encode;

/// The members in which servers send thoughts. A stored thought bears the one it came in as its seal, because the same
/// server wants it back there.
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];
