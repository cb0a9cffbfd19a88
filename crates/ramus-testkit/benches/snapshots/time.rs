//! Time on the clock and on the processors, of this process and of those it starts.

use std::fs;
use std::io;
use std::time::Instant;

/// Ticks of the processor times in `/proc`; the same on every Linux that people run.
const TICKS_PER_MILLISECOND: f64 = 0.1;

/// What something takes, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    /// The best of all runs.
    pub(crate) wall: f64,
    /// The average of all runs: the system counts in ticks, which only many runs make exact.
    pub(crate) processor: f64,
}

/// Does something so many times, each after a preparation that does not count.
pub(crate) fn repeat(
    times: usize,
    mut prepare: impl FnMut() -> io::Result<()>,
    mut work: impl FnMut() -> io::Result<()>,
) -> io::Result<Timed> {
    let mut timed = Timed { wall: f64::MAX, processor: 0.0 };
    for _ in 0..times {
        prepare()?;
        let (start, before) = (Instant::now(), processor()?);
        work()?;
        timed.wall = timed.wall.min(start.elapsed().as_secs_f64() * 1_000.0);
        timed.processor += (processor()? - before) / times as f64;
    }
    Ok(timed)
}

/// Processor time of this process and of all its children that have ended, in milliseconds.
fn processor() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name in brackets may hold spaces; four fields follow eleven others.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(4);
    Ok(fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_MILLISECOND)
}
