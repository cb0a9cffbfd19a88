//! HTTP/1.1, as much of it as clients of models use, and byte by byte, so that a fault can be put anywhere.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// The most bytes of a head.
const MOST_HEAD: usize = 64 * 1024;

/// The most bytes of a body.
const MOST_BODY: usize = 64 * 1024 * 1024;

/// A request.
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    /// Names are in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Returns a header by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the path without the query.
    pub(super) fn path(&self) -> &str {
        self.target.split_once('?').map_or(self.target.as_str(), |(path, _)| path)
    }

    /// Returns a value of the query.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Returns whether the client wants the connection closed after the answer.
    pub(super) fn closes(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// The side of a connection that the client writes to.
pub(super) struct Inbox {
    reader: OwnedReadHalf,
    buffer: Vec<u8>,
}

impl Inbox {
    pub(super) fn new(reader: OwnedReadHalf) -> Self {
        Self { reader, buffer: Vec::new() }
    }

    /// Reads the next request; none when the client has closed the connection.
    pub(super) async fn request(&mut self, writer: &mut OwnedWriteHalf) -> io::Result<Option<Request>> {
        let Some(head) = self.head().await? else {
            return Ok(None);
        };
        let head = String::from_utf8(head).map_err(|_| malformed("the head is not UTF-8"))?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some("HTTP/1.1")) = (words.next(), words.next(), words.next()) else {
            return Err(malformed("the first line is not one of HTTP/1.1"));
        };
        let headers = lines
            .filter(|line| !line.is_empty())
            .map(|line| line.split_once(':').ok_or_else(|| malformed("a header has no colon")))
            .map(|pair| pair.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())))
            .collect::<io::Result<_>>()?;
        let mut request = Request { method: method.to_owned(), target: target.to_owned(), headers, body: Vec::new() };
        if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        request.body = self.body(&request).await?;
        Ok(Some(request))
    }

    /// Waits until the client closes the connection. What it sends meanwhile is kept.
    pub(super) async fn closed(&mut self) {
        while self.buffer.len() <= MOST_BODY && self.more().await.is_ok() {}
    }

    async fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = self.take(end);
                self.take(4);
                return Ok(Some(head));
            }
            if self.buffer.len() > MOST_HEAD {
                return Err(malformed("the head is too long"));
            }
            match self.more().await {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && self.buffer.is_empty() => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn body(&mut self, request: &Request) -> io::Result<Vec<u8>> {
        if request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            return self.chunks().await;
        }
        match request.header("content-length") {
            None => Ok(Vec::new()),
            Some(length) => {
                let length = length.parse().map_err(|_| malformed("the length is not a number"))?;
                self.exactly(length).await
            }
        }
    }

    async fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line().await?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(|_| malformed("the size of a chunk is not a number"))?;
            if body.len() + size > MOST_BODY {
                return Err(malformed("the body is too long"));
            }
            body.extend(self.exactly(size).await?);
            self.line().await?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    async fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|window| window == b"\r\n") {
                let line = self.take(end);
                self.take(2);
                return String::from_utf8(line).map_err(|_| malformed("a line is not UTF-8"));
            }
            if self.buffer.len() > MOST_HEAD {
                return Err(malformed("a line is too long"));
            }
            self.more().await?;
        }
    }

    async fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        if length > MOST_BODY {
            return Err(malformed("the body is too long"));
        }
        while self.buffer.len() < length {
            self.more().await?;
        }
        Ok(self.take(length))
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.reader.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(length.min(self.buffer.len()));
        std::mem::replace(&mut self.buffer, rest)
    }
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Returns the first lines of an answer; `length` is of its body, or none when it comes in chunks.
pub(super) fn head(status: u16, content_type: &str, length: Option<usize>, headers: &[(&str, String)]) -> String {
    let framing = length.map_or("transfer-encoding: chunked".to_owned(), |length| format!("content-length: {length}"));
    let extra: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status} {}\r\ncontent-type: {content_type}\r\n{framing}\r\n{extra}\r\n", reason(status))
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        503 => "Service Unavailable",
        529 => "Site is overloaded",
        _ => "Internal Server Error",
    }
}
