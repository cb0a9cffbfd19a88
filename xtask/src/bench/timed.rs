//! Whole processes against the clock: from starting one until it has ended, and the processor time it took.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// Ticks of the processor times in `/proc`; the same on every Linux that people run.
const TICKS_PER_SECOND: f64 = 100.0;

/// How long the runs of a program took, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    pub(super) minimum: f64,
    pub(super) median: f64,
    /// Processor time of one run, on average: the system counts in ticks, which only many runs make exact.
    pub(super) processor: f64,
}

/// Runs a program so many times, after one run that does not count. Returns the times and what the last run printed.
pub(super) fn repeat(times: usize, mut command: impl FnMut() -> Command) -> Result<(Timed, Vec<u8>)> {
    let (mut stdout, _) = once(&mut command())?;
    let before = processor()?;
    let mut walls = Vec::with_capacity(times);
    for _ in 0..times {
        let (printed, wall) = once(&mut command())?;
        stdout = printed;
        walls.push(wall.as_secs_f64() * 1_000.0);
    }
    let processor = (processor()? - before) * 1_000.0 / times.max(1) as f64;
    walls.sort_by(f64::total_cmp);
    let minimum = walls.first().copied().context("a program must run at least once")?;
    let median = walls.get(walls.len() / 2).copied().unwrap_or(minimum);
    Ok((Timed { minimum, median, processor }, stdout))
}

fn once(command: &mut Command) -> Result<(Vec<u8>, Duration)> {
    // Files, because a program that exits in a hurry loses what it has not yet pushed through a pipe.
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    let wall = start.elapsed();
    let said = content(&mut stderr)?;
    ensure!(status.success(), "{command:?} failed ({status}): {}", String::from_utf8_lossy(&said).trim());
    Ok((content(&mut stdout)?, wall))
}

fn content(file: &mut File) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Processor time of all children that have ended, in seconds.
fn processor() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    // The name in brackets may hold spaces; two fields of children follow thirteen others.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    let ticks: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_processor_time_and_waiting_takes_none() {
        let shell = |script: &'static str| {
            move || {
                let mut command = Command::new("sh");
                command.args(["-c", script]);
                command
            }
        };
        let (working, printed) =
            repeat(1, shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo $i")).unwrap();
        assert_eq!(printed, b"300000\n");
        assert!(working.processor >= 20.0, "{working:?}");
        let (waiting, _) = repeat(1, shell("sleep 0.3")).unwrap();
        assert!(waiting.minimum >= 300.0 && waiting.median >= waiting.minimum, "{waiting:?}");
    }
}
