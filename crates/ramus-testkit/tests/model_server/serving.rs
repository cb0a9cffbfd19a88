//! The server as a server: keys, paths, connections, plans, lists of models, and what it remembers.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use ramus_testkit::model_server::{Format, Keys, ModelServer, Plan, Reply, Rule, Then, Verdict};
use serde_json::json;

use crate::client::{Connection, ask, ask_on, door, question};
use crate::edit::set;

#[test]
fn replies_come_in_order_and_illegal_requests_use_none_up() {
    let server = ModelServer::start(Plan::of([Reply::text("one"), Reply::text("two")])).unwrap();
    // One connection serves them all.
    let mut connection = Connection::open(&server);
    let mut answers = Vec::new();
    for format in [Format::Chat, Format::Gemini] {
        ask_on(&mut connection, format, &question(format, ""));
        answers.push(connection.answer());
        ask_on(&mut connection, format, &question(format, "hello"));
        answers.push(connection.answer());
    }
    ask_on(&mut connection, Format::Anthropic, &question(Format::Anthropic, "hello"));
    answers.push(connection.answer());
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [400, 200, 400, 200, 500]);
    assert!(answers[1].text().contains("one") && answers[3].text().contains("two"));
    assert_eq!(answers[0].json()["error"]["type"], "invalid_request_error");
    assert_eq!(server.illegal().iter().map(|error| error.rule).collect::<Vec<_>>(), [Rule::Empty; 2]);
    let records = server.requests();
    assert_eq!(records.iter().map(|record| record.format.unwrap()).collect::<Vec<_>>().len(), 5);
    assert_eq!(records[1].json(), question(Format::Chat, "hello"));
    assert_eq!((records[1].line.as_str(), &records[1].verdict), ("POST /v1/chat/completions", &Verdict::Legal));
    assert_eq!(records[4].header("anthropic-version"), Some("2023-06-01"));
}

#[test]
fn without_a_plan_it_repeats_the_user() {
    let server = ModelServer::start(Plan::of([Reply::text("planned")]).then(Then::Echo)).unwrap();
    assert!(ask(&server, Format::Chat, &question(Format::Chat, "hello")).text().contains("planned"));
    for format in Format::ALL {
        assert!(ask(&server, format, &question(format, "Grüße 🦀")).text().contains("\"Grüße 🦀\""));
    }
}

#[test]
fn a_key_must_be_given() {
    let server = ModelServer::start(Plan::echo()).unwrap();
    let strict = ModelServer::start_on(0, Keys::Only("other".into()), Plan::echo()).unwrap();
    let local = ModelServer::start_on(0, Keys::Unneeded, Plan::echo()).unwrap();
    for format in Format::ALL {
        let (path, headers) = door(format);
        let keyless: Vec<_> = headers.into_iter().filter(|(_, value)| !value.ends_with("key")).collect();
        let body = question(format, "hello").to_string();
        let status = |server: &ModelServer| {
            let mut connection = Connection::open(server);
            connection.send("POST", path, &keyless, body.as_bytes());
            connection.answer().status
        };
        assert_eq!(status(&server), if format == Format::Gemini { 403 } else { 401 });
        assert_eq!(status(&local), 200);
        let wrong = ask(&strict, format, &question(format, "hello")).status;
        assert_eq!(wrong, if format == Format::Gemini { 400 } else { 401 });
    }
    assert!(server.illegal().iter().all(|error| error.rule == Rule::Key));
}

#[test]
fn headers_and_paths_are_checked() {
    let server = ModelServer::start(Plan::echo()).unwrap();
    let struck = |path: &str, headers: &[(&str, &str)], body: &[u8]| {
        let mut connection = Connection::open(&server);
        connection.send("POST", path, headers, body);
        let status = connection.answer().status;
        (status, server.illegal().pop().unwrap().rule)
    };
    let body = question(Format::Anthropic, "hello").to_string();
    let (path, mut headers) = door(Format::Anthropic);
    assert_eq!(struck(path, &headers, b"\xff"), (400, Rule::NotJson));
    headers.pop();
    assert_eq!(struck(path, &headers, body.as_bytes()), (400, Rule::Version));
    headers.remove(0);
    assert_eq!(struck(path, &headers, body.as_bytes()), (400, Rule::Shape));
    assert_eq!(struck("/v1/complete", &headers, body.as_bytes()), (404, Rule::Path));
    let waiting = set(&question(Format::Chat, "hello"), "/stream", false);
    let waiting = crate::edit::without(&waiting, "/stream_options");
    assert_eq!(ask(&server, Format::Chat, &waiting).status, 400);
}

#[test]
fn models_are_listed_for_everyone() {
    let server = ModelServer::start(Plan::echo().with_models(["small", "large"])).unwrap();
    let list = |path: &str, headers: &[(&str, &str)]| {
        let mut connection = Connection::open(&server);
        connection.send("GET", path, headers, b"");
        connection.answer().json()
    };
    let openai = list("/v1/models", &[("Authorization", "Bearer key")]);
    assert_eq!((&openai["object"], &openai["data"][1]["id"]), (&json!("list"), &json!("large")));
    let anthropic = list("/v1/models", &[("X-Api-Key", "key"), ("Anthropic-Version", "2023-06-01")]);
    assert_eq!((&anthropic["data"][0]["type"], &anthropic["has_more"]), (&json!("model"), &json!(false)));
    assert_eq!(list("/v1beta/models?key=key", &[])["models"][0]["name"], "models/small");
    assert_eq!(list("/api/tags", &[])["models"][1]["name"], "large");
    assert_eq!(list("/v1/models", &[])["error"]["code"], "invalid_api_key");
}

#[test]
fn a_body_may_come_in_chunks() {
    let server = ModelServer::start(Plan::echo()).unwrap();
    let mut connection = Connection::open(&server);
    let (path, headers) = door(Format::Chat);
    let body = question(Format::Chat, "hello").to_string();
    let (first, second) = body.split_at(10);
    let framed = format!("{:x}\r\n{first}\r\n{:x};x=y\r\n{second}\r\n0\r\n\r\n", first.len(), second.len());
    let mut headers = headers.clone();
    headers.push(("Transfer-Encoding", "chunked"));
    connection.send("POST", path, &headers, framed.as_bytes());
    assert!(connection.answer().text().contains("hello"));
    assert_eq!(server.requests()[0].body, body.as_bytes());
}

#[test]
fn a_dropped_server_is_gone() {
    let server = ModelServer::start(Plan::echo()).unwrap();
    let address = server.address();
    let idle = Connection::open(&server);
    drop(server);
    assert!(std::net::TcpStream::connect(address).is_err());
    drop(idle);
}

/// Ends a process when the test does.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn the_program_serves_a_plan_from_a_file() {
    let plan = json!({
        "replies": [{
            "parts": [
                {"thinking": ["hm"]},
                {"text": ["from ", "a file"]},
                {"call": {"name": "bash", "arguments": {"command": "ls"}}},
            ],
            "finish": "length",
            "usage": {"input": 5},
            "fault": {"pieces": 7},
        }],
        "then": "echo",
        "models": ["planned"],
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), plan.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_modelserver"));
    command.arg("--plan").arg(file.path()).arg("--no-key").stdout(Stdio::piped());
    let mut child = Ending(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap();
    let mut connection = Connection::at(address);
    ask_on(&mut connection, Format::Anthropic, &question(Format::Anthropic, "hello"));
    let answer = connection.answer();
    assert!(answer.text().contains("from ") && answer.text().contains("max_tokens"));
    assert!(answer.chunks.iter().all(|chunk| chunk.len() <= 7));
    ask_on(&mut connection, Format::Anthropic, &question(Format::Anthropic, "echo me"));
    assert!(connection.answer().text().contains("echo me"));
}
