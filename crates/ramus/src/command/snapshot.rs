//! `snapshot`, `snapshots`: keeps the files of a session's directory, and lists what is kept.

use clap::Args;
use ramus_wire::files as shape;
use serde_json::{Map, Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, quantity, style};

const EXAMPLES: &str = "\
A snapshot holds every file of the session's directory that ignore files do not leave out; what it does not cover (files \
over 8 MB, sockets and the like) is told. Your own repository is never touched, and git need not be installed. What was \
there before a turn changed something is listed too, unless a snapshot tells it. Of those that are listed, `current` is the \
one that the files were at last.

Examples:
  ramus snapshot last --label \"before the refactoring\"
  ramus snapshots last
  ramus snapshots last 3f2a
  ramus diff last
  ramus restore last \"before the refactoring\" --dry-run";

/// Keep the files of a session's directory as they are now
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Snapshot {
    /// The session
    session: String,
    /// What to call it
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
}

impl Snapshot {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => remote.act(&remote.id(&self.session)?, "snapshots", &json!({"label": self.label}))?,
            None => {
                let mut session = invocation.session(&self.session)?;
                let taken = invocation.engine.snapshot(&mut session, self.label.as_deref())?;
                invocation.finish(&mut session)?;
                shape::taken(&taken)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        answer.get("snapshot").iter().for_each(|one| line(&mut text, one));
        tell_left_out(&mut text, &answer);
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }
}

/// List what is kept of a session's directory, or the files of one snapshot
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Snapshots {
    /// The session
    session: String,
    /// The snapshot whose files are listed: the start of its id, its entry, or its label
    snapshot: Option<String>,
    /// Only those that the files came of, as they were put back last
    #[arg(long, conflicts_with = "snapshot")]
    lineage: bool,
}

impl Snapshots {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = self.answer(invocation)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        if self.snapshot.is_some() {
            files(&mut text, &answer);
            invocation.screen.text(&text)?;
            return Ok(Exit::Done);
        }
        let all = answer.items("snapshots");
        all.iter().for_each(|one| line(&mut text, one));
        if all.is_empty() {
            text.plain("there are no snapshots").end();
        }
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }

    fn answer(&self, invocation: &Invocation<'_>) -> anyhow::Result<Map<String, Value>> {
        if let Some(remote) = invocation.remote() {
            let id = remote.id(&self.session)?;
            return match &self.snapshot {
                Some(snapshot) => remote.answer(remote.get(&["sessions", &id, "snapshots", snapshot])),
                None => remote.answer(remote.get(&["sessions", &id, "snapshots"]).flag("lineage", self.lineage)),
            };
        }
        let mut session = invocation.session(&self.session)?;
        if let Some(snapshot) = &self.snapshot {
            let snapshot = invocation.engine.find_snapshot(&session, snapshot)?;
            return Ok(shape::held(&snapshot, &invocation.engine.snapshot_files(&mut session, &snapshot)?));
        }
        let mut all = invocation.engine.states(&session)?;
        all.retain(|one| one.is_ancestor || !self.lineage);
        Ok(shape::listed(&all, session.info()?.latest_snapshot.as_deref()))
    }
}

fn files(text: &mut Text, answer: &Map<String, Value>) {
    let files = answer.items("files");
    let size = |file: &Value| quantity::grouped(file.number("size"));
    let width = files.iter().map(|file| size(file).len()).max().unwrap_or_default();
    for file in files {
        text.styled(style::DIM, file.word("mode")).plain("  ").right(style::NONE, &size(file), width);
        let hash: String = file.word("sha256").chars().take(12).collect();
        text.plain("  ").styled(style::DIM, &hash).plain("  ").plain(&clean::one_line(file.word("path"))).end();
    }
    let bytes = files.iter().map(|file| file.number("size")).sum();
    let count = quantity::count(files.len(), "file", "files");
    text.styled(style::DIM, &format!("{count}, {} bytes", quantity::grouped(bytes))).end();
}

/// Says what snapshots do not cover, and which ignore files they did not heed.
pub(super) fn tell_left_out(text: &mut Text, answer: &Map<String, Value>) {
    for (what, name) in [("not covered: ", "not_covered"), ("not heeded: ", "not_heeded")] {
        for one in answer.items(name) {
            text.plain(what).plain(&clean::one_line(one.word("path"))).plain(": ").plain(one.word("reason")).end();
        }
    }
}

fn line(text: &mut Text, snapshot: &Value) {
    let files = quantity::count(snapshot.count("files"), "file", "files");
    text.styled(style::ID, snapshot.word("id")).plain("  ").plain(&clean::one_line(snapshot.word("label")));
    let uncovered = snapshot.number("not_covered");
    let left_out = if uncovered > 0 { format!(", {uncovered} not covered") } else { String::new() };
    text.styled(style::DIM, &format!("  {files}{left_out}, {}", snapshot.word("created")));
    if snapshot.says("current") {
        text.styled(style::BOLD, "  current");
    }
    text.end();
}
