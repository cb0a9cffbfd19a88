//! HTTP/1.1 as much as agents speak it: requests of a known length or in chunks, plain or compressed.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// The longest body. Agents send their whole history, and some of them their whole system prompt.
const MOST: u64 = 256 << 20;

pub(super) struct Request {
    pub(super) method: String,
    target: String,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Returns the path without the query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

pub(super) struct Connection {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
    is_open: bool,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::new(stream.try_clone()?), writer: stream, is_open: true })
    }

    /// Reads the next request; none when there are no more.
    pub(super) fn request(&mut self) -> io::Result<Option<Request>> {
        let mut first = String::new();
        if !self.is_open || self.reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut words = first.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut head = Head::default();
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            head.take(&name.to_ascii_lowercase(), value.trim());
        }
        if head.expects {
            self.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let body = if head.is_chunked { self.chunks()? } else { self.exactly(head.length)? };
        let body = if head.is_compressed { expand(&body)? } else { body };
        Ok(Some(Request { method, target, body }))
    }

    fn exactly(&mut self, length: u64) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        (&mut self.reader).take(length.min(MOST)).read_to_end(&mut body)?;
        Ok(body)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut size = String::new();
            self.reader.read_line(&mut size)?;
            let size = u64::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            body.extend(self.exactly(size)?);
            self.reader.read_line(&mut String::new())?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    /// Answers at once.
    pub(super) fn whole(&mut self, value: &Value) -> io::Result<()> {
        let text = value.to_string();
        let length = text.len();
        write!(
            self.writer,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{text}"
        )
    }

    /// Answers with events, which end with the connection.
    pub(super) fn stream(&mut self, events: &str) -> io::Result<()> {
        self.is_open = false;
        write!(self.writer, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}")?;
        self.writer.shutdown(std::net::Shutdown::Write)
    }
}

#[derive(Default)]
struct Head {
    length: u64,
    is_chunked: bool,
    is_compressed: bool,
    expects: bool,
}

impl Head {
    fn take(&mut self, name: &str, value: &str) {
        match name {
            "content-length" => self.length = value.parse().unwrap_or_default(),
            "transfer-encoding" => self.is_chunked = value.eq_ignore_ascii_case("chunked"),
            "content-encoding" => self.is_compressed = value.eq_ignore_ascii_case("zstd"),
            "expect" => self.expects = true,
            _ => {}
        }
    }
}

fn expand(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(bytes).map_err(io::Error::other)?;
    let mut body = Vec::new();
    decoder.read_to_end(&mut body)?;
    Ok(body)
}
