//! Many readers at once: everyone gets everything in order, those who do not read disturb nobody, and those who leave
//! leave nothing behind.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use ramus_server::Limits;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::PATIENCE;
use crate::world::{TWO_WORDS, World, message};

/// How many readers there are, and how many seconds something happens; longer runs set other numbers.
fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A reader of events that counts positions.
struct Reader {
    stream: TcpStream,
    text: String,
    seen: Vec<u64>,
    delays: Vec<Duration>,
}

impl Reader {
    async fn open(address: SocketAddr, token: &str, session: &str, after: u64) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "GET /api/v1/sessions/{session}/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             last-event-id: {after}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        Self { stream, text: String::new(), seen: Vec::new(), delays: Vec::new() }
    }

    /// Reads until the entry at a position was told.
    async fn until(mut self, last: u64, started: Instant) -> Self {
        let mut buffer = vec![0; 1 << 14];
        while self.seen.last() != Some(&last) {
            let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut buffer)).await;
            let count = read.unwrap_or_else(|_| panic!("only {:?} of {last} came", self.seen.last())).unwrap();
            assert!(count > 0, "the stream ended at {:?} of {last}", self.seen.last());
            self.text.push_str(&String::from_utf8_lossy(&buffer[..count]));
            self.take(started);
        }
        self
    }

    fn take(&mut self, started: Instant) {
        while let Some(end) = self.text.find("\n\n") {
            let event: String = self.text.drain(..end + 2).collect();
            assert!(!event.contains("event: dropped"), "{event}");
            if event.contains("event: entry.appended") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
                let told: Value = serde_json::from_str(data).unwrap();
                self.seen.push(told["seq"].as_u64().unwrap());
                self.delays.push(started.elapsed());
            }
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

#[test]
fn k1_a_thousand_readers_get_every_event_in_order() {
    let world = World::start();
    let session = world.session();
    let (readers, rate) = (number("RAMUS_READERS", 1000), number("RAMUS_EVENTS_PER_SECOND", 20));
    let events = (number("RAMUS_SECONDS", 3) * rate) as u64;
    let runtime = runtime();
    let (address, token) = (world.address, world.token.clone());
    let started = Instant::now();
    let reading = runtime.block_on(async {
        let mut reading = Vec::new();
        for _ in 0..readers {
            let reader = Reader::open(address, &token, &session, 1).await;
            reading.push(tokio::spawn(reader.until(1 + events, started)));
        }
        reading
    });
    let begun = started.elapsed();
    let mut told = Vec::new();
    for at in 0..events {
        let due = begun + Duration::from_secs(1) * u32::try_from(at).unwrap() / u32::try_from(rate).unwrap();
        runtime.block_on(async { tokio::time::sleep(due.saturating_sub(started.elapsed())).await });
        told.push(started.elapsed());
        world.append(&session, &["tick"]);
    }
    let seen: Vec<Reader> = runtime.block_on(async {
        let mut seen = Vec::new();
        for reader in reading {
            seen.push(reader.await.unwrap());
        }
        seen
    });
    let expected: Vec<u64> = (2..=1 + events).collect();
    let mut delays = Vec::new();
    for reader in &seen {
        assert_eq!(reader.seen, expected);
        delays.extend(reader.delays.iter().zip(&told).map(|(seen, told)| seen.saturating_sub(*told)));
    }
    delays.sort_unstable();
    let at = |part: usize| delays[(delays.len() - 1) * part / 100];
    // For whoever measures; how long it takes is not judged here.
    println!("{readers} readers, {events} events: p50 {:?}, p99 {:?}, longest {:?}", at(50), at(99), at(100));
}

#[test]
fn k2_readers_that_do_not_read_are_dropped_and_disturb_nobody() {
    let limits = Limits { events: 64, ..Limits::default() };
    let world = World::with(TWO_WORDS, limits);
    let session = world.session();
    let runtime = runtime();
    let (address, token) = (world.address, world.token.clone());
    let (entries, batches) = (20_u64, 40_u64);
    let (stalled, healthy) = runtime.block_on(async {
        let mut stalled = Vec::new();
        for _ in 0..100 {
            stalled.push(Reader::open(address, &token, &session, 1).await);
        }
        (stalled, Reader::open(address, &token, &session, 1).await)
    });
    let mut healthy = healthy;
    // What tools said comes along with their events, so what nobody reads fills the connection.
    let text = "x".repeat(4096);
    let result = json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "c", "toolName": "t",
        "content": [{"type": "text", "text": text}], "isError": false}});
    for at in 1..=batches {
        let batch = json!({"entries": vec![result.clone(); usize::try_from(entries).unwrap()]});
        let answer = world.post(&format!("/api/v1/sessions/{session}/entries"), &batch);
        assert_eq!(answer.status, 201);
        // Whoever reads has each batch before the next one comes; the others have the first few at most.
        healthy = runtime.block_on(healthy.until(1 + entries * at, Instant::now()));
    }
    assert_eq!(healthy.seen.len() as u64, entries * batches);
    drop((stalled, healthy));
    until_streams(&world, 0);
}

/// Waits until so many readers are left.
fn until_streams(world: &World, count: usize) {
    let started = Instant::now();
    loop {
        let metrics = String::from_utf8(world.get("/metrics").body).unwrap();
        if metrics.contains(&format!("\nramus_event_streams {count}\n")) {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{metrics}");
        std::thread::yield_now();
    }
}

#[test]
fn k3_readers_that_come_and_go_leave_nothing_behind() {
    let world = World::with(TWO_WORDS, Limits { heartbeat: Duration::from_millis(200), ..Limits::default() });
    let session = world.session();
    let runtime = runtime();
    let open_files = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let cycle = |count: usize| {
        runtime.block_on(async {
            for _ in 0..count {
                // Gone before, while, or after it is answered.
                drop(Reader::open(world.address, &world.token, &session, 0).await);
            }
        });
        until_streams(&world, 0);
    };
    cycle(50);
    let before = open_files();
    cycle(number("RAMUS_CYCLES", 1000));
    let started = Instant::now();
    while open_files() > before + 8 {
        assert!(started.elapsed() < PATIENCE, "{} files were open and {} are", before, open_files());
        world.get("/health");
    }
    world.append(&session, &["still there"]);
}

#[test]
fn many_clients_append_together_and_nothing_is_lost_or_told_twice() {
    let world = World::start();
    let (clients, each) = (64, 10);
    let sessions: Vec<String> = (0..2).map(|_| world.session()).collect();
    std::thread::scope(|scope| {
        for client in 0..clients {
            let (world, session) = (&world, &sessions[client % sessions.len()]);
            scope.spawn(move || {
                let mut connection = crate::http::Connection::open(world.address);
                let mut last = 0;
                for at in 0..each {
                    let body = json!({"entries": [message(&format!("{client} {at}"))]});
                    let request = world.request("POST", &format!("/api/v1/sessions/{session}/entries")).json(&body);
                    let answer = connection.ask(&request);
                    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
                    let seq = answer.json()["entries"][0]["seq"].as_u64().unwrap();
                    assert!(seq > last);
                    last = seq;
                }
            });
        }
    });
    for session in &sessions {
        let page = world.read(&format!("/api/v1/sessions/{session}/entries?limit=1000"));
        let mut said: Vec<String> = page["entries"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|entry| entry["entry"]["message"]["content"].as_str().map(str::to_owned))
            .collect();
        let count = said.len();
        said.sort();
        said.dedup();
        assert_eq!((count, said.len()), (clients / 2 * each, clients / 2 * each));
    }
}
