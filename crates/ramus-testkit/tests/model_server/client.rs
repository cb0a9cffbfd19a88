//! A client that knows sockets and nothing else, so that it hides nothing.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use ramus_testkit::model_server::{Format, ModelServer};
use serde_json::{Value, json};

/// How long to wait for bytes.
const PATIENCE: Duration = Duration::from_secs(20);

/// How a body ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// As HTTP says it must.
    Whole,
    /// The connection was closed in the middle.
    Closed,
    /// The connection was reset.
    Reset,
    /// Nothing came for as long as the client wanted to wait.
    Silent,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// The body as its chunks came, or in one.
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) ended: Ended,
}

impl Answer {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the events: their names and data.
    pub(crate) fn events(&self) -> Vec<(String, Value)> {
        let text = self.text().replace("\r\n", "\n");
        assert!(text.ends_with("\n\n"), "the last event is not whole: {text:?}");
        text.split_terminator("\n\n")
            .map(|block| {
                let line = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
                let data = line("data: ");
                (line("event: ").to_owned(), serde_json::from_str(data).unwrap_or_else(|_| data.into()))
            })
            .collect()
    }
}

/// A connection.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn open(server: &ModelServer) -> Self {
        Self::at(&server.address().to_string())
    }

    pub(crate) fn at(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Waits no longer than this for bytes.
    pub(crate) fn impatient(self, patience: Duration) -> Self {
        self.stream.get_ref().set_read_timeout(Some(patience)).unwrap();
        self
    }

    pub(crate) fn send(&mut self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let chunked = headers.contains("Transfer-Encoding");
        let length = if chunked { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let head = format!("{method} {target} HTTP/1.1\r\nHost: loopback\r\n{headers}{length}\r\n");
        self.stream.get_mut().write_all(&[head.as_bytes(), body].concat()).unwrap();
    }

    pub(crate) fn answer(&mut self) -> Answer {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no answer: {line:?}")).parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            match line.trim_end().split_once(": ") {
                Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.to_owned())),
                None => break,
            }
        }
        let mut answer = Answer { status, headers, chunks: Vec::new(), ended: Ended::Whole };
        match answer.header("content-length").map(|length| length.parse().unwrap()) {
            Some(length) => {
                let mut body = vec![0; length];
                self.stream.read_exact(&mut body).unwrap();
                answer.chunks.push(body);
            }
            None => answer.ended = self.chunks(&mut answer.chunks),
        }
        answer
    }

    fn chunks(&mut self, chunks: &mut Vec<Vec<u8>>) -> Ended {
        loop {
            let mut line = String::new();
            let read = self.stream.read_line(&mut line);
            match read.map_err(|error| error.kind()) {
                Ok(0) => return Ended::Closed,
                Ok(_) => {}
                Err(ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Ended::Silent,
                Err(ErrorKind::ConnectionReset) => return Ended::Reset,
                Err(other) => panic!("{other}"),
            }
            let size = usize::from_str_radix(line.trim(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).unwrap();
            assert_eq!(chunk.split_off(size), b"\r\n");
            if size == 0 {
                return Ended::Whole;
            }
            chunks.push(chunk);
        }
    }
}

/// Returns where a format is asked, and with which headers.
pub(crate) fn door(format: Format) -> (&'static str, Vec<(&'static str, &'static str)>) {
    let json = ("Content-Type", "application/json");
    match format {
        Format::Chat => ("/v1/chat/completions", vec![json, ("Authorization", "Bearer key")]),
        Format::Responses => ("/v1/responses", vec![json, ("Authorization", "Bearer key")]),
        Format::Anthropic => ("/v1/messages", vec![json, ("X-Api-Key", "key"), ("Anthropic-Version", "2023-06-01")]),
        Format::Gemini => {
            ("/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse", vec![json, ("X-Goog-Api-Key", "key")])
        }
    }
}

/// Returns the smallest legal request.
pub(crate) fn question(format: Format, text: &str) -> Value {
    match format {
        Format::Chat => json!({"model": "m", "stream": true, "stream_options": {"include_usage": true},
                               "messages": [{"role": "user", "content": text}]}),
        Format::Responses => {
            json!({"model": "m", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
                                    "input": [{"role": "user", "content": text}]})
        }
        Format::Anthropic => json!({"model": "m", "stream": true, "max_tokens": 9,
                                    "messages": [{"role": "user", "content": text}]}),
        Format::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": text}]}]}),
    }
}

/// Asks on a connection of its own.
pub(crate) fn ask(server: &ModelServer, format: Format, body: &Value) -> Answer {
    let mut connection = Connection::open(server);
    ask_on(&mut connection, format, body);
    connection.answer()
}

/// Sends a request.
pub(crate) fn ask_on(connection: &mut Connection, format: Format, body: &Value) {
    let (path, headers) = door(format);
    connection.send("POST", path, &headers, body.to_string().as_bytes());
}
