//! Puts load on a server that runs, and says how it bore it: appends by one client and by many, lists, and many readers of
//! events.
//!
//! `cargo run --release --example load -- 127.0.0.1:7347 TOKEN`
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, reason = "a measurement may fail loudly")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// A connection that is kept.
struct Client {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    token: Arc<str>,
}

impl Client {
    async fn open(address: SocketAddr, token: &Arc<str>) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), address, token: Arc::clone(token) }
    }

    async fn ask(&mut self, method: &str, target: &str, body: Option<&Value>) -> (u16, Vec<u8>) {
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        self.stream.write_all(head.as_bytes()).await.unwrap();
        let (status, length) = self.head().await;
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).await.unwrap();
        (status, answer)
    }

    async fn head(&mut self) -> (u16, usize) {
        let (mut status, mut length, mut line) = (0, 0, String::new());
        loop {
            line.clear();
            self.stream.read_line(&mut line).await.unwrap();
            let text = line.trim_end();
            if text.is_empty() {
                return (status, length);
            }
            if let Some(rest) = text.strip_prefix("HTTP/1.1 ") {
                status = rest[..3].parse().unwrap();
            }
            if let Some(value) = text.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
        }
    }

    async fn session(&mut self) -> String {
        let (status, made) = self.ask("POST", "/api/v1/sessions", Some(&json!({"cwd": "/tmp"}))).await;
        assert_eq!(status, 201);
        let made: Value = serde_json::from_slice(&made).unwrap();
        made["session"]["id"].as_str().unwrap().to_owned()
    }
}

fn batch(text: &str) -> Value {
    json!({"entries": [{"type": "message", "message": {"role": "user", "content": text}}]})
}

async fn appends(address: SocketAddr, token: &Arc<str>, clients: usize, lasting: Duration) {
    let session = Client::open(address, token).await.session().await;
    let (written, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let started = Instant::now();
    let tasks: Vec<_> = (0..clients)
        .map(|client| {
            let (token, session) = (Arc::clone(token), session.clone());
            let (written, is_over) = (Arc::clone(&written), Arc::clone(&is_over));
            tokio::spawn(async move {
                let mut connection = Client::open(address, &token).await;
                let target = format!("/api/v1/sessions/{session}/entries");
                while !is_over.load(Ordering::Relaxed) {
                    let (status, _) = connection.ask("POST", &target, Some(&batch(&format!("from {client}")))).await;
                    assert_eq!(status, 201);
                    written.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    tokio::time::sleep(lasting).await;
    is_over.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    let rate = written.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64();
    println!("{clients} clients: {rate:.0} appends/s");
}

async fn lists(address: SocketAddr, token: &Arc<str>, sessions: usize) {
    let mut client = Client::open(address, token).await;
    for _ in 0..sessions {
        client.session().await;
    }
    let target = format!("/api/v1/sessions?drafts=true&limit={sessions}");
    let mut times = Vec::new();
    for _ in 0..20 {
        let started = Instant::now();
        let (status, answer) = client.ask("GET", &target, None).await;
        times.push(started.elapsed());
        assert_eq!(status, 200);
        assert!(answer.len() > sessions * 100);
    }
    times.sort();
    println!("list of {sessions} sessions: median {:?}, slowest {:?}", times[times.len() / 2], times[times.len() - 1]);
}

async fn readers(address: SocketAddr, token: &Arc<str>, readers: usize, rate: u32, lasting: Duration) {
    let mut client = Client::open(address, token).await;
    let session = client.session().await;
    let start = Instant::now();
    let sent: Arc<Vec<AtomicU64>> = Arc::new((0..100_000).map(|_| AtomicU64::new(0)).collect());
    let total = u64::from(rate) * lasting.as_secs();
    let tasks: Vec<_> = (0..readers)
        .map(|_| {
            let (token, session, sent) = (Arc::clone(token), session.clone(), Arc::clone(&sent));
            tokio::spawn(async move {
                let mut reader = Client::open(address, &token).await;
                let head = format!(
                    "GET /api/v1/sessions/{session}/events?after=0 HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n"
                );
                reader.stream.write_all(head.as_bytes()).await.unwrap();
                reader.head().await;
                let (mut times, mut line, mut next) = (Vec::new(), String::new(), 1_u64);
                while next <= total {
                    line.clear();
                    assert_ne!(reader.stream.read_line(&mut line).await.unwrap(), 0, "ended at {next}");
                    let is_entry = line.starts_with("id: ");
                    if let Some(id) = line.trim_end().strip_prefix("id: ").filter(|_| is_entry) {
                        let id: u64 = id.parse().unwrap();
                        if id == 0 {
                            continue;
                        }
                        assert_eq!(id, next, "a gap or a duplicate");
                        let at = sent[usize::try_from(id).unwrap()].load(Ordering::Acquire);
                        let now = u64::try_from(start.elapsed().as_micros()).unwrap();
                        times.push(now.saturating_sub(at));
                        next += 1;
                    }
                }
                times
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let target = format!("/api/v1/sessions/{session}/entries");
    let mut clock = tokio::time::interval(Duration::from_secs(1) / rate);
    for seq in 1..=total {
        clock.tick().await;
        // From before the append is asked for, so the disk counts too.
        let now = u64::try_from(start.elapsed().as_micros()).unwrap();
        sent[usize::try_from(seq).unwrap()].store(now, Ordering::Release);
        let (status, _) = client.ask("POST", &target, Some(&batch("tick"))).await;
        assert_eq!(status, 201);
    }
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.unwrap());
    }
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize] as f64 / 1000.0;
    println!(
        "{readers} readers x {rate} events/s for {lasting:?}: {} deliveries, no gap, median {:.1} ms, p99 {:.1} ms, slowest {:.1} ms",
        times.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

#[tokio::main]
async fn main() {
    let mut words = std::env::args().skip(1);
    let address: SocketAddr = words.next().unwrap().parse().unwrap();
    let token: Arc<str> = words.next().unwrap().into();
    let seconds = Duration::from_secs(words.next().map_or(10, |text| text.parse().unwrap()));
    appends(address, &token, 1, seconds).await;
    appends(address, &token, 64, seconds).await;
    lists(address, &token, 1000).await;
    readers(address, &token, 1000, 20, seconds).await;
}
