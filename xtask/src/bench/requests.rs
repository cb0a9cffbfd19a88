//! What a turn costs beside the model, and what it may cost: a request, its tokens, an answer in pieces.

use std::fs;

use anyhow::{Context, Result};

use super::figure::{Figure, Lines, Outcome, figure, milliseconds};
use super::peers::Peers;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace, _: Option<&Peers>) -> Result<Outcome> {
    let directory = workspace.target.join("bench-data").join("requests");
    fs::create_dir_all(&directory).context("cannot create the folder for benchmark data")?;
    let mut lines = Lines::default();
    for operation in ["build", "count", "stream"] {
        println!("==> {operation}");
        lines.run(workspace, "requests", operation, &directory)?;
    }
    fs::remove_dir_all(&directory).context("cannot remove the benchmark data")?;
    Ok(Outcome::of(&figures(&lines)))
}

fn figures(lines: &Lines) -> Vec<Figure> {
    let number = |operation: &str, name: &str| lines.number(operation, None, name);
    let mut figures = Vec::new();
    for api in ["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"] {
        let time = number(&format!("build_{api}"), "min_ms");
        let name = format!("request of 200000 tokens, {api}");
        figures.push(figure(&name, milliseconds(time), "1 ms", time, Some((false, 5.0))));
    }
    let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1} MB/s"));
    let (ours, theirs) = (number("count", "mb_per_second"), number("count", "their_mb_per_second"));
    let ratio = ours.zip(theirs).map(|(ours, theirs)| ours / theirs);
    let peer = format!("tiktoken-rs: {}", rate(theirs));
    figures.push(figure("counting tokens, o200k", rate(ours), &peer, ratio, Some((true, 3.0))));
    let each = number("stream", "micros_each");
    let text = each.map_or_else(|| "-".to_owned(), |each| format!("{each:.2} \u{b5}s"));
    figures.push(figure("each piece of an answer, through a turn", text, "1 \u{b5}s", each, Some((false, 20.0))));
    let first = number("stream", "first_ms");
    figures.push(figure("from the prompt to the first piece", milliseconds(first), "1 ms", first, None));
    figures
}
