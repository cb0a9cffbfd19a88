//! Every fault, on every format.

use std::time::{Duration, Instant};

use ramus_testkit::model_server::{Fault, Format, ModelServer, Outcome, Overflow, Plan, Reply};
use serde_json::json;

use crate::client::{Answer, Connection, Ended, ask, ask_on, question};

const PATIENCE: Duration = Duration::from_secs(20);

fn reply() -> Reply {
    Reply::default().think(["hm"]).say(["Grüße", " 🦀"]).call("bash", json!({}))
}

fn serve(format: Format, reply: Reply) -> (ModelServer, Answer) {
    let server = ModelServer::start(Plan::of([reply])).unwrap();
    let answer = ask(&server, format, &question(format, "hello"));
    (server, answer)
}

fn whole(format: Format) -> Vec<u8> {
    serve(format, reply()).1.bytes()
}

fn settled(server: &ModelServer, outcome: Outcome) {
    let is = server.wait_until(PATIENCE, |records| records.iter().any(|record| record.outcome == outcome));
    assert!(is, "{:?}", server.requests());
}

#[test]
fn chunks_end_where_they_are_told_to_even_inside_a_character() {
    for format in Format::ALL {
        let body = whole(format);
        let crab = body.windows(4).position(|window| window == "🦀".as_bytes()).unwrap();
        let ends = vec![1, crab + 1, crab + 3, body.len() - 1];
        let (_, answer) = serve(format, reply().with_fault(Fault::Split(ends.clone())));
        let mut end = 0;
        let seen: Vec<usize> = answer
            .chunks
            .iter()
            .map(|chunk| {
                end += chunk.len();
                end
            })
            .collect();
        assert_eq!(seen, [ends, vec![body.len()]].concat());
        assert_eq!(answer.bytes(), body);
        let (_, answer) = serve(format, reply().with_fault(Fault::Pieces(1)));
        assert!(answer.chunks.iter().all(|chunk| chunk.len() == 1));
        assert_eq!(answer.bytes(), body);
    }
}

#[test]
fn a_stream_can_be_cut_ended_and_reset_at_every_byte() {
    for format in Format::ALL {
        let body = whole(format);
        // Every byte would be many connections: the first ones, the last ones, and some between.
        let places = (0..4).chain((4..body.len() - 4).step_by(97)).chain(body.len() - 4..=body.len());
        for at in places {
            for (fault, ended) in [
                (Fault::Cut { at }, Ended::Closed),
                (Fault::End { at }, Ended::Whole),
                (Fault::Reset { at }, Ended::Reset),
            ] {
                let (server, answer) = serve(format, reply().with_fault(fault.clone()));
                assert_eq!(answer.ended, ended, "{format:?} {fault:?}");
                assert_eq!(answer.bytes(), body[..at], "{format:?} {fault:?}");
                settled(&server, Outcome::Broken);
            }
        }
    }
}

#[test]
fn a_stalled_stream_goes_on_or_waits_until_the_client_goes() {
    for format in Format::ALL {
        let body = whole(format);
        let start = Instant::now();
        let (server, answer) = serve(format, reply().with_fault(Fault::Stall { at: 10, for_ms: Some(60) }));
        assert!(start.elapsed() >= Duration::from_millis(60));
        assert_eq!((answer.bytes(), answer.ended), (body.clone(), Ended::Whole));
        settled(&server, Outcome::Whole);

        for at in [0, 10, body.len()] {
            let server = ModelServer::start(Plan::of([reply().with_fault(Fault::Stall { at, for_ms: None })])).unwrap();
            let mut connection = Connection::open(&server).impatient(Duration::from_millis(60));
            ask_on(&mut connection, format, &question(format, "hello"));
            let answer = connection.answer();
            assert_eq!((answer.bytes(), answer.ended), (body[..at].to_vec(), Ended::Silent));
            assert_eq!(server.requests()[0].outcome, Outcome::Underway);
            drop(connection);
            settled(&server, Outcome::ClosedEarly(at));
        }
    }
}

#[test]
fn a_client_that_goes_in_the_middle_is_noticed() {
    let texts = (0..200).map(|number| format!("{number} "));
    let server = ModelServer::start(Plan::of([Reply::default().say(texts).paced(Duration::from_millis(20))])).unwrap();
    let mut connection = Connection::open(&server).impatient(Duration::from_millis(5));
    ask_on(&mut connection, Format::Anthropic, &question(Format::Anthropic, "hello"));
    assert!(server.wait_until(PATIENCE, |records| records.len() == 1));
    drop(connection);
    let early =
        |records: &[ramus_testkit::model_server::Recorded]| matches!(records[0].outcome, Outcome::ClosedEarly(_));
    assert!(server.wait_until(PATIENCE, early));
}

#[test]
fn a_status_comes_in_the_shape_of_its_provider() {
    for code in [429, 500, 503, 529] {
        let fault = Fault::Status { code, retry_after: (code == 429).then(|| "1".to_owned()) };
        for format in Format::ALL {
            let (_, answer) = serve(format, Reply::broken(fault.clone()));
            assert_eq!(answer.status, code);
            assert_eq!(answer.header("retry-after"), (code == 429).then_some("1"));
            let body = answer.json();
            match format {
                Format::Chat | Format::Responses => assert!(body["error"]["message"].is_string()),
                Format::Anthropic => assert_eq!(body["type"], "error"),
                Format::Gemini => assert_eq!(body["error"]["code"], code),
            }
        }
    }
    let (_, answer) = serve(Format::Anthropic, Reply::broken(Fault::Status { code: 529, retry_after: None }));
    assert_eq!(answer.json()["error"]["type"], "overloaded_error");
}

#[test]
fn a_full_context_comes_in_the_words_of_whoever_says_it() {
    let words = [
        (Overflow::OpenAi, "maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens"),
        (Overflow::Responses, "exceeds the context window"),
        (Overflow::Vllm, "you requested 10024 tokens (9000 in the messages, 1024 in the completion)"),
        (Overflow::VllmAnswer, "is too large: 1024. This model's maximum context length is 8192 tokens"),
        (Overflow::Anthropic, "prompt is too long: 9000 tokens > 8192 maximum"),
        (Overflow::AnthropicAnswer, "exceed context limit: 9000 + 1024 > 8192"),
        (Overflow::Gemini, "The input token count (9000) exceeds the maximum number of tokens allowed (8192)"),
        (Overflow::LlamaCpp, "exceeds the available context size (8192 tokens)"),
    ];
    assert_eq!(words.map(|(overflow, _)| overflow), Overflow::ALL);
    for (overflow, words) in words {
        let (_, answer) = serve(Format::Chat, Reply::broken(Fault::Overflow(overflow)));
        assert_eq!(answer.status, 400);
        assert!(answer.json()["error"]["message"].as_str().unwrap().contains(words), "{}", answer.text());
    }
}

#[test]
fn calls_can_have_one_id() {
    let twice = || Reply::default().call("bash", json!({})).call("read", json!({})).with_fault(Fault::OneCallId);
    for (format, prefix) in [(Format::Chat, "\"call_"), (Format::Responses, "\"call_"), (Format::Anthropic, "\"toolu_")]
    {
        let text = serve(format, twice()).1.text();
        let ids: std::collections::BTreeSet<&str> =
            text.split(prefix).skip(1).filter_map(|rest| rest.split('"').next()).filter(|id| *id != "id").collect();
        assert_eq!(ids.len(), 1, "{ids:?}");
    }
    let text = serve(Format::Gemini, twice()).1.text();
    assert_eq!(text.matches(&format!("\"id\":\"{}\"", ramus_testkit::model_server::tag(0))).count(), 2);
}

#[test]
fn a_page_for_people_can_come_instead() {
    for format in Format::ALL {
        let (_, answer) = serve(format, Reply::broken(Fault::Html));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/html; charset=utf-8")));
        assert!(answer.text().starts_with("<!doctype html>"));
    }
}

#[test]
fn the_last_event_can_be_missing_or_come_twice() {
    for format in Format::ALL {
        let terminal = match format {
            Format::Chat => "data: [DONE]",
            Format::Responses => "event: response.completed",
            Format::Anthropic => "event: message_stop",
            Format::Gemini => "finishReason",
        };
        let count = |reply: Reply| {
            let (_, answer) = serve(format, reply);
            assert_eq!(answer.ended, Ended::Whole);
            (answer.text().matches(terminal).count(), answer.text().contains("Grüße"))
        };
        assert_eq!(count(reply()), (1, true));
        assert_eq!(count(reply().with_fault(Fault::NoTerminal)), (0, true), "{format:?}");
        assert_eq!(count(reply().with_fault(Fault::TwoTerminals)), (2, true));
    }
}

#[test]
fn a_stream_can_fail_in_the_way_of_its_format() {
    for format in Format::ALL {
        let (_, answer) = serve(format, reply().with_fault(Fault::Error { after: 2 }));
        let events = answer.events();
        assert_eq!(events.len(), 3);
        let (name, data) = &events[2];
        match format {
            Format::Chat => assert!(data["error"]["message"].is_string()),
            Format::Responses => {
                assert_eq!((name.as_str(), &data["response"]["status"]), ("response.failed", &json!("failed")));
            }
            Format::Anthropic => {
                assert_eq!((name.as_str(), &data["error"]["type"]), ("error", &json!("overloaded_error")));
            }
            Format::Gemini => assert_eq!(data["error"]["status"], "UNAVAILABLE"),
        }
    }
}
