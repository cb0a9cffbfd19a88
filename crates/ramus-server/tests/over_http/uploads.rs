//! Bundles that come in are kept on the disk: larger ones than any other body, and nothing stays of one that did not come whole.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use ramus_server::Limits;

use crate::http::{PATIENCE, Request, connect, raw};
use crate::world::{TWO_WORDS, World};

/// A bundle with a session of about so many bytes.
fn bundle(bytes: usize) -> (String, Vec<u8>) {
    let world = World::start();
    let session = world.session();
    let text = "x".repeat(100_000);
    world.append(&session, &vec![text.as_str(); bytes / text.len()]);
    let exported = world.get(&format!("/api/v1/sessions/{session}/export"));
    assert_eq!(exported.status, 200);
    (session, exported.body)
}

fn import(world: &World, body: &[u8]) -> Request {
    let mut request = world.request("POST", "/api/v1/import").header("content-type", "application/json");
    request.body = body.to_vec();
    request
}

/// The files beneath a directory that this process has open, with a name or without.
fn open_beneath(directory: &Path) -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let targets = links.filter_map(|link| std::fs::read_link(link.path()).ok());
    targets.filter(|target| target.starts_with(directory)).count()
}

#[test]
fn a_bundle_is_taken_in_however_long_that_takes() {
    let (session, large) = bundle(25_000_000);
    let world = World::with(TWO_WORDS, Limits { request: Duration::from_millis(150), ..Limits::default() });
    let taken = import(&world, &large).send(world.address);
    assert_eq!((taken.status, &taken.json()["imported"][0]["id"]), (200, &session.into()));
}

#[test]
fn k5_a_bundle_may_be_larger_than_other_bodies_and_not_larger_than_the_limit() {
    let (session, large) = bundle(2_000_000);
    let limits = Limits { body: 1 << 16, upload: large.len() as u64, ..Limits::default() };
    let world = World::with(TWO_WORDS, limits);
    let mut beyond = large.clone();
    beyond.push(b'\n');
    let refused = import(&world, &beyond).send(world.address);
    assert_eq!((refused.status, refused.kind().as_str()), (413, "invalid"));
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains(&large.len().to_string()));
    // One that does not say how long it is, and is longer.
    let head = format!(
        "POST /api/v1/import HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n",
        world.address,
        world.token,
        beyond.len()
    );
    let chunked = [head.as_bytes(), &beyond, b"\r\n0\r\n\r\n"].concat();
    assert_eq!(raw(world.address, &chunked).unwrap().status, 413);
    assert_eq!(world.get(&format!("/api/v1/sessions/{session}")).status, 404);
    let taken = import(&world, &large).send(world.address);
    assert_eq!((taken.status, &taken.json()["imported"][0]["id"]), (200, &session.into()));
    assert_eq!(open_beneath(&world.home.path().join("scratch")), 0);
}

#[test]
fn k5_nothing_stays_of_a_bundle_whose_sender_leaves() {
    let world = World::start();
    let scratch = world.home.path().join("scratch");
    let head = format!(
        "POST /api/v1/import HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 10000000\r\n\r\n",
        world.address, world.token
    );
    let mut stream = connect(world.address);
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&vec![b' '; 3_000_000]).unwrap();
    let until = std::time::Instant::now() + PATIENCE;
    while open_beneath(&scratch) == 0 {
        assert!(std::time::Instant::now() < until, "nothing was kept");
        std::thread::yield_now();
    }
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0, "what is kept has no name");
    drop(stream);
    while open_beneath(&scratch) > 0 {
        assert!(std::time::Instant::now() < until, "it is still kept");
        std::thread::yield_now();
    }
}

/// Lets time pass between two pieces of a body.
#[expect(clippy::disallowed_methods, reason = "that time passes is what is tested")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

#[test]
fn k5_a_bundle_may_take_its_time_as_long_as_something_comes() {
    let (session, body) = bundle(300_000);
    let limits = Limits { request: Duration::from_secs(1), ..Limits::default() };
    let world = World::with(TWO_WORDS, limits);
    let head = format!(
        "POST /api/v1/import HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        world.address,
        world.token,
        body.len()
    );
    let send = |pieces: usize| {
        let mut stream = connect(world.address);
        stream.write_all(head.as_bytes()).unwrap();
        for piece in body.chunks(body.len().div_ceil(6)).take(pieces) {
            stream.write_all(piece).unwrap();
            pause(Duration::from_millis(250));
        }
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        answer
    };
    assert!(send(6).starts_with("HTTP/1.1 200 "));
    assert_eq!(world.get(&format!("/api/v1/sessions/{session}")).status, 200);
    let late = send(3);
    assert!(late.starts_with("HTTP/1.1 503 ") && late.contains("nothing more of the bundle"), "{late}");
}
