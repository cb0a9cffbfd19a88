//! ramus against the real programs that share its format: `cargo xtask conformance`.
//!
//! Eleven parts. [`fixtures`]: files that others wrote, read by us and by them. [`generated`]: trees of any shape, the
//! same way. [`written`]: files that we wrote, read and appended to by them. [`alternate`]: one file that they and we
//! write to in turns and at once. [`cuts`]: where a compaction cuts. [`carried`]: files of other agents, there and
//! back. [`imported`]: whole stores of theirs, through the command. [`litellm`]: turns through a gateway. [`schemathesis`]: every route of the server.
//! [`axe`]: every screen of the web view. A disagreement is a failure unless [`expectations`] says why ours is the better
//! answer.

mod alternate;
mod axe;
mod carried;
mod cuts;
mod digest;
mod expectations;
mod fixtures;
mod generated;
mod imported;
mod litellm;
pub(crate) mod oracle;
mod pypi;
mod ramus;
mod scenarios;
mod schemathesis;
mod written;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use self::oracle::Oracles;
use self::ramus::Ramus;
use crate::arguments::Arguments;
use crate::report;
use crate::steps::Outcome;
use crate::workspace::Workspace;

const HEADS: [&str; 4] = ["case", "program", "result", "detail"];

/// What a run covers.
struct Scope {
    /// Only cases whose name contains this.
    only: Option<String>,
    extent: Extent,
}

/// How much is asked of the judges.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Every program on every file.
    Full,
    /// Every file, but files of ours only by the two reference programs, and less patience with those that hang.
    Quick,
}

impl Scope {
    fn covers(&self, case: &str) -> bool {
        self.only.as_ref().is_none_or(|only| case.contains(only))
    }

    /// How long a program may take before it counts as hanging.
    fn limit(&self) -> Duration {
        Duration::from_secs(if self.extent == Extent::Full { 20 } else { 10 })
    }
}

/// The judgement of one program on one case.
struct Row {
    case: String,
    program: &'static str,
    result: Verdict,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Both say the same.
    Same,
    /// They fail where we give the documented better answer.
    Better,
    Failed,
    /// The judge is not there, which is no pass.
    Skipped,
}

impl Row {
    /// Turns a judgement into a row: an error is a failure.
    fn of(case: &str, program: &'static str, judgement: Result<(Verdict, String)>) -> Self {
        let (result, detail) = judgement.unwrap_or_else(|error| (Verdict::Failed, format!("{error:#}")));
        Self { case: case.to_owned(), program, result, detail }
    }

    fn cells(&self) -> [String; 4] {
        let result = match self.result {
            Verdict::Same => "same",
            Verdict::Better => "better",
            Verdict::Failed => "FAILED",
            Verdict::Skipped => "skipped",
        };
        let detail = self.detail.replace('|', "/").replace('\n', " ");
        [self.case.clone(), self.program.to_owned(), result.to_owned(), detail]
    }
}

/// `cargo xtask conformance [--only NAME] [--quick] [--record] [--binary PATH]`
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let only = arguments.value("--only")?;
    let extent = if arguments.flag("--quick") { Extent::Quick } else { Extent::Full };
    let binary: Option<PathBuf> = arguments.value("--binary")?;
    let record = arguments.flag("--record");
    arguments.finish()?;
    let oracles = Oracles::find(workspace).map_err(|reason| anyhow!("the suite cannot run here: {reason}"))?;
    // It is run in other directories, where a relative path would name something else.
    let given = |path: PathBuf| path.canonicalize().with_context(|| format!("there is no {}", path.display()));
    let binary = binary.map_or_else(|| workspace.ramus(), given)?;
    let rows = judge(workspace, &oracles, binary, &Scope { only, extent })?;
    let (failed, summary) = count(&rows);
    let table = report::table(HEADS, &rows.iter().map(Row::cells).collect::<Vec<_>>());
    println!("\n{table}\n{summary}");
    if record {
        let body = format!("Programs: {}, litellm {}.\n\n{summary}.\n\n{table}", oracles.versions(), litellm::VERSION);
        report::record(workspace, "conformance", "Conformance", &body)?;
    }
    if failed > 0 {
        bail!("{failed} disagreements with the real programs");
    }
    Ok(())
}

/// The part that continuous integration runs.
pub(crate) fn slice(workspace: &Workspace) -> Result<Outcome> {
    let oracles = match Oracles::find(workspace) {
        Ok(oracles) => oracles,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    let scope = Scope { only: None, extent: Extent::Quick };
    let rows = judge(workspace, &oracles, workspace.ramus()?, &scope)?;
    let (failed, summary) = count(&rows);
    if failed > 0 {
        bail!("{summary}");
    }
    Ok(Outcome::Passed(summary))
}

fn judge(workspace: &Workspace, oracles: &Oracles, binary: PathBuf, scope: &Scope) -> Result<Vec<Row>> {
    let shared = workspace.shared().context("there is no ../shared")?;
    let ramus = Ramus::new(binary)?;
    let mut rows = Vec::new();
    let mut show = |row: Row| {
        let [case, program, result, detail] = row.cells();
        println!("{result:<6} {program:<6} {case}  {detail}");
        rows.push(row);
    };
    fixtures::judge(&shared, oracles, &ramus, scope, &mut show)?;
    generated::judge(oracles, &ramus, scope, &mut show)?;
    written::judge(oracles, &ramus, scope, &mut show)?;
    cuts::judge(&shared, oracles, &ramus, scope, &mut show)?;
    alternate::judge(oracles, &ramus, scope, &mut show)?;
    carried::judge(&shared, scope, &mut show)?;
    imported::judge(&shared, &ramus, scope, &mut show)?;
    litellm::judge(&ramus, scope, &mut show)?;
    schemathesis::judge(&ramus, scope, &mut show)?;
    axe::judge(workspace, scope, &mut show)?;
    Ok(rows)
}

fn count(rows: &[Row]) -> (usize, String) {
    let count = |verdict| rows.iter().filter(|row| row.result == verdict).count();
    let (same, better, failed) = (count(Verdict::Same), count(Verdict::Better), count(Verdict::Failed));
    let skipped = match count(Verdict::Skipped) {
        0 => String::new(),
        skipped => format!(", {skipped} skipped, which is not passed"),
    };
    (failed, format!("{} judgements: {same} same, {better} better, {failed} failed{skipped}", rows.len()))
}
