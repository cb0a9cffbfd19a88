//! Files of other agents: read, written back, judged by their own programs.
//!
//! Every file is read with nothing lost; written for its own agent and read again it is the same; and the agent itself takes
//! what we wrote: Erlang finds every record of a table, the agents of the [zoo](crate::zoo) resume.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use ramus_interchange::place::Kind;
use ramus_interchange::{Format, Jsonl, LogPassage, MemorySource, MemoryTarget};
use serde_json::Value;

use super::{Extent, Row, Scope, Verdict};
use crate::process::{self, Ended};
use crate::workspace;
use crate::zoo::fixtures::{self, Fixture};
use crate::zoo::store::Stored;

/// How long the agents may take for all files.
const PATIENCE: Duration = Duration::from_secs(1800);

pub(super) fn judge(shared: &Path, scope: &Scope, show: &mut impl FnMut(Row)) -> Result<()> {
    for Fixture { agent, case, stored } in fixtures::find(shared)? {
        if scope.covers(&case) {
            show(Row::of(&case, "ramus", carried(agent.format(), &stored)));
        }
    }
    for path in fixtures::files(&shared.join("fixtures/opal-dets")) {
        let case = path.strip_prefix(shared.join("fixtures")).unwrap_or(&path).to_string_lossy().into_owned();
        if path.extension().is_none_or(|found| found != "dets") || !scope.covers(&case) {
            continue;
        }
        let stored = Stored::file(&path, Kind::Document)?;
        show(Row::of(&case, "ramus", carried(Format::Opal, &stored)));
        show(Row::of(&case, "erlang", table(&path, &stored)));
    }
    if scope.extent == Extent::Full {
        resumed(scope, show)?;
    }
    Ok(())
}

/// Reads a file, writes it for its own agent and reads that: the second reading is the first, and so is the second writing.
fn carried(format: Format, stored: &Stored) -> Result<(Verdict, String)> {
    let (sessions, report) = stored.read(format)?;
    for session in &sessions.sessions {
        let first = written(format, &session.bytes)?;
        if first.is_empty() {
            continue;
        }
        let again = read(format, &first)?;
        let log = &again.sessions.first().context("what was written holds no session")?.bytes;
        let second = written(format, log)?;
        // A table has no order, so it is compared by what is read.
        ensure!(format == Format::Opal || first == second, "written twice it is not the same");
        let twice = read(format, &second)?;
        ensure!(twice.sessions == again.sessions, "read again it is not the same");
    }
    let (records, entries, sessions) = (report.records, report.entries, report.sessions);
    Ok((Verdict::Same, format!("{records} records, none lost; {entries} entries; sessions: {sessions}")))
}

fn read(format: Format, file: &[u8]) -> Result<Jsonl> {
    let mut sessions = Jsonl::default();
    let report = format.codec().read(&MemorySource::new("written", file), &mut sessions)?;
    ensure!(report.records == report.kept, "records are lost: {:?}", report.losses);
    Ok(sessions)
}

fn written(format: Format, log: &[u8]) -> Result<Vec<u8>> {
    let mut target = MemoryTarget::default();
    format.codec().write(&LogPassage::new(log), &mut target)?;
    Ok(target.only().context("a session is one file")?.to_vec())
}

/// Lets Erlang compare a table with what we made of it: the same keys, and the same terms under them.
fn table(path: &Path, stored: &Stored) -> Result<(Verdict, String)> {
    if !workspace::installed("erl") && !crate::package::install("erlang-base") {
        return Ok((Verdict::Skipped, "Erlang is not installed".to_owned()));
    }
    let (sessions, _) = stored.read(Format::Opal)?;
    let log = &sessions.sessions.first().context("the table holds no session")?.bytes;
    let folder = tempfile::tempdir()?;
    let (old, new) = (folder.path().join("old.dets"), folder.path().join("new.dets"));
    fs::copy(path, &old)?;
    fs::write(&new, written(Format::Opal, log)?)?;
    let program = format!(
        "All = fun(Name, File) -> {{ok, T}} = dets:open_file(Name, [{{file, File}}, {{keypos, 1}}]), \
         L = dets:foldl(fun(R, A) -> [R] = dets:lookup(T, element(1, R)), [R | A] end, [], T), dets:close(T), lists:sort(L) end, \
         Old = All(old, {old:?}), New = All(new, {new:?}), \
         case Old =:= New of true -> io:format(\"same ~p\", [length(New)]); \
         false -> io:format(\"other ~p\", [{{Old -- New, New -- Old}}]) end, halt()."
    );
    let mut erlang = Command::new("erl");
    erlang.args(["-noshell", "-eval", &program]);
    let Ended::Itself(output) = process::within(Duration::from_secs(60), &mut erlang)? else { bail!("Erlang hangs") };
    let said = output.stdout.lines().last().unwrap_or_default();
    match said.strip_prefix("same ") {
        Some(count) => Ok((Verdict::Same, format!("{count} records, all the same terms"))),
        None => bail!("the tables differ: {} {}", output.stdout.trim(), output.stderr.trim()),
    }
}

/// Lets the agents resume, in a network of their own.
fn resumed(scope: &Scope, show: &mut impl FnMut(Row)) -> Result<()> {
    let program = std::env::current_exe().context("this program has no path")?;
    let mut command = Command::new(program);
    command.args(["zoo", "--fixtures"]);
    let Ended::Itself(output) = process::within(PATIENCE, &mut command)? else { bail!("the agents do not end") };
    let judged = output.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let judged: Vec<Value> = judged.filter(|line| line.get("ok").is_some()).collect();
    if judged.is_empty() {
        let why = output.stderr.lines().last().unwrap_or_default().to_owned();
        show(Row::of("agents resume what we write", "agents", Ok((Verdict::Skipped, why))));
        return Ok(());
    }
    for line in judged {
        let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let case = text("case");
        if !scope.covers(&case) {
            continue;
        }
        let result = match line.get("ok").and_then(Value::as_bool) {
            Some(true) => Ok((Verdict::Same, text("detail"))),
            _ => Err(anyhow::anyhow!(text("detail"))),
        };
        let known = Format::ALL.iter().map(|format| format.name()).find(|name| *name == text("program"));
        show(Row::of(&case, known.unwrap_or("agent"), result));
    }
    Ok(())
}
