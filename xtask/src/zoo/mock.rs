//! A model on loopback that speaks every format and forgives everything: real agents ask for titles, count tokens and probe,
//! and none of that is what is judged. It keeps whatever it was asked: that is the evidence.

mod http;
mod reply;

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use ramus_testkit::model_server::Format;
use serde_json::{Value, json};

use self::http::Request;
pub(super) use self::reply::{RESUMED, THOUGHT, TURNS};

/// A request that asked for an answer.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) format: Format,
    pub(super) body: Value,
}

/// A server that runs until the program ends.
pub(super) struct Mock {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// No two answers have one number, whichever server gave them.
static ANSWERS: AtomicUsize = AtomicUsize::new(0);

impl Mock {
    /// Starts on a free port.
    pub(super) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                // An agent that breaks off has had enough.
                thread::spawn(move || drop(converse(stream, &kept)));
            }
        });
        Ok(Self { port, asked })
    }

    /// Returns where it listens.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Takes what was asked so far.
    pub(super) fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut *lock(&self.asked))
    }
}

fn lock(asked: &Mutex<Vec<Asked>>) -> MutexGuard<'_, Vec<Asked>> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers requests on a connection until the agent closes it.
fn converse(stream: TcpStream, kept: &Mutex<Vec<Asked>>) -> io::Result<()> {
    let mut connection = http::Connection::new(stream)?;
    while let Some(request) = connection.request()? {
        answer(&request, kept, &mut connection)?;
    }
    Ok(())
}

fn answer(request: &Request, kept: &Mutex<Vec<Asked>>, connection: &mut http::Connection) -> io::Result<()> {
    let Some((format, model)) = asked_for(&request.method, request.path()) else {
        return connection.whole(&elsewhere(request.path()));
    };
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let model = body.get("model").and_then(Value::as_str).unwrap_or(model).to_owned();
    let is_stream = match format {
        Format::Gemini => request.path().ends_with(":streamGenerateContent"),
        _ => body.get("stream") == Some(&Value::Bool(true)),
    };
    let reply = reply::decide(format, &body);
    let number = ANSWERS.fetch_add(1, Ordering::Relaxed);
    let events = ramus_testkit::model_server::stream(format, &model, &body, number, &reply);
    let whole = (!is_stream).then(|| reply::whole(format, &model, number, &body, &reply));
    lock(kept).push(Asked { format, body });
    match whole {
        Some(whole) => connection.whole(&whole),
        None => connection.stream(&events.concat()),
    }
}

/// The format that a path belongs to, and the model it names.
fn asked_for<'a>(method: &str, path: &'a str) -> Option<(Format, &'a str)> {
    let last = path.rsplit('/').next().unwrap_or_default();
    match (method, last) {
        ("POST", "messages") => Some((Format::Anthropic, "")),
        ("POST", "responses") => Some((Format::Responses, "")),
        ("POST", "completions") => Some((Format::Chat, "")),
        ("POST", _) => {
            let (model, verb) = last.split_once(':')?;
            matches!(verb, "streamGenerateContent" | "generateContent").then_some((Format::Gemini, model))
        }
        _ => None,
    }
}

/// What is answered to whatever else agents ask for.
fn elsewhere(path: &str) -> Value {
    match path {
        _ if path.ends_with("/count_tokens") => json!({"input_tokens": 42}),
        _ if path.ends_with(":countTokens") => json!({"totalTokens": 42}),
        _ if path.ends_with("/models") => {
            let model = json!({"id": "mock-model", "object": "model", "created": 1, "owned_by": "mock"});
            json!({"object": "list", "data": [model], "models": []})
        }
        _ => json!({}),
    }
}
