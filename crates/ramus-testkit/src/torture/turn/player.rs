//! `ramus run` as a child: what it tells, and when.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use ramus_store::planted::Bug;
use serde_json::Value;

use super::judge::Scene;
use crate::model_server::{ModelServer, Plan, Reply};
use crate::torture::child::{PATIENCE, plant};
use crate::torture::pause;

/// A turn that runs, and the model it talks to.
pub(super) struct Player {
    child: Child,
    server: ModelServer,
    reader: Option<JoinHandle<Vec<(Instant, Value)>>>,
}

/// What a turn told.
pub(super) struct Seen {
    /// The events, and when they came.
    pub(super) lines: Vec<(Instant, Value)>,
    /// Why the turn ended, if it did.
    pub(super) end: Option<String>,
    /// When nothing more could come.
    pub(super) until: Instant,
}

impl Seen {
    /// The entries that were told of.
    pub(super) fn entries(&self) -> Vec<&str> {
        let appended = self
            .lines
            .iter()
            .filter(|(_, event)| event.pointer("/type").is_some_and(|value| value == "entry.appended"));
        appended.filter_map(|(_, event)| event.pointer("/entry").and_then(Value::as_str)).collect()
    }

    /// Says whether there was an event of that name which is as wanted.
    pub(super) fn has(&self, name: &str, wanted: impl Fn(&Value) -> bool) -> bool {
        self.lines.iter().any(|(_, event)| event.pointer("/type").is_some_and(|value| value == name) && wanted(event))
    }

    /// The words that were shown before `moment`.
    pub(super) fn words(&self, moment: Instant) -> Vec<String> {
        let text: String = self
            .lines
            .iter()
            .filter(|(when, event)| {
                *when < moment && event.pointer("/type").is_some_and(|value| value == "message.delta")
            })
            .filter_map(|(_, event)| event.pointer("/text").and_then(Value::as_str))
            .collect();
        text.split_whitespace().map(str::to_owned).collect()
    }
}

impl Player {
    pub(super) fn start(scene: &Scene, replies: &[Reply], prompt: &str, planted: Option<Bug>) -> Result<Self> {
        let server = ModelServer::start(Plan::of(replies.iter().cloned()))?;
        let mut command = scene.command(&server);
        command.args(["run", prompt, "-s", &scene.session, "--model", scene.model(), "--thinking", "low", "--json"]);
        command.args(["--permission", "all=allow"]);
        plant(&mut command, planted);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start a turn")?;
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        let reader = std::thread::spawn(move || {
            let lines = stdout.split(b'\n').map_while(Result::ok);
            // A line that the kill cut short was not told.
            lines.map_while(|line| Some((Instant::now(), serde_json::from_slice(&line).ok()?))).collect()
        });
        Ok(Self { child, server, reader: Some(reader) })
    }

    /// Ends the process after a while, if it is still there.
    pub(super) fn kill_after(mut self, time: Duration) -> Result<Seen> {
        super::wait(time);
        self.child.kill().context("cannot kill the turn")?;
        let until = Instant::now();
        self.child.wait().context("cannot wait for the turn")?;
        self.collect(until)
    }

    /// Waits for the end of the turn.
    pub(super) fn finish(mut self) -> Result<Seen> {
        let start = Instant::now();
        while self.child.try_wait().context("cannot wait for the turn")?.is_none() {
            if start.elapsed() > PATIENCE {
                bail!("the turn does not end");
            }
            pause(Duration::from_millis(2));
        }
        let seen = self.collect(Instant::now())?;
        if seen.end.is_none() {
            let mut complaint = String::new();
            self.child.stderr.take().context("no stderr")?.read_to_string(&mut complaint)?;
            bail!("it failed: {}", complaint.trim());
        }
        Ok(seen)
    }

    fn collect(&mut self, until: Instant) -> Result<Seen> {
        let reader = self.reader.take().context("read twice")?;
        let lines = reader.join().map_err(|_| anyhow!("a thread of the driver died"))?;
        let illegal = self.server.illegal();
        ensure!(illegal.is_empty(), "the model does not accept the history: {illegal:?}");
        let last = lines.last().filter(|(_, event)| event.pointer("/type").is_some_and(|value| value == "turn_end"));
        let end =
            last.and_then(|(_, event)| event.pointer("/finish_reason").and_then(Value::as_str)).map(str::to_owned);
        Ok(Seen { lines, end, until })
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // Only a driver that failed leaves a child behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
