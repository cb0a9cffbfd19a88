//! A WebSocket client for one server: text messages both ways, on loopback.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use super::PATIENCE;

/// Larger messages than this are not what a test asked for.
const LONGEST: u64 = 256 << 20;

/// An open connection.
pub(super) struct Socket {
    stream: BufReader<TcpStream>,
}

impl Socket {
    /// Connects to a path of a server on loopback.
    pub(super) fn connect(port: u16, path: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let mut stream = BufReader::new(stream);
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: cmFtdXMgdGVzdGtpdCAwMQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        stream.read_line(&mut line)?;
        if !line.contains(" 101 ") {
            return Err(io::Error::other(format!("the browser answered {line:?}")));
        }
        while line.trim() != "" {
            line.clear();
            stream.read_line(&mut line)?;
        }
        Ok(Self { stream })
    }

    /// Sends a message.
    pub(super) fn send(&mut self, text: &str) -> io::Result<()> {
        let mut frame = vec![0x81];
        // Clients mask what they send; a mask of zeros leaves it as it is.
        match text.len() {
            len @ 0..=125 => frame.push(0x80 | len as u8),
            len @ 126..=65535 => {
                frame.push(0x80 | 126);
                frame.extend((len as u16).to_be_bytes());
            }
            len => {
                frame.push(0x80 | 127);
                frame.extend((len as u64).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.stream.get_mut().write_all(&frame)
    }

    /// Waits for the next message.
    pub(super) fn receive(&mut self) -> io::Result<String> {
        let mut message = Vec::new();
        loop {
            let mut head = [0; 2];
            self.stream.read_exact(&mut head)?;
            let [first, second] = head;
            let len = match second & 0x7f {
                126 => {
                    let mut len = [0; 2];
                    self.stream.read_exact(&mut len)?;
                    u64::from(u16::from_be_bytes(len))
                }
                127 => {
                    let mut len = [0; 8];
                    self.stream.read_exact(&mut len)?;
                    u64::from_be_bytes(len)
                }
                len => u64::from(len),
            };
            if len + message.len() as u64 > LONGEST {
                return Err(io::Error::other("the browser says too much at once"));
            }
            let mut payload = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
            self.stream.read_exact(&mut payload)?;
            match first & 0x0f {
                0 | 1 => message.extend(payload),
                8 => return Err(io::ErrorKind::ConnectionAborted.into()),
                // Nobody asks us whether we are there.
                _ => continue,
            }
            if first & 0x80 != 0 {
                return String::from_utf8(message).map_err(io::Error::other);
            }
        }
    }
}
