//! Keys of those who serve models, and of what is built around them.

use super::shape::Needs::{BothCases, Digits};
use super::shape::Piece::{Run, Text};
use super::shape::Token;
use crate::alphabet::{ALNUM, BASE64, HEX, LOWER, URL};

const LONG: usize = 400;

pub(super) const TOKENS: &[Token] = &[
    Token::new("openai-key", "sk-proj-", &[Run(URL, 20, LONG)]),
    Token::new("openai-key", "sk-svcacct-", &[Run(URL, 20, LONG)]),
    Token::new("openai-key", "sk-admin-", &[Run(URL, 20, LONG)]),
    Token::new("openai-key", "sk-None-", &[Run(URL, 20, LONG)]),
    // Also what many compatible services hand out.
    Token::new("openai-key", "sk-", &[Run(ALNUM, 32, LONG)]).needing(Digits),
    Token::new("openai-key", "sess-", &[Run(ALNUM, 40, 40)]).needing(Digits),
    Token::new("anthropic-key", "sk-ant-", &[Run(URL, 24, LONG)]),
    Token::new("openrouter-key", "sk-or-", &[Run(URL, 32, LONG)]),
    Token::new("langfuse-key", "sk-lf-", &[Run(URL, 24, 64)]).needing(Digits),
    Token::new("litellm-key", "sk-litellm-", &[Run(URL, 16, LONG)]),
    Token::new("google-api-key", "AIza", &[Run(URL, 35, 35)]),
    Token::new("groq-key", "gsk_", &[Run(ALNUM, 40, 80)]),
    Token::new("xai-key", "xai-", &[Run(ALNUM, 60, 120)]),
    Token::new("perplexity-key", "pplx-", &[Run(ALNUM, 40, 80)]),
    Token::new("replicate-key", "r8_", &[Run(ALNUM, 37, 37)]),
    Token::new("huggingface-token", "hf_", &[Run(ALNUM, 30, 60)]).needing(BothCases),
    Token::new("huggingface-token", "api_org_", &[Run(ALNUM, 34, 34)]).needing(BothCases),
    Token::new("cerebras-key", "csk-", &[Run(LOWER, 40, 60)]).needing(Digits),
    Token::new("nvidia-key", "nvapi-", &[Run(URL, 50, 100)]),
    Token::new("fireworks-key", "fw_", &[Run(ALNUM, 20, 40)]).needing(Digits),
    Token::new("together-key", "tgp_v1_", &[Run(URL, 32, 80)]),
    Token::new("langsmith-key", "lsv2_pt_", &[Run(HEX, 32, 32), Text("_"), Run(HEX, 10, 10)]),
    Token::new("langsmith-key", "lsv2_sk_", &[Run(HEX, 32, 32), Text("_"), Run(HEX, 10, 10)]),
    Token::new("pinecone-key", "pcsk_", &[Run(ALNUM, 4, 10), Text("_"), Run(ALNUM, 40, 80)]),
    Token::new("tavily-key", "tvly-", &[Run(URL, 30, 80)]).needing(Digits),
    Token::new("voyage-key", "pa-", &[Run(URL, 43, 43)]).needing(Digits),
    Token::new("elevenlabs-key", "sk_", &[Run(HEX, 48, 48)]),
    Token::new("firecrawl-key", "fc-", &[Run(HEX, 32, 32)]),
    Token::new("e2b-key", "e2b_", &[Run(HEX, 40, 40)]),
    Token::new("bedrock-key", "ABSK", &[Run(BASE64, 100, LONG)]),
    Token::new("bedrock-key", "bedrock-api-key-", &[Run(BASE64, 60, 4096)]),
    Token::new("browserbase-key", "bb_live_", &[Run(URL, 20, 60)]),
    Token::new("jina-key", "jina_", &[Run(URL, 50, 80)]),
    Token::new("wandb-key", "wandb_v1_", &[Run(URL, 40, 120)]),
    Token::new("anyscale-key", "esecret_", &[Run(LOWER, 24, 60)]).needing(Digits),
];
