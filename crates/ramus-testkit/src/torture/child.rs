//! The process under torture: it appends one entry after the other and acknowledges each on its stdout, until it is
//! stopped.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use ramus_store::planted::Bug;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::lines::Lines;
use super::pause;

/// How long a child that was started may take to do its first piece of work on a loaded machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Who appends.
#[derive(Clone, Debug)]
pub enum Program {
    /// The `ramus` binary: `ramus append SESSION --stream`, fed through a pipe.
    Ramus(PathBuf),
    /// The library, in `crashbox`, which makes its entries itself.
    Crashbox(PathBuf, Flushing),
}

/// When the library makes entries durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushing {
    /// Before they are acknowledged.
    Full,
    /// Every few entries, which are acknowledged together after that.
    Turn,
    /// When the system gets to it: that survives the process, not a power cut.
    Os,
}

impl Flushing {
    /// Returns the name that a command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Turn => "turn",
            Self::Os => "os",
        }
    }
}

/// What a child works on.
#[derive(Clone, Debug)]
pub struct Work {
    /// The home of ramus.
    pub home: PathBuf,
    /// The session.
    pub session: String,
    /// What is appended.
    pub lines: Lines,
    /// The number of the first entry that is appended.
    pub first: u64,
    /// A bug in the child.
    pub planted: Option<Bug>,
}

/// A running child.
pub struct Appender {
    child: Child,
    pid: Pid,
    acknowledgements: Receiver<String>,
    drained: Vec<String>,
    feeder: Option<JoinHandle<()>>,
    reader: Option<JoinHandle<()>>,
}

impl Program {
    /// Starts appending.
    pub fn start(&self, work: &Work) -> Result<Appender> {
        let mut command = match self {
            Self::Ramus(binary) => {
                let mut command = Command::new(binary);
                command.arg("--home").arg(&work.home).args(["append", &work.session, "--stream", "--json", "-"]);
                command
            }
            Self::Crashbox(binary, flushing) => {
                let mut command = Command::new(binary);
                let Lines { seed, sizes } = work.lines;
                command.arg("write").arg(&work.home).arg(&work.session).arg(seed.to_string());
                command.args([sizes.name(), &work.first.to_string(), flushing.name()]);
                command
            }
        };
        plant(&mut command, work.planted);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start the child")?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a child without a pid")?;
        let feeder = match self {
            Self::Ramus(_) => Some(feed(&mut child, work.lines, work.first)?),
            Self::Crashbox(..) => None,
        };
        let (sender, acknowledgements) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        // A line that the kill cut short is no acknowledgement, and neither is one that nobody can read.
        let reader = std::thread::spawn(move || {
            for line in stdout.split(b'\n').map_while(Result::ok) {
                let Some(id) = id_of(&line) else { return };
                if sender.send(id).is_err() {
                    return;
                }
            }
        });
        Ok(Appender { child, pid, acknowledgements, drained: Vec::new(), feeder, reader: Some(reader) })
    }
}

impl Appender {
    /// Waits for the next acknowledgement.
    pub fn wait(&mut self) -> Result<()> {
        match self.acknowledgements.recv_timeout(PATIENCE) {
            Ok(id) => self.drained.push(id),
            Err(RecvTimeoutError::Timeout) => bail!("the child acknowledged nothing in {PATIENCE:?}"),
            Err(RecvTimeoutError::Disconnected) => bail!("the child ended: {}", self.complaint()),
        }
        Ok(())
    }

    /// Collects acknowledgements for a while.
    pub fn collect(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Ok(id) = self.acknowledgements.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.drained.push(id);
        }
    }

    /// Returns what was acknowledged so far.
    pub fn so_far(&mut self) -> Vec<String> {
        self.drained.extend(self.acknowledgements.try_iter());
        self.drained.clone()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(self.pid, signal).context("cannot signal the child")
    }

    /// Ends the child with a signal and returns everything that it acknowledged, in order.
    pub fn end(mut self, signal: Signal) -> Result<Vec<String>> {
        let start = Instant::now();
        self.signal(signal)?;
        // Whoever runs the driver may have told its children to ignore signals that a person sends.
        while self.child.try_wait().context("cannot wait for the child")?.is_none() {
            if start.elapsed() > PATIENCE {
                bail!("the child ignores {signal:?}: was the driver started with it ignored?");
            }
            pause(Duration::from_micros(100));
        }
        let status = self.wait_for_end()?;
        let took = start.elapsed();
        ensure!(took < Duration::from_secs(2), "it took the child {took:?} to end");
        use std::os::unix::process::ExitStatusExt as _;
        if status.signal() != Some(signal.as_raw()) {
            bail!("the child ended by itself ({status}): {}", self.complaint());
        }
        self.drained.extend(self.acknowledgements.iter());
        Ok(std::mem::take(&mut self.drained))
    }

    fn wait_for_end(&mut self) -> Result<ExitStatus> {
        let status = self.child.wait().context("cannot wait for the child")?;
        for thread in [self.feeder.take(), self.reader.take()].into_iter().flatten() {
            ensure!(thread.join().is_ok(), "a thread of the driver died");
        }
        Ok(status)
    }

    /// What an ended child said on stderr.
    fn complaint(&mut self) -> String {
        let mut said = Vec::new();
        if let Some(stderr) = &mut self.child.stderr {
            // What cannot be read is not said.
            let _ = std::io::Read::read_to_end(stderr, &mut said);
        }
        String::from_utf8_lossy(&said).trim().to_owned()
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        // Only a driver that failed leaves a child behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Plants a bug in a command, or makes sure that there is none.
pub(super) fn plant(command: &mut Command, planted: Option<Bug>) {
    match planted {
        Some(bug) => command.env("RAMUS_PLANTED_BUG", format!("{bug:?}")),
        None => command.env_remove("RAMUS_PLANTED_BUG"),
    };
}

/// Sends entries until nobody reads them.
fn feed(child: &mut Child, lines: Lines, first: u64) -> Result<JoinHandle<()>> {
    let mut stdin = child.stdin.take().context("no stdin")?;
    Ok(std::thread::spawn(move || {
        for number in first.. {
            let mut line = lines.entry(number);
            line.push(b'\n');
            if stdin.write_all(&line).is_err() {
                return;
            }
        }
    }))
}

fn id_of(line: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(line).ok()?;
    Some(value.get("id")?.as_str()?.to_owned())
}
