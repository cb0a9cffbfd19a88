//! What servers really say.

use super::*;

fn judged(status: u16, body: &str) -> ProviderError {
    Fault::in_answer(status, None, body).judge()
}

fn error(message: &str) -> String {
    serde_json::json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string()
}

#[test]
fn too_long_with_the_numbers() {
    let cases = [
        (
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 150123 tokens. Please reduce the length of the messages.",
            150_123,
            128_000,
        ),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
            9_000,
            8_192,
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 3000 input tokens (8192 > 4096 - 3000).",
            11_192,
            4_096,
        ),
        (
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller",
            5_000,
            4_096,
        ),
        (
            "You passed 4097 input tokens and requested 16 output tokens. However, the model's context length is only 4096 tokens, resulting in",
            4_097,
            4_096,
        ),
        ("request (5123 tokens) exceeds the available context size (4096 tokens), try increasing it", 5_123, 4_096),
        ("prompt is too long: 215,000 tokens > 200000 maximum", 215_000, 200_000),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 21000 > 200000, decrease input length or `max_tokens` and try again",
            211_000,
            200_000,
        ),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            1_200_000,
            1_048_576,
        ),
        (
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 in the output). Please reduce the length of either one",
            140_000,
            131_072,
        ),
        (
            "Prompt contains 150000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
            150_000,
            131_072,
        ),
        ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 537_812, 131_072),
        (
            "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 42312. The input or output tokens must be reduced",
            42_312,
            30_000,
        ),
        ("The conversation would need 9001 tokens but limit is 9000", 9_001, 9_000),
    ];
    for (message, needed, available) in cases {
        for status in [400, 413, 429, 500] {
            match judged(status, &error(message)) {
                ProviderError::Overflow { needed: n, available: a, .. } => {
                    assert_eq!((n, a), (Some(needed), Some(available)), "{message}");
                }
                other => panic!("{message}: {other:?}"),
            }
        }
    }
}

#[test]
fn too_long_without_numbers_or_with_them_beside_the_message() {
    let none = judged(
        400,
        &error("Your input exceeds the context window of this model. Please adjust your input and try again."),
    );
    assert!(matches!(none, ProviderError::Overflow { needed: None, available: None, .. }), "{none:?}");
    let llama = r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5123,"n_ctx":4096}}"#;
    let llama = judged(400, llama);
    assert!(matches!(llama, ProviderError::Overflow { needed: Some(5_123), available: Some(4_096), .. }), "{llama:?}");
    let router = r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 300 tokens > 200 maximum\"}}","provider_name":"Anthropic"}}}"#;
    let router = judged(400, router);
    assert!(matches!(router, ProviderError::Overflow { needed: Some(300), available: Some(200), .. }), "{router:?}");
    assert!(matches!(judged(413, "<html>Request Entity Too Large</html>"), ProviderError::Overflow { .. }));
}

#[test]
fn rate_limits_are_not_too_long() {
    let limit = "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.";
    assert!(matches!(judged(429, &error(limit)), ProviderError::Busy { .. }));
    let quota = r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    assert!(matches!(judged(429, quota), ProviderError::Denied { .. }));
    let gemini = r#"[{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}]"#;
    assert!(matches!(judged(429, gemini), ProviderError::Busy { .. }));
}

#[test]
fn histories_that_are_not_accepted() {
    for message in [
        "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
        "messages.1.content.0.thinking: each thinking block must contain thinking",
        "messages.5.content.2: Invalid `signature` in `thinking` block",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        "No tool output found for function call call_1.",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        "The request body is not valid JSON: no low surrogate in string: line 1 column 12345",
        "image exceeds 5 MB maximum: 5345824 bytes > 5242880 bytes",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ] {
        let error = judged(400, &error(message));
        assert!(matches!(error, ProviderError::History { .. }), "{message}: {error:?}");
    }
    let param =
        r#"{"error":{"message":"Invalid value","type":"invalid_request_error","param":"messages.[2].content"}}"#;
    assert!(matches!(judged(400, param), ProviderError::History { .. }));
}

#[test]
fn requests_that_are_not_accepted_for_other_reasons() {
    for message in [
        "max_tokens: 999999 > 64000, which is the maximum allowed",
        "tools.0.custom.input_schema: role is wrong",
        "Unsupported value: 'temperature'",
    ] {
        let error = judged(400, &error(message));
        assert!(matches!(error, ProviderError::Invalid { .. }), "{message}: {error:?}");
    }
    let param = r#"{"error":{"message":"Invalid schema for function","type":"invalid_request_error","param":"tools[0].parameters"}}"#;
    assert!(matches!(judged(400, param), ProviderError::Invalid { .. }));
}

#[test]
fn the_other_statuses() {
    assert!(matches!(judged(401, &error("Incorrect API key")), ProviderError::Denied { .. }));
    assert!(matches!(judged(403, ""), ProviderError::Denied { .. }));
    assert!(matches!(
        judged(
            400,
            r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#
        ),
        ProviderError::Denied { .. }
    ));
    assert!(
        matches!(judged(404, r#"{"error":"model 'x' not found"}"#), ProviderError::NotFound { message } if message == "model 'x' not found")
    );
    assert!(matches!(judged(500, "oops"), ProviderError::Failed { status: Some(500), message } if message == "oops"));
    assert!(matches!(judged(502, "<html>bad gateway</html>"), ProviderError::Failed { status: Some(502), .. }));
    assert!(
        matches!(judged(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#), ProviderError::Busy { message, .. } if message == "Overloaded")
    );
    assert!(matches!(judged(503, ""), ProviderError::Busy { message, .. } if message == "status 503"));
}

#[test]
fn faults_within_a_stream() {
    let judged = |event: &str| Fault::in_stream(&Object::parse(event.as_bytes()).unwrap()).judge();
    assert!(matches!(
        judged(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        ProviderError::Busy { .. }
    ));
    assert!(matches!(
        judged(r#"{"type":"error","error":{"type":"api_error","message":"x"}}"#),
        ProviderError::Failed { .. }
    ));
    assert!(matches!(
        judged(r#"{"type":"error","code":"rate_limit_exceeded","message":"slow"}"#),
        ProviderError::Busy { .. }
    ));
    assert!(matches!(
        judged(r#"{"error":{"code":"server_error","message":"x"}}"#),
        ProviderError::Failed { status: None, .. }
    ));
    assert!(matches!(
        judged(r#"{"error":{"code":502,"message":"upstream"}}"#),
        ProviderError::Failed { status: Some(502), .. }
    ));
    assert!(matches!(
        judged(r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#),
        ProviderError::Overflow { .. }
    ));
    assert!(matches!(judged("{}"), ProviderError::Failed { message, .. } if message == "it did not say why"));
}
