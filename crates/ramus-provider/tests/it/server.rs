//! A server of a few lines that does to a connection whatever a test wants.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// What the server does with a connection, after it has read the request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends this body as a stream of events, chunk by chunk.
    Events(Vec<Vec<u8>>),
    /// Sends the JSON that belongs to the path that was asked for, or 404.
    Route(Vec<(&'static str, String)>),
    /// Sends the end of a chunked body.
    End,
    /// Sends nothing, and waits for the client to go.
    Wait,
    /// Breaks the connection.
    Reset,
}

/// A server on loopback. It ends with the test.
pub(crate) struct Server {
    pub(crate) base: String,
    connections: Arc<AtomicUsize>,
    requests: mpsc::UnboundedReceiver<String>,
    closed: mpsc::UnboundedReceiver<()>,
}

impl Server {
    pub(crate) async fn new(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let (tell_request, requests) = mpsc::unbounded_channel();
        let (tell_closed, closed) = mpsc::unbounded_channel();
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (acts, tell_request, tell_closed) = (acts.clone(), tell_request.clone(), tell_closed.clone());
                tokio::spawn(async move { serve(connection, acts, tell_request, tell_closed).await });
            }
        });
        Self { base, connections, requests, closed }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The next request, headers and body.
    pub(crate) async fn request(&mut self) -> String {
        self.requests.recv().await.unwrap()
    }

    /// A request that came already.
    pub(crate) fn requests_now(&mut self) -> Option<String> {
        self.requests.try_recv().ok()
    }

    /// Waits until a client has gone.
    pub(crate) async fn gone(&mut self) {
        self.closed.recv().await.unwrap();
    }
}

async fn serve(
    mut connection: TcpStream,
    acts: Vec<Act>,
    tell_request: mpsc::UnboundedSender<String>,
    tell_closed: mpsc::UnboundedSender<()>,
) {
    while let Some(request) = read_request(&mut connection).await {
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        let _ = tell_request.send(request);
        for act in &acts {
            match act {
                Act::Send(bytes) => drop(connection.write_all(bytes).await),
                Act::Events(chunks) => {
                    let head =
                        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
                    let _ = connection.write_all(head.as_bytes()).await;
                    for chunk in chunks {
                        let framed = [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat();
                        let _ = connection.write_all(&framed).await;
                        let _ = connection.flush().await;
                        tokio::task::yield_now().await;
                    }
                }
                Act::Route(routes) => {
                    let found = routes.iter().find(|(known, _)| *known == path);
                    let (status, body) = found.map_or(("404 No", ""), |(_, body)| ("200 OK", body.as_str()));
                    let head =
                        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
                    let _ = connection.write_all([head.as_bytes(), body.as_bytes()].concat().as_slice()).await;
                }
                Act::End => drop(connection.write_all(b"0\r\n\r\n").await),
                Act::Wait => {
                    let mut rest = Vec::new();
                    let _ = connection.read_to_end(&mut rest).await;
                    let _ = tell_closed.send(());
                    return;
                }
                Act::Reset => {
                    let _ = connection.set_zero_linger();
                    return;
                }
            }
        }
        if !acts.iter().any(|act| matches!(act, Act::End)) {
            return;
        }
    }
}

async fn read_request(connection: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some(text.into_owned());
            }
        }
        let mut chunk = [0; 65_536];
        match connection.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}

/// A whole answer with a status.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    vec![Act::Send(
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}")
            .into_bytes(),
    )]
}
