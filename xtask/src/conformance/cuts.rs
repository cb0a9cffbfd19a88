//! Where a compaction cuts: `ramus compact --dry-run` beside what the real programs prepare for the same file.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::oracle::{Oracle, Oracles};
use super::ramus::Ramus;
use super::{Extent, Row, Scope, Verdict};
use crate::process;

/// Sessions of real people, and how many tokens are kept of them.
const CASES: [(&str, u64); 6] = [
    ("large-session", 20_000),
    ("large-session", 5_000),
    ("large-session", 1_000),
    ("before-compaction", 20_000),
    ("before-compaction", 60_000),
    ("before-compaction", 1),
];

/// What a program would do: the place of the first entry that is kept, and the tokens before.
#[derive(Debug, PartialEq, Eq)]
struct Cut {
    first_kept: u64,
    tokens_before: u64,
}

/// Lets the programs whose rule we follow prepare the same compactions.
pub(super) fn judge(
    shared: &Path,
    oracles: &Oracles,
    ramus: &Ramus,
    scope: &Scope,
    show: &mut impl FnMut(Row),
) -> Result<()> {
    let programs: &[Oracle] =
        if scope.extent == Extent::Full { &[Oracle::Pi73, Oracle::Pi87] } else { &[Oracle::Pi87] };
    for (name, keep) in CASES {
        let case = format!("cuts/{name}, keep {keep}");
        let file = shared.join("fixtures/pi/pi-mono").join(name).with_extension("jsonl");
        if !scope.covers(&case) || !file.is_file() {
            continue;
        }
        for program in programs {
            show(Row::of(&case, program.name(), compare(oracles, ramus, *program, &file, keep)));
        }
    }
    Ok(())
}

fn compare(oracles: &Oracles, ramus: &Ramus, program: Oracle, file: &Path, keep: u64) -> Result<(Verdict, String)> {
    let (ours, theirs) = (ours(ramus, file, keep)?, theirs(oracles, program, file, keep)?);
    ensure!(ours == theirs, "ours: {ours:?}, theirs: {theirs:?}");
    Ok((Verdict::Same, format!("kept from {} on, {} tokens before", ours.first_kept, ours.tokens_before)))
}

fn ours(ramus: &Ramus, file: &Path, keep: u64) -> Result<Cut> {
    let (file, keep) = (file.display().to_string(), keep.to_string());
    let plan = ramus.json(["compact", &file, "--keep-tokens", &keep, "--dry-run"])?;
    let kept = plan.get("first_kept").and_then(Value::as_str).context("nothing would be summarised")?;
    let tree = ramus.json(["tree", &file, "--all"])?;
    let entries = tree.get("entries").and_then(Value::as_array).context("a tree without entries")?;
    let is_kept = |entry: &Value| entry.get("id").and_then(Value::as_str) == Some(kept);
    let place = entries.iter().position(is_kept).context("what is kept is not in the tree")?;
    let tokens_before = plan.get("tokens_before").and_then(Value::as_u64).context("no tokens")?;
    Ok(Cut { first_kept: place as u64, tokens_before })
}

fn theirs(oracles: &Oracles, program: Oracle, file: &Path, keep: u64) -> Result<Cut> {
    let mut command = Command::new(oracles.runtime(program));
    command.arg(oracles.scripts.join("compact-oracle.mjs")).arg(file).arg(keep.to_string());
    command.env("IMPL", program.name()).env("ORACLE_DIR", oracles.installation());
    let output = process::stdout(&mut command)?;
    let line = output.lines().rev().find(|line| line.starts_with('{')).context("the program said nothing")?;
    let plan: Value = serde_json::from_str(line).context("the program printed no JSON")?;
    let number = |name: &str| plan.get(name).and_then(Value::as_u64).with_context(|| format!("no {name} in {line}"));
    Ok(Cut { first_kept: number("firstKeptIndex")?, tokens_before: number("tokensBefore")? })
}
