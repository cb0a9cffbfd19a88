//! A client that says exactly what it is told to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::shapes;

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self { method: method.into(), target: target.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn json(self, value: &Value) -> Self {
        let mut request = self.header("content-type", "application/json");
        request.body = value.to_string().into_bytes();
        request
    }

    pub(crate) fn bytes(&self, address: SocketAddr) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        let given = |name: &str| self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        if !given("host") {
            text.push_str(&format!("host: {address}\r\n"));
        }
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") {
            text.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Sends the request on a connection of its own.
    pub(crate) fn send(&self, address: SocketAddr) -> Response {
        let mut stream = connect(address);
        let closing = self.clone().header("connection", "close");
        stream.write_all(&closing.bytes(address)).unwrap();
        let response = read(&mut BufReader::new(stream));
        shapes::check(self, &response);
        response
    }

    /// Sends the request and reads what comes as events.
    pub(crate) fn events(&self, address: SocketAddr) -> Events {
        let mut stream = connect(address);
        stream.write_all(&self.bytes(address)).unwrap();
        let mut reader = BufReader::new(stream);
        let (status, headers) = head(&mut reader);
        assert_eq!(status, 200, "{self:?}");
        let kind = headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.as_str());
        assert_eq!(kind, Some("text/event-stream"));
        Events { reader, buffer: Vec::new(), is_over: false }
    }
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The kind of an error.
    pub(crate) fn kind(&self) -> String {
        self.json()["error"]["kind"].as_str().unwrap_or_default().to_owned()
    }
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Sends bytes as they are, and reads what is answered; none when the connection was closed instead.
pub(crate) fn raw(address: SocketAddr, bytes: &[u8]) -> Option<Response> {
    let mut stream = connect(address);
    stream.write_all(bytes).unwrap();
    let mut reader = BufReader::new(stream);
    if reader.fill_buf().map_or(true, <[u8]>::is_empty) {
        return None;
    }
    Some(read(&mut reader))
}

fn head(reader: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no status: {line:?}")).parse().unwrap();
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    (status, headers)
}

fn read(reader: &mut BufReader<TcpStream>) -> Response {
    let (status, headers) = head(reader);
    let length = headers.iter().find(|(name, _)| name == "content-length").map(|(_, value)| value.parse().unwrap());
    let mut body = Vec::new();
    match length {
        // Nothing comes behind these.
        None if matches!(status, 204 | 304) => {}
        Some(length) => {
            body.resize(length, 0);
            reader.read_exact(&mut body).unwrap();
        }
        None => while chunk(reader, &mut body) {},
    }
    Response { status, headers, body }
}

/// Reads one chunk; says whether there may be more.
fn chunk(reader: &mut BufReader<TcpStream>, body: &mut Vec<u8>) -> bool {
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or_default() == 0 {
        return false;
    }
    let Ok(length) = usize::from_str_radix(line.trim(), 16) else { return false };
    let start = body.len();
    body.resize(start + length, 0);
    reader.read_exact(&mut body[start..]).unwrap();
    let mut end = [0; 2];
    reader.read_exact(&mut end).unwrap();
    length > 0
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// Events, as they come.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
    buffer: Vec<u8>,
    is_over: bool,
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
                let text: Vec<u8> = self.buffer.drain(..end + 2).collect();
                match parse(&String::from_utf8(text).unwrap()) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            if self.is_over || !chunk(&mut self.reader, &mut self.buffer) {
                self.is_over = true;
                if !self.buffer.windows(2).any(|two| two == b"\n\n") {
                    return None;
                }
            }
        }
    }
}

fn parse(text: &str) -> Option<Event> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let data = field("data: ")?;
    Some(Event {
        id: field("id: ").map(str::to_owned),
        // An event without a name is a message.
        name: field("event: ").unwrap_or("message").to_owned(),
        data: serde_json::from_str(data).unwrap(),
    })
}

/// Sends a request from another address of this machine.
pub(crate) fn send_from(request: &Request, address: SocketAddr, from: std::net::Ipv4Addr) -> Response {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bytes = request.clone().header("connection", "close").bytes(address);
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((from, 0))).unwrap();
        socket.connect(address).await.unwrap()
    });
    let mut stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&bytes).unwrap();
    let response = read(&mut BufReader::new(stream));
    shapes::check(request, &response);
    response
}

/// A connection that is kept for many requests.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
    address: SocketAddr,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Self {
        Self { reader: BufReader::new(connect(address)), address }
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Response {
        self.reader.get_mut().write_all(&request.bytes(self.address)).unwrap();
        let response = read(&mut self.reader);
        shapes::check(request, &response);
        if response.header("connection") == Some("close") {
            *self = Self::open(self.address);
        }
        response
    }
}
