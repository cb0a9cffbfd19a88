//! What the client does when connections break, and where its token goes. The servers are made up, on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test that meets the unexpected should fail loudly"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

use ramus_client::{Address, Client, Error, Order, Token};

const TOKEN: &str = "0123456789abcdef";
const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// Answers one connection after the other with these bytes, and returns what was asked.
fn serve(answers: Vec<String>) -> (Client, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: Address = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let client = Client::new(&address, Some(Token::new(TOKEN))).unwrap();
    let asked = std::thread::spawn(move || {
        let take = |answer: String| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 8192];
            let count = stream.read(&mut buffer).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&buffer[..count]).to_lowercase()
        };
        answers.into_iter().map(take).collect()
    });
    (client, asked)
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn json(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nconnection: close\r\netag: \"7\"\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn who_is_cut_off_comes_back_behind_the_last_event() {
    let event = |id: &str, text: &str| {
        format!("id: {id}\nevent: entry.appended\ndata: {{\"schema_version\":1,\"text\":\"{text}\"}}\n\n")
    };
    let first = format!("{EVENTS}retry: 1000\n\n{}: a remark\n\n", event("5", "one"));
    let second = format!("{EVENTS}event: heartbeat\ndata: {{}}\n\n{}", event("6", "two"));
    let (client, asked) = serve(vec![first, second]);
    let told = wait(async {
        let mut events = client.session("s").events(Some("4".into()));
        let (one, two) = (events.next().await.unwrap(), events.next().await.unwrap());
        (one.text("text").to_owned(), two.text("text").to_owned(), events.last().map(str::to_owned))
    });
    assert_eq!(told, ("one".into(), "two".into(), Some("6".into())));
    let asked = asked.join().unwrap();
    assert!(asked[0].contains("last-event-id: 4") && asked[1].contains("last-event-id: 5"), "{asked:?}");
}

#[test]
fn a_turn_that_ended_while_nobody_was_there_is_told_to_its_end() {
    let started = format!(
        "{EVENTS}event: run\ndata: {{\"run\":\"r\"}}\n\nid: 6\nevent: open\ndata: {{\"seq\":6}}\n\nevent: message.delta\ndata: {{\"text\":\"a\"}}\n\n"
    );
    let rest = format!("{EVENTS}id: 7\nevent: message.end\ndata: {{\"stop_reason\":\"stop\"}}\n\n");
    let ended = json("{\"schema_version\":1,\"run\":\"r\",\"status\":\"ended\",\"end\":{\"finish_reason\":\"stop\"}}");
    let (client, asked) = serve(vec![started, rest, ended, json("{\"schema_version\":1,\"session\":{}}")]);
    let (names, end) = wait(async {
        let mut turn = client.session("s").run(&Order::saying("hello")).await.unwrap();
        let mut names = Vec::new();
        while let Some(event) = turn.next().await.unwrap() {
            names.push(event.name);
        }
        (names, turn.end().unwrap().data.clone())
    });
    assert_eq!(names, ["message.delta", "message.end"]);
    assert_eq!(end["end"]["finish_reason"], "stop");
    let asked = asked.join().unwrap();
    assert!(asked[1].contains("last-event-id: 6"), "{asked:?}");
    // What was sent once is not sent again.
    assert_eq!(asked.iter().filter(|asked| asked.starts_with("post ")).count(), 1);
}

/// Takes one request and answers it with these bytes; returns what was asked.
fn take(listener: &TcpListener, answer: &str) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    let mut buffer = [0; 8192];
    let count = stream.read(&mut buffer).unwrap();
    stream.write_all(answer.as_bytes()).unwrap();
    String::from_utf8_lossy(&buffer[..count]).to_lowercase()
}

/// Watches a turn to its end at a server that is away for two seconds after it started the turn; `after` is what it answers
/// then. Returns what was told, how it ended, whether the server is another one, and what was asked.
fn away(after: Vec<String>) -> (Vec<String>, serde_json::Value, bool, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let client = Client::new(&format!("http://{at}").parse().unwrap(), Some(Token::new(TOKEN))).unwrap();
    let serving = std::thread::spawn(move || {
        let started = format!(
            "{EVENTS}event: run\ndata: {{\"run\":\"r\",\"status\":\"running\"}}\n\nid: 6\nevent: open\ndata: {{\"seq\":6}}\n\n"
        );
        let mut asked = vec![take(&listener, &started)];
        drop(listener);
        #[expect(clippy::disallowed_methods, reason = "this is what it is about: nobody is there for a while")]
        std::thread::sleep(std::time::Duration::from_secs(2));
        let listener = TcpListener::bind(at).unwrap();
        asked.extend(after.iter().map(|answer| take(&listener, answer)));
        asked
    });
    let (names, end, is_restarted) = wait(async {
        let mut turn = client.session("s").run(&Order::saying("hello")).await.unwrap();
        let mut names = Vec::new();
        while let Some(event) = turn.next().await.unwrap() {
            names.push(event.name);
        }
        (names, serde_json::Value::Object(turn.end().unwrap().data.clone()), turn.is_restarted())
    });
    (names, end, is_restarted, serving.join().unwrap())
}

#[test]
fn a_turn_is_watched_on_at_a_server_that_was_away_for_a_moment() {
    let rest = format!("{EVENTS}id: 7\nevent: message.end\ndata: {{\"stop_reason\":\"stop\"}}\n\n");
    let ended = json("{\"schema_version\":1,\"run\":\"r\",\"status\":\"ended\",\"end\":{\"finish_reason\":\"stop\"}}");
    let (names, end, is_restarted, asked) = away(vec![rest, ended, json("{\"schema_version\":1,\"session\":{}}")]);
    assert_eq!(
        (names.as_slice(), &end["end"]["finish_reason"]),
        (["message.end".to_owned()].as_slice(), &"stop".into())
    );
    assert!(!is_restarted);
    assert!(asked[0].contains("idempotency-key: ") && asked[1].contains("last-event-id: 6"), "{asked:?}");
}

#[test]
fn a_server_that_was_started_anew_is_asked_what_became_of_the_turn() {
    let body = r#"{"error":{"kind":"not-found","message":"the session has no turn","hint":null}}"#;
    let unknown =
        format!("HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let rest = format!("{EVENTS}id: 7\nevent: entry.appended\ndata: {{}}\n\n");
    let failed =
        "{\"run\":\"r2\",\"status\":\"failed\",\"error\":{\"kind\":\"conflict\",\"message\":\"the server ended\"}}";
    let ordered = format!("{EVENTS}event: run\ndata: {failed}\n\n");
    let (names, end, is_restarted, asked) =
        away(vec![rest, unknown, ordered, json("{\"schema_version\":1,\"session\":{}}")]);
    assert_eq!(
        (names.as_slice(), &end["error"]["kind"]),
        (["entry.appended".to_owned()].as_slice(), &"conflict".into())
    );
    assert!(is_restarted);
    let key = |asked: &str| asked.lines().find_map(|line| line.strip_prefix("idempotency-key: ").map(str::to_owned));
    assert!(asked[3].starts_with("post ") && key(&asked[0]).is_some() && key(&asked[0]) == key(&asked[3]), "{asked:?}");
}

#[test]
fn the_token_goes_nowhere_else() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let location = elsewhere.local_addr().unwrap();
    let away = format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{location}/\r\ncontent-length: 0\r\n\r\n");
    let (client, asked) = serve(vec![away]);
    let error = wait(client.list(&[])).unwrap_err();
    assert!(matches!(error, Error::Stranger { .. }), "{error:?}");
    assert!(!format!("{error:?} {error} {client:?}").contains(TOKEN));
    assert!(asked.join().unwrap()[0].contains(&format!("authorization: bearer {TOKEN}")));
    assert!(elsewhere.accept().is_err(), "the redirect was followed");
}

#[test]
fn what_a_server_refuses_is_told_by_its_kind() {
    let body = r#"{"error":{"kind":"busy","message":"a turn is running","hint":"wait"}}"#;
    let refused = format!("HTTP/1.1 409 Conflict\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let (client, _) = serve(vec![refused]);
    let error = wait(client.session("s").say("user", "hello")).unwrap_err();
    assert_eq!((error.kind(), error.status(), error.hint().as_deref()), ("busy", Some(409), Some("wait")));
}
