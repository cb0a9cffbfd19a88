//! What happens to connections: each time one error, the right one, and then nothing.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::stream::StreamExt as _;
use ramus_model::delta::{Delta, Finish};
use ramus_provider::{Models, Patience, ProviderError, Providers, Secret, Settings};

use crate::requests::*;
use crate::server::{Act, Server, answer};

const KEY: &str = "sk-very-secret-0123456789";

const TEXT: &str = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße 🙂\"}}]}\n\n";
const STOP: &str = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn providers(base: &str, idle: Duration) -> Providers {
    let settings = |base: String| Settings {
        base_url: Some(base),
        key_variable: None,
        key: Some(Secret::new(KEY)),
        headers: vec![("x-team".into(), Secret::new("team-secret"))],
        api: None,
    };
    let names = ["openai", "anthropic", "gemini", "openai-responses"];
    let named = names.map(|name| (name.to_owned(), settings(base.to_owned())));
    let patience = Patience { connect: Duration::from_secs(5), idle, straggler: Duration::from_millis(200) };
    Providers::new(BTreeMap::from(named), Models::known().unwrap(), patience).unwrap()
}

async fn ask(base: &str, model: &str, idle: Duration) -> Vec<Result<Delta, ProviderError>> {
    let resolved = providers(base, idle).resolve(model).unwrap();
    let request = request(resolved.model, vec![user(&[text("Hi")])]);
    resolved.provider.stream(request).collect().await
}

/// Asks, and returns the text that came and how it ended.
async fn outcome(acts: Vec<Act>) -> (String, Result<Finish, ProviderError>) {
    let server = Server::new(acts).await;
    let said = ask(&server.base, "openai/m", Duration::from_millis(400)).await;
    let mut told = String::new();
    let mut end = None;
    for said in said {
        match said {
            Ok(Delta::Finished(finish)) => end = Some(Ok(finish)),
            Ok(Delta::Text(more)) => told.push_str(&more),
            Ok(_) => {}
            Err(error) => {
                assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
                assert!(end.is_none(), "a second end: {error:?}");
                end = Some(Err(error));
            }
        }
    }
    (told, end.unwrap())
}

fn events(parts: &[&str]) -> Act {
    Act::Events(parts.iter().map(|part| part.as_bytes().to_vec()).collect())
}

#[tokio::test]
async fn a_whole_answer_and_one_without_its_marker() {
    let expected = ("Grüße 🙂".to_owned(), Ok(Finish::Stop));
    assert_eq!(outcome(vec![events(&[TEXT, STOP, DONE]), Act::End]).await, expected);
    assert_eq!(outcome(vec![events(&[TEXT, STOP]), Act::End]).await, expected);
    assert_eq!(outcome(vec![events(&[TEXT, STOP.trim_end()]), Act::End]).await, expected);
    // Complete is complete, whatever becomes of the connection.
    assert_eq!(outcome(vec![events(&[TEXT, STOP]), Act::Wait]).await, expected);
    assert_eq!(outcome(vec![events(&[TEXT, STOP]), Act::Reset]).await, expected);
}

#[tokio::test]
async fn letters_split_between_chunks() {
    let bytes = [TEXT, STOP, DONE].concat().into_bytes();
    let single = bytes.iter().map(|byte| vec![*byte]).collect();
    assert_eq!(outcome(vec![Act::Events(single), Act::End]).await, ("Grüße 🙂".to_owned(), Ok(Finish::Stop)));
}

#[tokio::test]
async fn busy_for_as_long_as_it_says() {
    let busy = |headers: &str| answer("429 Too Many Requests", headers, r#"{"error":{"message":"slow"}}"#);
    let expected = |after: Option<u64>| ProviderError::Busy {
        retry_after: after.map(Duration::from_millis),
        message: "slow".into(),
    };
    assert_eq!(outcome(busy("retry-after: 7\r\n")).await.1, Err(expected(Some(7_000))));
    assert_eq!(outcome(busy("retry-after-ms: 1500\r\n")).await.1, Err(expected(Some(1_500))));
    assert_eq!(outcome(busy("retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n")).await.1, Err(expected(Some(0))));
    assert_eq!(outcome(busy("")).await.1, Err(expected(None)));
    let overloaded = answer("529 ", "", r#"{"type":"error","error":{"type":"overloaded_error","message":"slow"}}"#);
    assert_eq!(outcome(overloaded).await.1, Err(expected(None)));
}

#[tokio::test]
async fn other_statuses() {
    let failed = |status, message: &str| ProviderError::Failed { status: Some(status), message: message.into() };
    assert_eq!(outcome(answer("500 Oops", "", "boom")).await.1, Err(failed(500, "boom")));
    assert_eq!(outcome(answer("502 Bad", "", "")).await.1, Err(failed(502, "status 502")));
    let denied =
        outcome(answer("401 No", "", &format!(r#"{{"error":{{"message":"Incorrect API key: {KEY}"}}}}"#))).await.1;
    assert_eq!(denied, Err(ProviderError::Denied { message: "Incorrect API key: [key]".into() }));
    let missing = outcome(answer("404 No", "", r#"{"error":{"message":"no such model"}}"#)).await.1;
    assert_eq!(missing, Err(ProviderError::NotFound { message: "no such model".into() }));
    let long = r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#;
    let overflow = outcome(answer("400 No", "", long)).await.1;
    assert!(
        matches!(overflow, Err(ProviderError::Overflow { needed: Some(9), available: Some(8), .. })),
        "{overflow:?}"
    );
}

#[tokio::test]
async fn something_else_that_answers() {
    let portal = answer("200 OK", "content-type: text/html; charset=utf-8\r\n", "<html>Log in to the hotel</html>");
    let said = outcome(portal).await.1;
    let expected = ProviderError::NotSse {
        content_type: "text/html; charset=utf-8".into(),
        message: "<html>Log in to the hotel</html>".into(),
    };
    assert_eq!(said, Err(expected));
    let hidden = answer("200 OK", "content-type: application/json\r\n", r#"{"error":{"code":429,"message":"slow"}}"#);
    assert_eq!(outcome(hidden).await.1, Err(ProviderError::Busy { retry_after: None, message: "slow".into() }));
    let unstreamed = answer("200 OK", "content-type: application/json\r\n", r#"{"choices":[]}"#);
    assert!(matches!(outcome(unstreamed).await.1, Err(ProviderError::NotSse { .. })));
}

#[tokio::test]
async fn connections_that_break() {
    let (text, end) = outcome(vec![events(&[TEXT]), Act::Reset]).await;
    assert_eq!(text, "Grüße 🙂");
    assert!(matches!(end, Err(ProviderError::Broken { .. })), "{end:?}");
    // The end of a connection is not the end of a body that says how long it is.
    let (_, end) = outcome(vec![events(&[TEXT])]).await;
    assert!(matches!(end, Err(ProviderError::Broken { .. })), "{end:?}");
    let (_, end) = outcome(vec![events(&[TEXT]), Act::End]).await;
    assert_eq!(end, Err(ProviderError::Truncated));
    let (_, end) = outcome(vec![Act::Reset]).await;
    assert!(matches!(end, Err(ProviderError::Broken { .. } | ProviderError::Unreachable { .. })), "{end:?}");
}

#[tokio::test]
async fn nobody_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let said = ask(&base, "openai/m", Duration::from_secs(1)).await;
    assert_eq!(said.len(), 1);
    let host = base.trim_start_matches("http://");
    assert!(matches!(&said[0], Err(ProviderError::Unreachable { host: there, .. }) if there == host), "{said:?}");
}

#[tokio::test]
async fn silence_before_and_within_an_answer() {
    let start = Instant::now();
    let stalled = ProviderError::Stalled { after: Duration::from_millis(400) };
    assert_eq!(outcome(vec![Act::Wait]).await.1, Err(stalled.clone()));
    let (text, end) = outcome(vec![events(&[TEXT]), Act::Wait]).await;
    assert_eq!((text.as_str(), end), ("Grüße 🙂", Err(stalled)));
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn dropping_an_answer_closes_the_connection() {
    let mut server = Server::new(vec![events(&[TEXT]), Act::Wait]).await;
    let resolved = providers(&server.base, Duration::from_secs(30)).resolve("openai/m").unwrap();
    let mut deltas = resolved.provider.stream(request(resolved.model, vec![user(&[text("Hi")])]));
    assert!(matches!(deltas.next().await, Some(Ok(_))));
    drop(deltas);
    tokio::time::timeout(Duration::from_secs(5), server.gone()).await.unwrap();
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let mut server = Server::new(vec![events(&[TEXT, STOP, DONE]), Act::End]).await;
    let resolved = providers(&server.base, Duration::from_secs(5)).resolve("openai/m").unwrap();
    for _ in 0..3 {
        let request = request(resolved.model.clone(), vec![user(&[text("Hi")])]);
        let said: Vec<_> = resolved.provider.stream(request).collect().await;
        assert!(said.iter().all(Result::is_ok), "{said:?}");
        server.request().await;
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn the_key_is_sent_in_its_place_and_to_no_other_host() {
    for (model, header) in [
        ("openai/m", "authorization: Bearer "),
        ("openai-responses/m", "authorization: Bearer "),
        ("anthropic/m", "x-api-key: "),
        ("gemini/m", "x-goog-api-key: "),
    ] {
        let mut elsewhere = Server::new(answer("200 OK", "", "")).await;
        // Another port is another host.
        let location = format!("location: {}/steal\r\n", elsewhere.base);
        for status in ["301 Moved", "307 Moved", "308 Moved"] {
            let mut server = Server::new(answer(status, &location, "")).await;
            let said = ask(&server.base, model, Duration::from_secs(2)).await;
            assert!(
                matches!(&said[..], [Err(ProviderError::NotFound { message })] if message.contains("127.0.0.1")),
                "{said:?}"
            );
            let request = server.request().await;
            assert!(request.contains(&format!("{header}{KEY}\r\n")), "{request}");
            assert!(request.contains("x-team: team-secret\r\n"), "{request}");
            assert!(!request.lines().next().unwrap().contains(KEY), "{request}");
        }
        assert!(elsewhere.requests_now().is_none(), "{model} followed");
    }
}

#[tokio::test]
async fn nothing_that_is_printed_shows_the_key() {
    let providers = providers("http://127.0.0.1:1", Duration::from_secs(1));
    let resolved = providers.resolve("anthropic/m").unwrap();
    for shown in [format!("{providers:?}"), format!("{:?}", resolved.provider), format!("{resolved:?}")] {
        assert!(!shown.contains(KEY) && !shown.contains("team-secret"), "{shown}");
    }
    // A provider that repeats the key within a stream.
    let echo = format!("data: {{\"error\":{{\"message\":\"your key {KEY} of team-secret\"}}}}\n\n");
    let (_, end) = outcome(vec![events(&[&echo]), Act::End]).await;
    assert_eq!(end, Err(ProviderError::Failed { status: None, message: "your key [key] of [key]".into() }));
}
