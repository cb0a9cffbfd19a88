//! Other programs: run to see them, run for their output, or run with a hard limit on time.
//!
//! A program that outlives its limit is killed with SIGKILL: some of the programs we compare with ignore anything less.

use std::io::{Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// What a program that ended by itself left behind.
pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// How a limited run ended.
pub(crate) enum Ended {
    Itself(Output),
    Killed,
}

/// Runs a program with its output visible. An unsuccessful end is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", name(command)))?;
    ensure!(status.success(), "{} failed ({status})", name(command));
    Ok(())
}

/// Runs a program for what it prints. An unsuccessful end is an error that carries its complaint.
pub(crate) fn stdout(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", name(command)))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} failed ({}): {}", name(command), output.status, complaint.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a program without input for at most `limit`.
pub(crate) fn within(limit: Duration, command: &mut Command) -> Result<Ended> {
    // A file, because a program that exits in a hurry loses what it has not yet pushed through a pipe.
    let mut stdout = tempfile::tempfile().context("cannot create a temporary file")?;
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot start {}", name(command)))?;
    let stderr = match collect(child.stderr.take()).recv_timeout(limit) {
        Ok(text) => text,
        Err(RecvTimeoutError::Timeout) => {
            child.kill().context("cannot kill a program that hangs")?;
            child.wait()?;
            return Ok(Ended::Killed);
        }
        Err(RecvTimeoutError::Disconnected) => bail!("lost the output of {}", name(command)),
    };
    let status = child.wait()?;
    let mut bytes = Vec::new();
    stdout.rewind()?;
    stdout.read_to_end(&mut bytes)?;
    Ok(Ended::Itself(Output { status, stdout: String::from_utf8_lossy(&bytes).into_owned(), stderr }))
}

/// Reads a pipe to its end in a thread of its own.
fn collect(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A pipe that breaks has delivered what it had.
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// The command as a person would type it, without the path of its program.
fn name(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_program_that_hangs_is_killed() {
        let start = Instant::now();
        let ended = within(Duration::from_millis(200), Command::new("sleep").arg("60")).unwrap();
        assert!(matches!(ended, Ended::Killed));
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_program_that_ends_delivers_everything() {
        let mut command = Command::new("sh");
        command.args(["-c", "head -c 300000 /dev/zero; echo no >&2; exit 3"]);
        let Ended::Itself(output) = within(Duration::from_secs(30), &mut command).unwrap() else { panic!("killed") };
        assert_eq!((output.status.code(), output.stdout.len(), output.stderr.as_str()), (Some(3), 300_000, "no\n"));
    }
}
