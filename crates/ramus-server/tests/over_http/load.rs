//! Many readers at once: everyone gets everything in order, those who do not read disturb nobody, and those who leave
//! leave nothing behind.
//!
//! What the figures may be is strict where the machine has nothing else to do (`cargo xtask soak --only server` sets the
//! variables that say so). Here they only have to be sane: two cores may be running other tests meanwhile.

use std::time::{Duration, Instant};

use ramus_server::Limits;
use serde_json::json;

use crate::crowd::{Crowd, Doing, Figures, Reading, allow};
use crate::http::PATIENCE;
use crate::world::{TWO_WORDS, World, message, result};

/// How much is done, or how much is allowed; longer runs set other numbers.
fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Has clients read, and lets them go.
fn read(world: &World, reading: Reading) -> Figures {
    let (crowd, figures) = Crowd::send(world, &world.session(), Doing::Read(reading));
    crowd.go();
    figures
}

#[test]
fn k1_a_thousand_readers_get_every_event_in_order() {
    let reading = Reading {
        readers: number("RAMUS_READERS", 1000),
        stalled: 0,
        rate: number("RAMUS_EVENTS_PER_SECOND", 20),
        seconds: number("RAMUS_SECONDS", 30),
        bytes: None,
    };
    if let Err(why) = allow(reading.readers) {
        println!("skipped: {why}");
        return;
    }
    let figures = read(&World::start(), reading);
    let Figures { deliveries, median, p99, longest, rate } = figures;
    println!(
        "{} readers, {rate:.1} events/s for {} s: {deliveries} deliveries, median {median:.1} ms, p99 {p99:.1} ms, \
         longest {longest:.1} ms",
        reading.readers, reading.seconds
    );
    // 150 ms when nothing else runs.
    let most = number("RAMUS_MOST_P99", 2000);
    assert!(p99 <= most as f64, "99 % of the events took up to {p99} ms, and may take {most}");
    let least = reading.rate as f64 * number("RAMUS_LEAST_RATE", 50) as f64 / 100.0;
    assert!(rate >= least, "{rate} events a second were caused instead of {}", reading.rate);
}

#[test]
fn k2_readers_that_do_not_read_are_cut_off_and_disturb_nobody() {
    let alone = Reading {
        readers: number("RAMUS_READERS", 200),
        stalled: 0,
        rate: 20,
        seconds: number("RAMUS_STALL_SECONDS", 3),
        bytes: Some(4096),
    };
    let disturbed = Reading { stalled: 100, ..alone };
    if let Err(why) = allow(disturbed.readers + disturbed.stalled) {
        println!("skipped: {why}");
        return;
    }
    // They are there while the others are measured, and not much longer.
    let limits = Limits { write: Duration::from_secs(disturbed.seconds as u64 + 6), ..Limits::default() };
    let world = World::with(TWO_WORDS, limits);
    let (mut best_alone, mut best_disturbed) = (f64::MAX, f64::MAX);
    for _ in 0..number("RAMUS_ROUNDS", 1) {
        best_alone = best_alone.min(read(&world, alone).p99);
        let session = world.session();
        // More than the system takes in for somebody who does not read.
        let backlog = json!({"entries": vec![result(8192); 1000]});
        assert_eq!(world.post(&format!("/api/v1/sessions/{session}/entries"), &backlog).status, 201);
        let open = open_files();
        let (crowd, figures) = Crowd::send(&world, &session, Doing::Read(disturbed));
        best_disturbed = best_disturbed.min(figures.p99);
        // The clients still hold those connections: it is the server that does not wait for them any longer.
        until(&world, "ramus_event_streams", 0);
        until_closed(open);
        crowd.go();
    }
    println!("p99 {best_alone:.1} ms without readers that do not read, {best_disturbed:.1} ms with 100 of them");
    // A fifth more when nothing else runs; one that waited for them would take a second more at the least.
    let most = best_alone * number("RAMUS_MOST_DISTURBED", 300) as f64 / 100.0 + number("RAMUS_SLACK", 200) as f64;
    assert!(best_disturbed <= most, "p99 was {best_alone} ms alone and {best_disturbed} ms with those who do not read");
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Leaves the processor to the server before it is looked at again: nothing tells when it has forgotten somebody.
#[allow(clippy::disallowed_methods, reason = "always in a loop that ends when what is waited for is there")]
fn pause() {
    std::thread::sleep(Duration::from_millis(5));
}

/// Waits until so few files are open. The clients are another process, so these are the server's.
fn until_closed(most: usize) {
    let started = Instant::now();
    // A few are opened for a moment by whatever is going on.
    while open_files() > most + 8 {
        assert!(started.elapsed() < PATIENCE, "{} files are open, and {most} were", open_files());
        pause();
    }
}

/// Waits until a counter of the server is as it should be.
fn until(world: &World, counter: &str, count: usize) {
    let started = Instant::now();
    loop {
        let metrics = String::from_utf8(world.get("/metrics").body).unwrap();
        if metrics.contains(&format!("\n{counter} {count}\n")) {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{metrics}");
        pause();
    }
}

/// What the process has in memory, in kilobytes.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn k3_readers_that_come_and_go_leave_nothing_behind() {
    let world = World::with(TWO_WORDS, Limits { heartbeat: Duration::from_millis(200), ..Limits::default() });
    let session = world.session();
    let cycle = |count: usize| {
        let (crowd, figures) = Crowd::send(&world, &session, Doing::ComeAndGo(count));
        crowd.go();
        until(&world, "ramus_event_streams", 0);
        figures.rate
    };
    // What is kept for whoever comes next is there after a while.
    cycle(1000);
    let (files, tasks, held) = (open_files(), world.tasks(), memory());
    let cycles = number("RAMUS_CYCLES", 2000);
    let rate = cycle(cycles);
    until_closed(files);
    let started = Instant::now();
    while world.tasks() > tasks {
        assert!(started.elapsed() < PATIENCE, "{tasks} tasks were there, and {} are", world.tasks());
        pause();
    }
    let now = memory();
    println!(
        "{cycles} came and went, {rate:.0} a second: {files} files open before and {} after, {tasks} tasks and {}, \
         {held} kB in memory and {now} kB",
        open_files(),
        world.tasks()
    );
    // What the allocator keeps for later comes and goes; what is kept for each would be more.
    assert!(now < held + (16 << 10), "{held} kB were in memory, and {now} kB are");
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
