//! Many clients at once, in a process of their own: what they cost is not the server's, and what the server holds is not
//! theirs.

mod clients;
mod positions;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::world::World;

/// Where the process of the clients finds what it is to do.
const ORDER: &str = "RAMUS_CROWD";

/// What the line with the figures begins with.
const FIGURES: &str = "figures: ";

/// Files that a process has open beside its connections.
const BESIDE: u64 = 256;

/// What clients do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Doing {
    /// Read the events of a session while one of them appends to it.
    Read(Reading),
    /// Come, and leave again at any moment, so many times.
    ComeAndGo(usize),
}

/// Readers, and what happens while they read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(crate) readers: usize,
    /// Connections that ask for the events and never read them.
    pub(crate) stalled: usize,
    /// How many events there are a second, and for how many seconds.
    pub(crate) rate: usize,
    pub(crate) seconds: usize,
    /// How long an event is; none for one that only tells that an entry was appended.
    pub(crate) bytes: Option<usize>,
}

/// What the clients saw.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// How many events came in, by all readers together. None was missing, out of order or there twice.
    pub(crate) deliveries: usize,
    /// From before an append was asked for until the event was there, in milliseconds.
    pub(crate) median: f64,
    pub(crate) p99: f64,
    pub(crate) longest: f64,
    /// How many appends there were a second.
    pub(crate) rate: f64,
}

/// What the process of the clients is told.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    address: std::net::SocketAddr,
    token: String,
    session: String,
    doing: Doing,
}

/// Clients that have done what they were told, and hold the connections that they never read from.
pub(crate) struct Crowd {
    child: Child,
    /// Closed to send them home.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Crowd {
    /// Has clients do something, and returns when it is done.
    pub(crate) fn send(world: &World, session: &str, doing: Doing) -> (Self, Figures) {
        let order = Order { address: world.address, token: world.token.clone(), session: session.to_owned(), doing };
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crowd::clients::of_other_tests", "--ignored", "--nocapture", "--test-threads", "1"]);
        command.env(ORDER, serde_json::to_string(&order).unwrap()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut crowd = Self { child, stdin, stdout };
        let figures = crowd.figures();
        (crowd, figures)
    }

    fn figures(&mut self) -> Figures {
        let mut said = String::new();
        for line in (&mut self.stdout).lines().map_while(Result::ok) {
            // The name of the test may stand before it.
            if let Some((_, figures)) = line.split_once(FIGURES) {
                return serde_json::from_str(figures).unwrap();
            }
            said.push_str(&line);
            said.push('\n');
        }
        panic!("the clients failed:\n{said}");
    }

    /// Has the clients close what they hold.
    pub(crate) fn go(mut self) {
        self.leave();
    }

    fn leave(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Lets this process, and those it starts, have so many connections; says why when that is not allowed.
pub(crate) fn allow(connections: usize) -> Result<(), String> {
    let needed = connections as u64 + BESIDE;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if limit.maximum.is_some_and(|maximum| maximum < needed) {
        return Err(format!("{needed} open files are needed, and {:?} are allowed", limit.maximum));
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum }).map_err(|e| e.to_string())
}
