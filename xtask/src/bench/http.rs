//! A client for measuring: one connection that is kept, one request at a time, nothing decoded that nobody looks at.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A connection to a server.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    /// What stands in every request, behind its first line.
    headers: String,
}

impl Connection {
    /// Connects; the token is for servers that ask for one.
    pub(super) fn open(address: &str, token: Option<&str>) -> Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("cannot reach {address}"))?;
        stream.set_nodelay(true)?;
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        Ok(Self { stream: BufReader::new(stream), headers: format!("Host: {address}\r\n{token}") })
    }

    /// Asks for something; returns the body of the answer, which must be a success.
    pub(super) fn get(&mut self, target: &str) -> Result<Vec<u8>> {
        write!(self.stream.get_mut(), "GET {target} HTTP/1.1\r\n{}\r\n", self.headers)?;
        self.answer().with_context(|| format!("GET {target}"))
    }

    /// Sends JSON; returns the body of the answer, which must be a success.
    pub(super) fn post(&mut self, target: &str, body: &str) -> Result<Vec<u8>> {
        let (headers, length) = (&self.headers, body.len());
        let request = format!(
            "POST {target} HTTP/1.1\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.answer().with_context(|| format!("POST {target}"))
    }

    fn answer(&mut self) -> Result<Vec<u8>> {
        let status = self.line()?;
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().context("a length that is no number")?;
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                is_chunked = value.trim().eq_ignore_ascii_case("chunked");
            }
        }
        let body = if is_chunked { self.chunks()? } else { self.bytes(length)? };
        let is_success = status.split(' ').nth(1).is_some_and(|code| code.starts_with('2'));
        ensure!(is_success, "{}: {}", status.trim_end(), String::from_utf8_lossy(&body));
        Ok(body)
    }

    fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let length = usize::from_str_radix(line.trim(), 16).context("a chunk without a length")?;
            body.extend(self.bytes(length)?);
            // Each is followed by the end of a line, the last one too.
            self.line()?;
            if length == 0 {
                return Ok(body);
            }
        }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        ensure!(self.stream.read_line(&mut line)? > 0, "the server closed the connection");
        Ok(line)
    }

    fn bytes(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Reads an answer.
pub(super) fn json(body: &[u8]) -> Result<Value> {
    serde_json::from_slice(body).context("an answer that is not JSON")
}
