//! A process that runs beside a turn and is talked to. Like a command it has a group of its own, carries a mark, and is gone
//! with everything it started when it is let go of.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::family::Family;
use super::{GRACE, Group, MARK, mark};

/// How much of what it complains about is kept.
const KEPT: usize = 2 << 10;

/// A process to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Where it runs.
    pub directory: PathBuf,
    /// All of its environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// A process that runs.
pub(crate) struct Companion {
    child: Child,
    group: Group,
    family: Family,
    complaints: Arc<Mutex<Vec<u8>>>,
    listening: JoinHandle<()>,
}

impl Companion {
    /// Starts a process, and returns the ends through which it is talked to.
    pub(crate) fn start(start: &Start) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let missing = || io::Error::new(io::ErrorKind::InvalidInput, "there is no program to run");
        let (program, arguments) = start.words.split_first().ok_or_else(missing)?;
        let mark = mark();
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&start.directory).env_clear();
        command.envs(start.environment.iter().cloned()).env(MARK, &mark);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
        let group = Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
        let family = Family::new(&mark, group.0);
        let complaints = Arc::default();
        let closed = || io::Error::other("it cannot be talked to");
        let (output, input) = (child.stdout.take().ok_or_else(closed)?, child.stdin.take().ok_or_else(closed)?);
        let listening = tokio::spawn(listen(child.stderr.take().ok_or_else(closed)?, Arc::clone(&complaints)));
        Ok((Self { child, group, family, complaints, listening }, output, input))
    }

    /// Asks it to end, and ends it when it does not. Returns the last line of what it complained about.
    pub(crate) async fn end(mut self) -> Option<String> {
        let mut members = self.family.members();
        self.group.signal(Signal::TERM);
        // Whether it went by itself does not matter: what is left is ended next.
        let _ = timeout(GRACE, self.child.wait()).await;
        self.group.signal(Signal::KILL);
        let _ = self.child.wait().await;
        self.family.end(&mut members).await;
        // Who still holds the other end was not found; it is not waited for.
        let _ = timeout(GRACE, &mut self.listening).await;
        let complaints = self.complaints.lock().ok()?;
        let text = String::from_utf8_lossy(&complaints);
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// Reads on, so that nobody waits for us, and keeps the end.
async fn listen(mut from: ChildStderr, into: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = vec![0; KEPT];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let Ok(mut kept) = into.lock() else { return };
        kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
}
