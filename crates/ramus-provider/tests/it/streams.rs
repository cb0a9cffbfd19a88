//! Recorded streams: what they say, and that it does not matter where the network cuts them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use ramus_model::delta::{Answering, Delta, Ending};
use ramus_model::usage::ModelName;
use ramus_provider::wire::Api;
use ramus_provider::{Patience, ProviderError, read_answer};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap());

/// What became of an answer.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    answer: Answering,
    error: Option<ProviderError>,
}

impl Outcome {
    /// What was said, without how it ended and what was used.
    fn content(&self) -> Value {
        self.message()["content"].clone()
    }

    fn message(&self) -> Value {
        let asked = ModelName { provider: "p".into(), model: "asked-model".into() };
        self.answer.message(&asked, "api", None, &Ending::Whole, 0)
    }
}

fn recorded() -> BTreeMap<String, Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/streams");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let named =
        files.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()));
    named.collect()
}

fn api(name: &str) -> Api {
    match name.split('-').next().unwrap() {
        "chat" => Api::Completions,
        "responses" => Api::Responses,
        "anthropic" => Api::Anthropic,
        _ => Api::Gemini,
    }
}

/// Plays chunks, and checks on the way that nothing follows an end.
fn play(name: &str, chunks: Vec<Result<Bytes, String>>) -> Outcome {
    let second = Duration::from_secs(20);
    let patience = Patience { connect: second, idle: second, straggler: second };
    let said: Vec<Result<Delta, ProviderError>> =
        RUNTIME.block_on(read_answer(api(name), "asked-model", stream::iter(chunks).boxed(), patience).collect());
    let mut outcome = Outcome { answer: Answering::default(), error: None };
    for said in said {
        assert_eq!(outcome.error, None, "{name}: something follows an error");
        match said {
            Ok(delta) => {
                let is_late = outcome.answer.finish().is_some() && !matches!(delta, Delta::Usage(_));
                assert!(!is_late, "{name}: {delta:?} follows the end");
                outcome.answer.take(delta);
            }
            Err(error) => outcome.error = Some(error),
        }
    }
    assert_ne!(outcome.error.is_some(), outcome.answer.finish().is_some(), "{name}: an answer ends once, one way");
    outcome
}

fn whole(name: &str, bytes: &[u8]) -> Outcome {
    play(name, vec![Ok(Bytes::copy_from_slice(bytes))])
}

#[test]
fn what_they_say() {
    let told: BTreeMap<String, Value> = recorded()
        .into_iter()
        .map(|(name, bytes)| {
            let outcome = whole(&name, &bytes);
            let message = outcome.message();
            let told = json!({
                "content": message["content"],
                "model": message["model"],
                "response": message["responseId"],
                "usage": message["usage"],
                "finish": outcome.answer.finish().map(|finish| format!("{finish:?}")),
                "error": outcome.error.map(|error| format!("{error:?}")),
            });
            (name, told)
        })
        .collect();
    assert!(told.len() >= 40, "{} streams", told.len());
    insta::assert_json_snapshot!(told);
}

#[test]
fn it_does_not_matter_how_they_are_chunked() {
    for (name, bytes) in recorded() {
        let expected = whole(&name, &bytes);
        let single = bytes.iter().map(|byte| Ok(Bytes::copy_from_slice(&[*byte]))).collect();
        assert_eq!(play(&name, single), expected, "{name}, byte by byte");
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            let chunks = vec![Ok(Bytes::copy_from_slice(head)), Ok(Bytes::copy_from_slice(tail))];
            assert_eq!(play(&name, chunks), expected, "{name}, split at {at}");
        }
    }
}

#[test]
fn one_that_was_cut_off_is_never_taken_for_a_complete_one() {
    let mut cuts = 0;
    for (name, bytes) in recorded() {
        let expected = whole(&name, &bytes);
        let text = expected.answer.text();
        for at in 0..bytes.len() {
            cuts += 2;
            let head = || Ok(Bytes::copy_from_slice(&bytes[..at]));
            let ended = play(&name, vec![head()]);
            let broken = play(&name, vec![head(), Err("reset".to_owned())]);
            for outcome in [&ended, &broken] {
                let here = outcome.answer.text();
                assert!(text.starts_with(&here), "{name}, cut at {at}: {here:?} is not the beginning of {text:?}");
                assert!(!outcome.content().to_string().contains('\u{fffd}'), "{name}, cut at {at}");
                if outcome.answer.finish().is_some() {
                    assert_eq!(outcome.content(), expected.content(), "{name}, cut at {at}, is not complete");
                    assert_eq!(outcome.answer.finish(), expected.answer.finish(), "{name}, cut at {at}");
                }
            }
            // The same was said, whether the connection was closed or broke. Only a closed one says what lacks its end.
            if broken.error.is_some() && ended.error.is_some() && ended.error != expected.error {
                assert_eq!(
                    broken.error,
                    Some(ProviderError::Broken { message: "reset".to_owned() }),
                    "{name}, cut at {at}"
                );
                assert_eq!(ended.error, Some(ProviderError::Truncated), "{name}, cut at {at}");
            }
        }
    }
    assert!(cuts > 40_000, "{cuts} cuts");
}

#[test]
fn an_event_that_never_ends_is_not_kept_for_ever() {
    let chunk = Bytes::from(vec![b'x'; 1 << 20]);
    let chunks = std::iter::once(Ok(Bytes::from_static(b"data: "))).chain((0..64).map(|_| Ok(chunk.clone())));
    let outcome = play("chat", chunks.collect());
    assert!(matches!(outcome.error, Some(ProviderError::BadAnswer { message }) if message.contains("larger than")));
}

#[test]
fn what_is_no_json_is_said_to_be_none() {
    let outcome = whole("chat", b"data: <html>\n\ndata: {}\n\n");
    assert!(matches!(outcome.error, Some(ProviderError::BadAnswer { message }) if message.contains("<html>")));
    let outcome = whole("chat", b"data: \xff\xfe\n\n: more\n\n");
    assert!(matches!(outcome.error, Some(ProviderError::BadAnswer { .. })), "{outcome:?}");
    assert_eq!(whole("chat", b"").error, Some(ProviderError::Truncated));
    assert_eq!(whole("chat", b"data: [DONE]\n\n").error, Some(ProviderError::Truncated));
}
