//! What an import of other agents' sessions found and did, for people and programs.

use std::collections::BTreeMap;

use ramus_engine::{
    ForeignFailure, ForeignImported, ForeignLink, ForeignProgress, ForeignSession, ForeignSkip, ForeignStore,
};
use ramus_model::SessionId;
use serde_json::{Value, json};

use crate::invocation::Invocation;
use crate::render::{Text, json, quantity, style};

/// Of how many sessions each is told to people.
const TOLD: usize = 20;
/// How wide a bar is.
const BAR: usize = 24;

/// Tells what was found, by agent.
pub(super) fn table(text: &mut Text, stores: &[ForeignStore]) {
    let mut agents: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for store in stores.iter().filter(|store| store.files() > 0) {
        let name = store.format.map_or("files", ramus_interchange::Format::name);
        let (files, bytes) = agents.entry(name).or_default();
        *files += store.files();
        *bytes += store.bytes();
    }
    text.padded(style::DIM, "AGENT", 10).plain("  ").right(style::DIM, "FILES", 8).plain("  ");
    text.right(style::DIM, "SIZE", 10).end();
    for (agent, (files, bytes)) in agents {
        text.padded(style::NONE, agent, 10).plain("  ").right(style::NONE, &quantity::grouped(files as u64), 8);
        text.plain("  ").right(style::NONE, &quantity::size(bytes), 10).end();
    }
}

/// Tells how far it has come.
pub(super) fn progress(text: &mut Text, progress: ForeignProgress) {
    let (done, of) = match progress.of_bytes {
        0 => (progress.sources as u64, progress.of_sources as u64),
        of => (progress.bytes.min(of), of),
    };
    let share = usize::try_from(u128::from(done) * BAR as u128 / u128::from(of.max(1))).unwrap_or_default().min(BAR);
    let [files, of_files] = [progress.sources, progress.of_sources].map(|count| quantity::grouped(count as u64));
    let bar = format!("{}{}", "#".repeat(share), "-".repeat(BAR - share));
    let size = quantity::size(progress.bytes);
    text.plain(&format!("importing [{bar}] {files} of {of_files} files, {size}"));
}

/// Tells what was done.
pub(super) fn outcome(
    invocation: &mut Invocation<'_>,
    stores: &[ForeignStore],
    imported: &ForeignImported,
    dry_run: bool,
) -> anyhow::Result<()> {
    if invocation.screen.wants_json() {
        return invocation.screen.json(json::members(to_json(stores, imported, dry_run)));
    }
    let mut text = Text::new();
    if imported.imported.len() + imported.grown.len() <= TOLD {
        imported.imported.iter().for_each(|session| line(&mut text, session, "imported", imported));
        imported.grown.iter().for_each(|session| line(&mut text, session, "grown", imported));
    } else {
        sums(&mut text, "imported", &imported.imported);
        sums(&mut text, "grown", &imported.grown);
    }
    invocation.screen.text(&text)?;
    failures(invocation, &imported.failed)?;
    let mut notes = Text::new();
    let lossy = imported.imported.iter().chain(&imported.grown).filter(|session| !session.losses.is_empty()).count();
    if lossy > 0 {
        let sessions = quantity::count(lossy, "session was", "sessions were");
        notes.plain(&format!("{sessions} not carried over whole; --json tells what was lost")).end();
    }
    if !imported.linked.is_empty() {
        let forks = quantity::count(imported.linked.len(), "session is a fork", "sessions are forks");
        notes.plain(&format!("{forks} of another one")).end();
    }
    if imported.unchanged > 0 {
        let sessions = quantity::count(imported.unchanged, "session is", "sessions are");
        notes.plain(&format!("{sessions} here already")).end();
    }
    let strange: usize = stores.iter().map(|store| store.skipped.len()).sum();
    if strange > 0 {
        let files = quantity::count(strange, "file is no session", "files are no sessions");
        notes.plain(&format!("{files} of an agent that ramus knows; --json lists what was left alone")).end();
    }
    if stores.iter().all(|store| store.files() == 0) && imported.failed.is_empty() {
        notes.plain("no sessions of other agents were found").end();
    }
    if dry_run {
        notes.plain("nothing was imported: this was a dry run").end();
    }
    invocation.screen.note(&notes)
}

/// Tells what could not be imported: some files for every reason, so that one reason does not hide another.
fn failures(invocation: &mut Invocation<'_>, failed: &[ForeignFailure]) -> anyhow::Result<()> {
    warnings(failed).iter().try_for_each(|warning| invocation.screen.warn(warning))
}

fn warnings(failed: &[ForeignFailure]) -> Vec<String> {
    const EACH: usize = 3;
    let (mut reasons, mut warnings): (BTreeMap<&str, (usize, usize)>, _) = (BTreeMap::new(), Vec::new());
    for ForeignFailure { file, reason, .. } in failed {
        let is_next = reasons.len() < TOLD && !reasons.contains_key(&**reason);
        let (count, told) = reasons.entry(reason).or_default();
        *count += 1;
        if is_next || (1..EACH).contains(told) {
            *told += 1;
            warnings.push(format!("{}: {reason}", file.display()));
        }
    }
    let untold = reasons.values().filter(|(_, told)| *told == 0).count();
    for (reason, (count, told)) in reasons.into_iter().filter(|(_, (count, told))| *told > 0 && count > told) {
        let more = quantity::count(count - told, "file", "files");
        warnings.push(format!("{more} more (--json lists them): {reason}"));
    }
    if untold > 0 {
        let reasons = quantity::count(untold, "more reason", "more reasons");
        warnings.push(format!("{reasons} why files could not be imported (--json lists them)"));
    }
    warnings
}

fn line(text: &mut Text, session: &ForeignSession, what: &str, imported: &ForeignImported) {
    let entries = quantity::count(session.entries, "entry", "entries");
    let branches = quantity::count(session.branches, "branch", "branches");
    text.styled(style::ID, session.id.as_str()).spaces(2).plain(&format!("{what}  {}", session.agent)).spaces(2);
    let new = if what == "grown" { format!(", {} new", session.added + session.changed) } else { String::new() };
    text.plain(&format!("{entries}, {branches}{new}"));
    if let Some(link) = imported.linked.iter().find(|link| link.id == session.id) {
        text.plain(", a fork of ").styled(style::ID, link.origin.session.as_str());
    }
    text.end();
}

/// How many sessions of each agent.
fn sums(text: &mut Text, what: &str, sessions: &[ForeignSession]) {
    let mut agents: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for session in sessions {
        let (count, entries) = agents.entry(session.agent).or_default();
        *count += 1;
        *entries += session.added + session.changed;
    }
    for (agent, (count, entries)) in agents {
        let sessions = quantity::count(count, "session", "sessions");
        let entries = quantity::count(entries, "entry", "entries");
        text.padded(style::NONE, agent, 10).plain(&format!("  {what}  {sessions}, {entries}")).end();
    }
}

fn to_json(stores: &[ForeignStore], imported: &ForeignImported, dry_run: bool) -> Value {
    let found = stores.iter().map(|store| {
        json!({
            "agent": store.format.map(ramus_interchange::Format::name),
            "directory": store.directory,
            "files": store.files(),
            "bytes": store.bytes(),
        })
    });
    let failed = imported
        .failed
        .iter()
        .map(|ForeignFailure { file, agent, reason }| json!({"file": file, "agent": agent, "reason": reason}));
    json!({
        "found": found.collect::<Vec<_>>(),
        "imported": imported.imported.iter().map(session_json).collect::<Vec<_>>(),
        "grown": imported.grown.iter().map(session_json).collect::<Vec<_>>(),
        "linked": imported.linked.iter().map(link_json).collect::<Vec<_>>(),
        "unchanged": imported.unchanged,
        "skipped": imported.skipped.iter().map(skip_json).collect::<Vec<_>>(),
        "failed": failed.collect::<Vec<_>>(),
        "dry_run": dry_run,
    })
}

fn skip_json(skip: &ForeignSkip) -> Value {
    json!({
        "id": skip.id.as_ref().map(SessionId::as_str),
        "source": skip.agent,
        "file": skip.file,
        "reason": skip.reason,
    })
}

fn link_json(link: &ForeignLink) -> Value {
    json!({
        "id": link.id.as_str(),
        "forked_from": {"session": link.origin.session.as_str(), "entry": link.origin.entry.as_str()},
    })
}

fn session_json(session: &ForeignSession) -> Value {
    let lossy = session.losses.iter().map(|loss| json!({"why": loss.why, "line": loss.line, "count": loss.count}));
    json!({
        "id": session.id.as_str(),
        "source": session.agent,
        "file": session.file,
        "entries": session.entries,
        "branches": session.branches,
        "added": session.added,
        "changed": session.changed,
        "lossy": lossy.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_are_not_told_are_counted() {
        let failure = |at: usize| ForeignFailure {
            file: format!("/f{at}").into(),
            agent: None,
            reason: format!("reason {:02}", at % 23),
        };
        let few: Vec<_> = (0..5).map(failure).collect();
        assert_eq!(warnings(&few).len(), 5);
        let many: Vec<_> = (0..23 * 5).map(failure).collect();
        let told = warnings(&many);
        assert_eq!(told.len(), TOLD * 4 + 1);
        assert_eq!(told[0], "/f0: reason 00");
        assert!(told.contains(&"2 files more (--json lists them): reason 19".to_owned()), "{told:?}");
        assert_eq!(told.last().unwrap(), "3 more reasons why files could not be imported (--json lists them)");
        assert!(!told.iter().any(|line| line.contains("reason 2")), "{told:?}");
    }
}
