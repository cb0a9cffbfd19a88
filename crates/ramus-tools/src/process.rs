//! Processes: one command in a group of its own, waited for by its exit and not by its output, and gone with everything it
//! started when the call is over.

mod companion;
mod family;
mod output;

pub(crate) use companion::Companion;
pub use companion::Start;
pub use output::Captured;

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use ramus_witness::{Reach, Witness};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until};

use crate::cancel::Cancel;
use family::Family;
use output::Capture;

/// How long a group has between being asked to end and being ended.
const GRACE: Duration = Duration::from_millis(500);

/// How long output is still read after the command has ended.
const DRAIN: Duration = Duration::from_millis(100);

/// The variable that marks every process of a call, so that those that left the group are found.
pub const MARK: &str = "RAMUS_CALL";

/// A command to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Where it runs.
    pub directory: PathBuf,
    /// All of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// How long it may take.
    pub timeout: Duration,
    /// How much of its output is kept to show, in bytes.
    pub shown: usize,
    /// How much of its output is kept at all, in bytes.
    pub kept: u64,
    /// Where output that is too long to show is kept; in a file without a name.
    pub spill: PathBuf,
    /// Whether the program is a helper that submits to a witness through its standard input.
    pub submits: bool,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    Exited(ExitStatus),
    /// It took too long.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// What came of a command.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// What it wrote.
    pub output: Captured,
    /// How many processes were still there when it ended, and were ended too.
    pub left_behind: usize,
    /// What it can have changed beneath its directory; none when nobody looked on, or not all was seen.
    pub reach: Option<Reach>,
}

/// Ends the group of a child when nobody waits for it any more, on whatever way out.
struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.0 {
            // A group that is gone already needs no signal.
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Draws a mark that no other process has.
fn mark() -> String {
    let hasher = RandomState::new();
    format!("{:016x}{:016x}", hasher.hash_one(1), hasher.hash_one(2))
}

/// Runs a command to its end.
pub async fn run(job: &Job, cancel: &Cancel) -> io::Result<Finished> {
    let mark = mark();
    let mut capture = Capture::new(job.shown, job.kept, job.spill.clone());
    let (mut child, mut pipe, witness) = spawn(job, &mark)?;
    let group = Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
    let family = Family::new(&mark, group.0);
    let mut buffer = vec![0; 64 << 10];
    let deadline = Instant::now() + job.timeout;
    let mut open = true;
    let ending = loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => break Ending::Cancelled,
            () = sleep_until(deadline) => break Ending::TimedOut,
            status = child.wait() => break Ending::Exited(status?),
            read = pipe.read(&mut buffer), if open => match read? {
                0 => open = false,
                count => capture.push(buffer.get(..count).unwrap_or_default())?,
            },
        }
    };
    // Who belongs to the command is known best while it still runs.
    let mut members = family.members();
    if !matches!(ending, Ending::Exited(_)) {
        end(&group, &mut child, &mut pipe, &mut buffer, &mut capture).await?;
    }
    group.signal(Signal::KILL);
    let left_behind = family.end(&mut members).await;
    drain(&mut pipe, &mut buffer, &mut capture, Instant::now() + DRAIN).await?;
    let reach = witness.and_then(|witness| witness.seen());
    Ok(Finished { ending, output: capture.finish()?, left_behind, reach })
}

fn spawn(job: &Job, mark: &str) -> io::Result<(Child, Receiver, Option<Witness>)> {
    let (reader, writer) = io::pipe()?;
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "there is no program to run");
    let (program, arguments) = job.words.split_first().ok_or_else(missing)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&job.directory)
        .env_clear()
        .envs(job.environment.iter().cloned())
        .env(MARK, mark);
    let mut witness = None;
    command.stdin(Stdio::null());
    if job.submits {
        let (ours, theirs) = UnixStream::pair()?;
        witness = Some(Witness::begin(ours, &job.directory.canonicalize()?)?);
        command.stdin(OwnedFd::from(theirs));
    }
    command.stdout(writer.try_clone()?).stderr(writer).process_group(0).kill_on_drop(true);
    let child = command.spawn()?;
    // The command holds the writing ends; with them open, the pipe would never end, nor the witness.
    drop(command);
    Ok((child, Receiver::from_owned_fd(reader.into())?, witness))
}

/// Asks a group to end, and reads on while it does.
async fn end(
    group: &Group,
    child: &mut Child,
    pipe: &mut Receiver,
    buffer: &mut [u8],
    capture: &mut Capture,
) -> io::Result<()> {
    group.signal(Signal::TERM);
    let deadline = Instant::now() + GRACE;
    let mut open = true;
    loop {
        tokio::select! {
            _ = child.wait() => return Ok(()),
            () = sleep_until(deadline) => break,
            read = pipe.read(buffer), if open => match read? {
                0 => open = false,
                count => capture.push(buffer.get(..count).unwrap_or_default())?,
            },
        }
    }
    group.signal(Signal::KILL);
    child.wait().await.map(drop)
}

/// Reads what is left in a pipe, until it ends or the time is up.
async fn drain(pipe: &mut Receiver, buffer: &mut [u8], capture: &mut Capture, deadline: Instant) -> io::Result<()> {
    loop {
        tokio::select! {
            biased;
            () = sleep_until(deadline) => return Ok(()),
            read = pipe.read(buffer) => match read? {
                0 => return Ok(()),
                count => capture.push(buffer.get(..count).unwrap_or_default())?,
            },
        }
    }
}
