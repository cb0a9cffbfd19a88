//! The clients themselves.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use super::positions::{Positions, Told};
use super::{Doing, FIGURES, Figures, ORDER, Order, Reading};
use crate::http::{Connection, PATIENCE, Request};
use crate::world::{message, result};

/// How much the system keeps for a connection that is never read from.
const LITTLE: u32 = 4096;

/// For how long nothing is said when nothing more will be.
const QUIET: Duration = Duration::from_millis(500);

/// How many come and go at the same time.
const AT_ONCE: usize = 8;

#[test]
#[ignore = "what other tests start in a process of its own"]
fn of_other_tests() {
    let Ok(order) = std::env::var(ORDER) else {
        println!("nobody says what to do");
        return;
    };
    let order: Order = serde_json::from_str(&order).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (figures, held) = match order.doing {
        Doing::Read(reading) => runtime.block_on(read(&order, reading)),
        Doing::ComeAndGo(count) => (runtime.block_on(come_and_go(&order, count)), Vec::new()),
    };
    println!("{FIGURES}{}", serde_json::to_string(&figures).unwrap());
    // Until whoever started this has seen enough.
    let _ = std::io::stdin().read(&mut [0]);
    drop(held);
}

/// Asks for the events to come, with more headers.
fn request(order: &Order, more: &str) -> String {
    let Order { address, token, session, .. } = order;
    format!(
        "GET /api/v1/sessions/{session}/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n{more}\r\n"
    )
}

/// What the readers of one session share.
struct Room {
    started: Instant,
    /// When each event was caused, in microseconds after the start.
    caused: Vec<AtomicU64>,
    /// How many readers have seen where the stream starts.
    present: AtomicUsize,
    all_present: Notify,
    readers: usize,
}

async fn read(order: &Order, reading: Reading) -> (Figures, Vec<TcpStream>) {
    let events = reading.rate * reading.seconds;
    let room = Arc::new(Room {
        started: Instant::now(),
        caused: (0..events).map(|_| AtomicU64::new(0)).collect(),
        present: AtomicUsize::new(0),
        all_present: Notify::new(),
        readers: reading.readers,
    });
    let mut stalled = Vec::new();
    for _ in 0..reading.stalled {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(LITTLE).unwrap();
        let mut stream = socket.connect(order.address).await.unwrap();
        // From the beginning: what nobody takes soon fills everything in between.
        stream.write_all(request(order, "last-event-id: 0\r\n").as_bytes()).await.unwrap();
        stalled.push(stream);
    }
    if !stalled.is_empty() {
        until_quiet(order).await;
    }
    let first = length(order) + 1;
    let mut readers = JoinSet::new();
    for _ in 0..reading.readers {
        let mut stream = TcpStream::connect(order.address).await.unwrap();
        stream.write_all(request(order, "").as_bytes()).await.unwrap();
        readers.spawn(follow(stream, Arc::clone(&room), first));
    }
    let waited = tokio::time::timeout(PATIENCE, room.all_present.notified()).await;
    waited.unwrap_or_else(|_| panic!("only {} readers were let in", room.present.load(Ordering::Acquire)));
    let writer = {
        let room = Arc::clone(&room);
        let mut pen = Pen::new(order, &reading);
        std::thread::spawn(move || pen.write(&room, &reading, first))
    };
    let mut delays = Vec::with_capacity(events * reading.readers);
    while let Some(seen) = readers.join_next().await {
        delays.extend(seen.unwrap());
    }
    let rate = writer.join().unwrap();
    delays.sort_unstable();
    let at = |part: usize| f64::from(delays[(delays.len() - 1) * part / 100]) / 1000.0;
    assert_eq!(delays.len(), events * reading.readers);
    (Figures { deliveries: delays.len(), median: at(50), p99: at(99), longest: at(100), rate }, stalled)
}

/// Waits until the server has nothing more to say to those who do not listen: what they were sent before they were stuck is
/// work like any other, and not what is measured.
async fn until_quiet(order: &Order) {
    let (started, mut told) = (Instant::now(), None);
    loop {
        let asked = Request::new("GET", "/metrics").header("authorization", &format!("Bearer {}", order.token));
        let metrics = String::from_utf8(asked.send(order.address).body).unwrap();
        let events = metrics.lines().find_map(|line| line.strip_prefix("ramus_events_sent_total ")).unwrap().to_owned();
        if told.replace(events.clone()) == Some(events) {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "the server goes on talking");
        tokio::time::sleep(QUIET).await;
    }
}

/// How many entries the session has.
fn length(order: &Order) -> u64 {
    let answer = asking(order, "GET", "").send(order.address);
    assert_eq!(answer.status, 200);
    answer.header("etag").unwrap().trim_matches('"').parse().unwrap()
}

fn asking(order: &Order, method: &str, below: &str) -> Request {
    let target = format!("/api/v1/sessions/{}{below}", order.session);
    Request::new(method, &target).header("authorization", &format!("Bearer {}", order.token))
}

/// Reads every event; returns how long each took, in microseconds.
async fn follow(mut stream: TcpStream, room: Arc<Room>, first: u64) -> Vec<u32> {
    let (mut positions, mut delays) = (Positions::default(), Vec::with_capacity(room.caused.len()));
    let mut buffer = vec![0; 1 << 14];
    while delays.len() < room.caused.len() {
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await;
        let count = read.unwrap_or_else(|_| panic!("only {} events came", delays.len())).unwrap();
        assert!(count > 0, "the stream ended after {} events", delays.len());
        let now = u64::try_from(room.started.elapsed().as_micros()).unwrap();
        positions.look(&buffer[..count], |told| match told {
            Told::Open => {
                if room.present.fetch_add(1, Ordering::AcqRel) + 1 == room.readers {
                    room.all_present.notify_one();
                }
            }
            Told::Entry(position) => {
                assert_eq!(position, first + delays.len() as u64, "an event is missing, or out of order");
                let caused = room.caused[delays.len()].load(Ordering::Acquire);
                delays.push(u32::try_from(now.saturating_sub(caused)).unwrap());
            }
        });
    }
    delays
}

/// Appends, at a steady rate.
struct Pen {
    connection: Connection,
    request: Request,
}

impl Pen {
    fn new(order: &Order, reading: &Reading) -> Self {
        let entry = reading.bytes.map_or_else(|| message("tick"), result);
        let request = asking(order, "POST", "/entries").json(&json!({"entries": [entry]}));
        Self { connection: Connection::open(order.address), request }
    }

    /// Returns how many appends there were a second.
    fn write(&mut self, room: &Room, reading: &Reading, first: u64) -> f64 {
        let begun = Instant::now();
        let mut positions = first..;
        for (at, caused) in (0_u32..).zip(&room.caused) {
            let due = Duration::from_secs(1) * at / u32::try_from(reading.rate).unwrap();
            #[allow(clippy::disallowed_methods, reason = "a steady rate is made of waiting")]
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
            caused.store(u64::try_from(room.started.elapsed().as_micros()).unwrap(), Ordering::Release);
            let answer = self.connection.ask(&self.request);
            assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
            assert_eq!(answer.json()["position"].as_u64(), positions.next());
        }
        // The last one has its share of the time too.
        let lasting = begun.elapsed().max(Duration::from_secs(reading.seconds as u64));
        room.caused.len() as f64 / lasting.as_secs_f64()
    }
}

/// Opens connections and leaves them: before, while and after something is asked, and when the answer has begun.
async fn come_and_go(order: &Order, count: usize) -> Figures {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let (started, mut going) = (Instant::now(), JoinSet::new());
    for at in 0..count {
        let place = Arc::clone(&places).acquire_owned().await.unwrap();
        let (address, request) = (order.address, request(order, ""));
        going.spawn(async move {
            let _place = place;
            let mut stream = TcpStream::connect(address).await.unwrap();
            let part = match at % 4 {
                0 => 0,
                1 => request.len() / 2,
                _ => request.len(),
            };
            stream.write_all(&request.as_bytes()[..part]).await.unwrap();
            if at % 4 == 3 {
                let _ = stream.read(&mut [0; 64]).await;
            }
            // Most are cut off: those that close as they should keep a port busy for a minute.
            if at % 16 != 3 {
                stream.set_zero_linger().unwrap();
            }
        });
        while going.try_join_next().is_some_and(|gone| gone.map_or_else(|error| panic!("{error}"), |()| true)) {}
    }
    while let Some(gone) = going.join_next().await {
        gone.unwrap();
    }
    Figures { deliveries: count, rate: count as f64 / started.elapsed().as_secs_f64(), ..Figures::default() }
}
