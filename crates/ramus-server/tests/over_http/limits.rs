//! Nobody can make the server work, wait or hold more than it should.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use ramus_server::Limits;
use serde_json::json;

use crate::http::{PATIENCE, Request, connect, raw};
use crate::world::World;

#[test]
fn k5_large_bodies_and_many_headers_are_refused() {
    let world = World::with(crate::world::TWO_WORDS, Limits { body: 1 << 16, ..Limits::default() });
    let session = world.session();
    let text = "x".repeat(1 << 17);
    let large = json!({"entries": [crate::world::message(&text)]});
    let response = world.post(&format!("/api/v1/sessions/{session}/entries"), &large);
    assert_eq!((response.status, response.kind().as_str()), (413, "invalid"));
    let mut many = world.request("GET", "/api/v1/sessions");
    for at in 0..1000 {
        many = many.header(&format!("x-{at}"), "1");
    }
    assert_eq!(many.send(world.address).status, 431);
    let host = format!("host: {}\r\n", world.address);
    for nonsense in [
        "GARBAGE\r\n\r\n".to_owned(),
        format!("GET /health HTTP/9.9\r\n{host}\r\n"),
        format!(
            "POST /login HTTP/1.1\r\n{host}transfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\nzz\r\n"
        ),
        format!("POST /login HTTP/1.1\r\n{host}content-length: 5\r\ncontent-length: 6\r\n\r\nhello"),
    ] {
        if let Some(response) = raw(world.address, nonsense.as_bytes()) {
            assert!((400..500).contains(&response.status), "{nonsense:?}: {}", response.status);
        }
    }
    assert_eq!(Request::new("GET", "/health").send(world.address).status, 200);
}

#[test]
fn k5_a_head_that_does_not_come_in_is_not_waited_for() {
    let world = World::with(crate::world::TWO_WORDS, Limits { head: Duration::from_millis(200), ..Limits::default() });
    let mut slow = connect(world.address);
    slow.write_all(b"GET /health HTTP/1.1\r\nhost: ").unwrap();
    let mut rest = Vec::new();
    // Closed, perhaps with a word about it, long before we lose patience.
    slow.read_to_end(&mut rest).unwrap();
    assert!(!String::from_utf8_lossy(&rest).contains(" 200 "));
}

#[test]
fn a_connection_that_must_wait_is_answered_when_another_ends() {
    let world = World::with(crate::world::TWO_WORDS, Limits { connections: 2, ..Limits::default() });
    let session = world.session();
    let held: Vec<_> = (0..2)
        .map(|_| world.request("GET", &format!("/api/v1/sessions/{session}/events")).events(world.address))
        .collect();
    let address = world.address;
    let waiting = std::thread::spawn(move || Request::new("GET", "/health").send(address).status);
    drop(held);
    assert_eq!(waiting.join().unwrap(), 200);
}

#[test]
fn one_address_does_not_have_every_connection() {
    let world = World::with(crate::world::TWO_WORDS, Limits { peer: 2, ..Limits::default() });
    // A connection that was answered, and stays.
    let hold = || {
        let mut stream = connect(world.address);
        let head = format!("GET /health HTTP/1.1\r\nhost: {}\r\n\r\n", world.address);
        let mut status = [0; 12];
        stream.write_all(head.as_bytes()).and_then(|()| stream.read_exact(&mut status)).ok()?;
        (&status == b"HTTP/1.1 200").then_some(stream)
    };
    let held = [until(hold), until(hold)];
    assert!(hold().is_none());
    let other = std::net::Ipv4Addr::new(127, 0, 0, 5);
    assert_eq!(crate::http::send_from(&Request::new("GET", "/health"), world.address, other).status, 200);
    drop(held);
    until(hold);
}

/// Tries until something comes of it: that a connection has ended is noticed a moment later.
fn until<T>(attempt: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        match attempt() {
            Some(came) => return came,
            None => assert!(began.elapsed() < PATIENCE),
        }
        std::thread::yield_now();
    }
}

#[test]
fn who_has_shown_no_token_is_not_listened_to_for_long() {
    let world = World::start();
    let long = json!({"token": "x".repeat(5000)});
    let refused = Request::new("POST", "/login").json(&long).send(world.address);
    assert_eq!((refused.status, refused.kind().as_str()), (413, "invalid"));
    // So many guesses at once that they are answered much later.
    let guess = Request::new("POST", "/login").json(&json!({"token": "wrong-wrong-wrong-wrong"}));
    let guesses: Vec<_> = (0..100)
        .map(|_| {
            let mut stream = connect(world.address);
            stream.write_all(&guess.bytes(world.address)).unwrap();
            stream
        })
        .collect();
    // Then guesses are refused, and who knows the token comes in all the same.
    until(|| (guess.send(world.address).status == 429).then_some(()));
    let unknown = Request::new("GET", "/api/v1/sessions").header("authorization", "Bearer wrong-wrong-wrong-wrong");
    assert!([401, 429].contains(&unknown.send(world.address).status));
    assert_eq!(world.get("/api/v1/sessions").status, 200);
    assert_eq!(Request::new("POST", "/login").json(&json!({"token": world.token})).send(world.address).status, 204);
    drop(guesses);
}

#[test]
fn k2_a_reader_that_does_not_read_is_dropped_and_goes_on_where_it_was() {
    let world = World::with(crate::world::TWO_WORDS, Limits { events: 16, ..Limits::default() });
    let session = world.session();
    let request = world.request("GET", &format!("/api/v1/sessions/{session}/events"));
    let stalled = request.header("last-event-id", "0").events(world.address);
    // Fills every buffer between the server and the reader, and then its queue.
    let texts: Vec<String> = (0..1000).map(|at| at.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut last = 0;
    for _ in 0..60 {
        last = *world.append(&session, &texts).last().unwrap();
    }
    let mut seen = Vec::new();
    let mut was_dropped = false;
    for event in stalled {
        match event.name.as_str() {
            "entry.appended" => seen.push(event.data["seq"].as_u64().unwrap()),
            "dropped" => was_dropped = true,
            _ => {}
        }
        if seen.last() == Some(&last) {
            break;
        }
    }
    assert!(seen.windows(2).all(|two| two[1] == two[0] + 1));
    let got = *seen.last().unwrap();
    assert!(was_dropped || got == last, "neither dropped nor complete at {got} of {last}");
    if got < last {
        let request = world.request("GET", &format!("/api/v1/sessions/{session}/events"));
        let again = request.header("last-event-id", &got.to_string()).events(world.address);
        let rest = again.filter(|event| event.name == "entry.appended").take((last - got) as usize);
        let rest: Vec<u64> = rest.map(|event| event.data["seq"].as_u64().unwrap()).collect();
        assert_eq!(rest, (got + 1..=last).collect::<Vec<_>>());
    }
}

/// Asks for something on a connection that holds next to nothing.
fn ask_narrowly(world: &World, target: &str) -> std::net::TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(world.address).await.unwrap()
    });
    let mut stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (host, token) = (world.address, &world.token);
    let head =
        format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nlast-event-id: 0\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Does not read for a while. Nothing tells that the other end let go: looking would be reading.
#[expect(clippy::disallowed_methods, reason = "that time passes is what is tested")]
fn stay_silent(time: Duration) {
    std::thread::sleep(time);
}

#[test]
fn k2_a_reader_that_never_reads_is_cut_and_nothing_is_kept_for_it() {
    let limits = Limits { write: Duration::from_millis(500), ..Limits::default() };
    let world = World::with(crate::world::TWO_WORDS, limits);
    // More than everything between the server and a reader can hold.
    let session = world.session();
    let text = "x".repeat(450_000);
    world.append(&session, &[text.as_str(); 20]);
    for _ in 0..24 {
        world.append(&session, &["short"; 1000]);
    }
    let events = format!("/api/v1/sessions/{session}/events");
    let export = format!("/api/v1/sessions/{session}/export?to=pi");
    let whole = 20 * text.len();
    let mut stalled = [ask_narrowly(&world, &events), ask_narrowly(&world, &export)];
    // Nobody reads, and the server lets go of them all the same.
    let started = std::time::Instant::now();
    let mut was_there = false;
    loop {
        let text = String::from_utf8(world.get("/metrics").body).unwrap();
        was_there |= text.contains("ramus_event_streams 1\n");
        if was_there && text.contains("ramus_event_streams 0\n") {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{text}");
        std::thread::yield_now();
    }
    stay_silent(4 * limits.write);
    let mut read = stalled.iter_mut().map(|stream| {
        let (mut got, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
        // Closed or reset, in the middle of what was said.
        while let Ok(read @ 1..) = stream.read(&mut buffer) {
            got.extend_from_slice(&buffer[..read]);
        }
        got
    });
    let (events, export) = (read.next().unwrap(), read.next().unwrap());
    assert!(!String::from_utf8_lossy(&events).contains("id: 24021\n"), "all of it came");
    assert!(!export.is_empty() && export.len() < whole, "{} of {whole}", export.len());
}

#[test]
fn exports_that_nobody_takes_keep_nobody_from_working() {
    let limits = Limits { work: 2, exports: 1, ..Limits::default() };
    let world = World::with(crate::world::TWO_WORDS, limits);
    let session = world.session();
    let text = "x".repeat(450_000);
    world.append(&session, &[text.as_str(); 40]);
    for to in ["json", "html"] {
        let target = format!("/api/v1/sessions/{session}/export?to={to}");
        let mut stalled: Vec<_> = (0..4).map(|_| ask_narrowly(&world, &target)).collect();
        // The first one has begun, so it waits for whoever takes it.
        let mut some = [0; 64];
        assert!(stalled[0].read(&mut some).unwrap() > 0);
        stay_silent(Duration::from_millis(300));
        for _ in 0..8 {
            let started = std::time::Instant::now();
            assert_eq!(world.get(&format!("/api/v1/sessions/{session}/entries?limit=1")).status, 200);
            assert!(started.elapsed() < Duration::from_secs(20), "{to}");
        }
    }
}

#[test]
fn an_export_that_is_taken_too_slowly_breaks_off_and_makes_room() {
    let limits = Limits { exports: 1, pace: u64::MAX, request: Duration::from_secs(3), ..Limits::default() };
    let world = World::with(crate::world::TWO_WORDS, limits);
    let session = world.session();
    let text = "x".repeat(450_000);
    world.append(&session, &[text.as_str(); 40]);
    let target = format!("/api/v1/sessions/{session}/export?to=json");
    let mut stalled = ask_narrowly(&world, &target);
    stay_silent(2 * limits.request);
    // Another one is made meanwhile, though there is room for one only.
    let other = world.get(&target);
    assert!(other.status == 200 && other.body.len() > 40 * text.len());
    let (mut got, mut buffer) = (0, vec![0; 1 << 16]);
    while let Ok(read @ 1..) = stalled.read(&mut buffer) {
        got += read;
    }
    assert!(got < 40 * text.len(), "{got}");
}

#[test]
fn k6_a_stream_with_nothing_to_say_shows_that_it_is_there() {
    let limits = Limits { heartbeat: Duration::from_millis(50), ..Limits::default() };
    let world = World::with(crate::world::TWO_WORDS, limits);
    let session = world.session();
    let events = world.request("GET", &format!("/api/v1/sessions/{session}/events")).events(world.address);
    let beats = events.skip(1).take(3).filter(|event| event.name == "heartbeat").count();
    assert_eq!(beats, 3);
    assert!(PATIENCE > limits.heartbeat);
    let metrics = world.get("/metrics");
    let text = String::from_utf8(metrics.body).unwrap();
    assert!(text.contains("ramus_http_answers_total{class=\"2xx\"}"), "{text}");
    let before = counted(&world, "ramus_entries_appended_total");
    world.post(&format!("/api/v1/sessions/{session}/messages"), &serde_json::json!({"text": "hello"}));
    assert_eq!(counted(&world, "ramus_entries_appended_total"), before + 1);
}

/// What the server counted.
fn counted(world: &World, name: &str) -> u64 {
    let text = String::from_utf8(world.get("/metrics").body).unwrap();
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    found.unwrap_or_else(|| panic!("{name}: {text}"))
}

/// Every file of this name beneath a directory.
fn named(directory: &std::path::Path, name: &str) -> Vec<std::path::PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|known| known == name) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn who_waits_for_its_own_workspace_keeps_nobody_from_working() {
    let world = World::with(crate::world::TWO_WORDS, Limits { work: 4, ..Limits::default() });
    assert_eq!(world.post("/api/session/boot", &json!({})).status, 200);
    // Somebody else has what snapshots are kept in, so that none can be taken for a while.
    let locks: Vec<std::fs::File> = named(&world.home.path().join("snapshots"), "lock")
        .iter()
        .map(|path| {
            let file = std::fs::File::options().write(true).open(path).unwrap();
            rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
            file
        })
        .collect();
    assert!(!locks.is_empty());
    std::thread::scope(|scope| {
        let take = || world.post("/api/session/workspace/snapshots", &json!({})).status;
        let waiting: Vec<_> = (0..16).map(|_| scope.spawn(take)).collect();
        until(|| (counted(&world, "ramus_working_requests") > 0).then_some(()));
        for target in ["/api/session/info", "/api/session/boot", "/api/session/workspace/snapshots", "/api/v1/sessions"]
        {
            assert_eq!(world.get(target).status, 200, "{target}");
        }
        let other = world.post("/api/session/boot?client_id=other", &json!({}));
        assert_eq!(other.status, 200);
        drop(locks);
        assert!(waiting.into_iter().all(|waiting| waiting.join().unwrap() == 200));
    });
}
