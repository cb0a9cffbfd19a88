//! A server as a program: started, asked and ended. Both sides are measured through this, so that both are measured the same.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::bench::http::{self, Connection};

/// How a server is started, and what its routes are called.
pub(super) trait Program: Sync {
    /// The command that serves, at any port.
    fn command(&self) -> Command;

    /// The address that a printed line says it listens to.
    fn address(&self, line: &str) -> Option<String>;

    /// What every request must have.
    fn token(&self) -> Option<&str> {
        None
    }

    /// The route that says that the server is well.
    fn health(&self) -> &'static str;

    /// Makes a session and returns its id.
    fn create(&self, connection: &mut Connection, title: &str) -> Result<String>;

    /// Appends what a person said to a session, without any model.
    fn append(&self, connection: &mut Connection, session: &str, text: &str) -> Result<()>;

    /// The route that lists so many sessions, and the name of the list in its answer when that is not all of it.
    fn list(&self, sessions: usize) -> (String, Option<&'static str>);

    /// The route that reads so many messages of a session, and the name of the list likewise.
    fn messages(&self, session: &str, messages: usize) -> (String, Option<&'static str>);
}

/// A server that runs, and does not outlive its use.
pub(super) struct Running<'p> {
    program: &'p dyn Program,
    child: Child,
    address: String,
    /// From starting the process until it said that it is well, in milliseconds.
    pub(super) started: f64,
}

impl<'p> Running<'p> {
    /// Starts a server and waits until it is well.
    pub(super) fn start(program: &'p dyn Program) -> Result<Self> {
        let mut command = program.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut running = Self { program, child, address: String::new(), started: 0.0 };
        let found = stdout.lines().map_while(Result::ok).find_map(|line| program.address(&line));
        running.address = found.context("the server did not say where it listens")?;
        running.connect()?.get(program.health())?;
        running.started = start.elapsed().as_secs_f64() * 1_000.0;
        Ok(running)
    }

    pub(super) fn connect(&self) -> Result<Connection> {
        Connection::open(&self.address, self.program.token())
    }

    /// What the process has in memory, in megabytes.
    pub(super) fn memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).context("no /proc")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse().context("VmRSS is no number")?;
        Ok(kilobytes / 1024.0)
    }

    /// Appends one after the other for so long; returns how many a second.
    pub(super) fn appends(&self, session: &str, text: &str, lasting: Duration) -> Result<f64> {
        let mut connection = self.connect()?;
        let (start, mut count) = (Instant::now(), 0_u32);
        while start.elapsed() < lasting {
            self.program.append(&mut connection, session, text)?;
            count += 1;
        }
        Ok(f64::from(count) / start.elapsed().as_secs_f64())
    }

    /// Reads a route that answers with a list; returns how long it took, in milliseconds, and the bytes of the answer.
    pub(super) fn read(&self, (target, name): &(String, Option<&str>), expected: usize) -> Result<(f64, usize)> {
        let mut connection = self.connect()?;
        let start = Instant::now();
        let body = connection.get(target)?;
        let time = start.elapsed().as_secs_f64() * 1_000.0;
        let answer = http::json(&body)?;
        let list = name.map_or(Some(&answer), |name| answer.get(name));
        let found = list.and_then(|list| list.as_array()).map_or(0, Vec::len);
        ensure!(found == expected, "{target} answered with {found} of {expected}");
        Ok((time, body.len()))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // One that has ended already needs no ending.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
