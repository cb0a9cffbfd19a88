//! The server under more than anybody asks of it: a thousand readers, readers that do not read, readers that come and go, and
//! requests that nobody would send.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::workspace::Workspace;
use crate::{process, report};

/// A test of the server with the numbers of a long run, and what its figures begin with.
struct Trial {
    what: &'static str,
    test: &'static str,
    figures: &'static str,
    numbers: &'static [(&'static str, &'static str)],
}

const TRIALS: [Trial; 6] = [
    Trial {
        what: "1,000 readers, 20 events a second for 30 s: all of them in order, p99 at most 150 ms",
        test: "load::k1",
        figures: "1000 readers",
        numbers: &[
            ("RAMUS_EVENTS_PER_SECOND", "20"),
            ("RAMUS_SECONDS", "30"),
            ("RAMUS_MOST_P99", "150"),
            ("RAMUS_LEAST_RATE", "95"),
        ],
    },
    Trial {
        what: "1,000 readers, 200 events a second for 60 s: all of them in order, p99 at most 150 ms",
        test: "load::k1",
        figures: "1000 readers",
        numbers: &[
            ("RAMUS_EVENTS_PER_SECOND", "200"),
            ("RAMUS_SECONDS", "60"),
            ("RAMUS_MOST_P99", "150"),
            ("RAMUS_LEAST_RATE", "95"),
        ],
    },
    Trial {
        what: "100 readers that never read beside 1,000 that do: cut off, and p99 of the others at most a fifth longer",
        test: "load::k2",
        figures: "p99",
        numbers: &[
            ("RAMUS_READERS", "1000"),
            ("RAMUS_STALL_SECONDS", "10"),
            ("RAMUS_ROUNDS", "3"),
            ("RAMUS_MOST_DISTURBED", "120"),
            ("RAMUS_SLACK", "0"),
        ],
    },
    Trial {
        what: "50,000 readers that come and go: nothing is left",
        test: "load::k3",
        figures: "50000 came",
        numbers: &[("RAMUS_CYCLES", "50000")],
    },
    Trial {
        what: "coming back at every event, before and after a restart: nothing missing, nothing twice",
        test: "events::k4",
        figures: "came back",
        numbers: &[],
    },
    Trial {
        what: "200,000 requests that nobody would send: no failure of the server",
        test: "fuzz::k7",
        figures: "requests: ",
        numbers: &[("RAMUS_FUZZ_REQUESTS", "200000")],
    },
];

/// Runs every trial and returns the section of the report; the first that fails is an error.
pub(super) fn run(workspace: &Workspace) -> Result<String> {
    let mut rows = Vec::new();
    for trial in TRIALS {
        println!("{}", trial.what);
        let start = Instant::now();
        let mut command =
            workspace.cargo(["test", "--release", "--quiet", "-p", "ramus-server", "--test", "over_http"]);
        command.args([trial.test, "--", "--nocapture", "--test-threads", "1"]).envs(trial.numbers.iter().copied());
        let output = process::stdout(&mut command)?;
        let said = output.lines().find_map(|line| line.find(trial.figures).and_then(|at| line.get(at..)));
        let said = said.with_context(|| format!("{} said nothing:\n{output}", trial.test))?;
        println!("{said}");
        rows.push([trial.what.to_owned(), said.to_owned(), format!("{:.0} s", start.elapsed().as_secs_f64())]);
    }
    let table = report::table(["what", "figures", "time"], &rows);
    Ok(format!(
        "## The server under load\n\nRelease build; the clients are another process on the same machine. Delays count from \
         before an append is asked for until a reader has its event.\n\n{table}"
    ))
}
