//! How long it takes to spell a long request, and to understand a long answer. Run it with `cargo test --release -p ramus-provider speed -- --ignored --nocapture`.

use std::time::Instant;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use ramus_provider::wire::{Api, Dialect};
use ramus_provider::{Facts, Patience, read_answer};
use serde_json::json;

use crate::requests::*;

#[test]
#[ignore = "measures; wants a release build"]
fn a_context_of_200_000_tokens() {
    let by = name("anthropic", "claude-opus-5");
    // About four bytes a token, as code and prose have.
    let code = "    let value = map.get(\"key\").ok_or_else(|| Error::missing(path))?;\n".repeat(60);
    let mut messages = vec![user(&[text("Go on.")])];
    let mut bytes = 0;
    for turn in 0.. {
        if bytes > 800_000 {
            break;
        }
        let id = format!("toolu_{turn}");
        let thought = json!({"type": "thinking", "thinking": "I should look at that file. ".repeat(8), "thinkingSignature": "c2Vh".repeat(60)});
        messages.push(assistant(
            &by,
            &[thought, text("I look."), call(&id, "read", json!({"path": format!("src/{turn}.rs")}))],
        ));
        messages.push(result(&id, "read", false, &[text(&code)]));
        bytes = messages.iter().flat_map(|message| &message.parts).map(Vec::len).sum();
    }
    let request = request(by, messages);
    for api in [Api::Completions, Api::Responses, Api::Anthropic, Api::Gemini] {
        let time = |_| {
            let start = Instant::now();
            let body = api.encode(&request, &Facts::default(), Dialect::Original);
            (start.elapsed(), body.len())
        };
        let (best, length) = (0..20).map(time).min().unwrap();
        println!("{}: {length} bytes in {best:?}", api.name());
        assert!(best.as_micros() < 5_000, "{best:?}");
    }
}

#[tokio::test]
#[ignore = "measures; wants a release build"]
async fn an_answer_of_50_000_pieces() {
    let piece = "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n";
    let chunks: Vec<_> = (0..50_000).map(|_| Ok(Bytes::from_static(piece.as_bytes()))).collect();
    let start = Instant::now();
    let deltas = read_answer(Api::Completions, "m", stream::iter(chunks).boxed(), Patience::default());
    let count = deltas.filter(|said| std::future::ready(said.is_ok())).count().await;
    let each = start.elapsed() / 50_000;
    println!("{count} deltas, {each:?} each");
    assert!(each.as_micros() < 20, "{each:?}");
}
