//! What people are told about shares.

use ramus_engine::SharePreview;
use ramus_wire::share as shape;
use serde_json::Value;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, quantity, style};

/// Asks, when there is someone to ask.
pub(super) fn confirm(invocation: &mut Invocation<'_>, preview: &SharePreview) -> anyhow::Result<bool> {
    let mut text = Text::new();
    summary(preview, &mut text);
    text.plain("Share it?");
    // A program that shares has been told to.
    Ok(invocation.screen.ask(&mut text)?.unwrap_or(true))
}

/// Says what a share holds.
pub(super) fn summary(preview: &SharePreview, text: &mut Text) {
    let findings = shape::findings(preview);
    counts(text, preview.transcript.entries.len(), &preview.transcript.title, &findings);
}

/// Says how much there is, and what was taken out of it.
pub(super) fn counts(text: &mut Text, entries: usize, title: &str, findings: &[Value]) {
    let entries = quantity::count(entries, "entry", "entries");
    text.plain(&format!("{entries} of ")).styled(style::BOLD, title).end();
    for finding in findings {
        let places = quantity::count(finding.count("count"), "time", "times");
        let number =
            if finding.number("number") > 1 { format!(" {}", finding.number("number")) } else { String::new() };
        text.plain("  taken out: ").styled(style::BOLD, &format!("{}{number}", finding.word("kind")));
        let first = finding.words("where").first().copied().unwrap_or_default();
        text.styled(style::DIM, &format!("  {places}, first in {first}"));
        text.end();
    }
}

/// Says what would be shared.
pub(super) fn preview(invocation: &mut Invocation<'_>, preview: &SharePreview) -> anyhow::Result<Exit> {
    if invocation.screen.wants_json() {
        invocation.screen.json(shape::previewed(preview, None))?;
        return Ok(Exit::Done);
    }
    let mut text = Text::new();
    summary(preview, &mut text);
    invocation.screen.text(&text)?;
    Ok(Exit::Done)
}

/// Says which shares were taken back with what they showed, or would be.
pub(in crate::command) fn taken_back(text: &mut Text, removed: &Value, dry_run: bool) {
    for id in removed.words("shares") {
        let verb = if dry_run { "would take" } else { "took" };
        text.plain(&format!("{verb} share "))
            .styled(style::ID, &clean::one_line(id))
            .plain(" back: it shows what goes")
            .end();
    }
}

/// Lists what is shared.
pub(super) fn list(invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
    let answer = match invocation.remote() {
        Some(remote) => remote.answer(remote.get(&["shares"]))?,
        None => shape::list(&invocation.engine.list_shares()?),
    };
    if invocation.screen.wants_json() {
        invocation.screen.json(answer)?;
        return Ok(Exit::Done);
    }
    let shares = answer.items("shares");
    let mut text = Text::new();
    for share in shares {
        let id = share.word("id");
        text.styled(style::ID, id.get(..8).unwrap_or(id)).spaces(2).styled(style::ID, share.word("session"));
        let state = match (share.maybe("revoked"), share.maybe("expires")) {
            (Some(when), _) => format!("taken back {when}"),
            (None, Some(end)) => format!("until {end}"),
            (None, None) => "until it is taken back".to_owned(),
        };
        text.spaces(2).plain(&share.words("include").join(",")).spaces(2).styled(style::DIM, &state).end();
    }
    if shares.is_empty() {
        text.styled(style::DIM, "nothing is shared").end();
    }
    invocation.screen.text(&text)?;
    Ok(Exit::Done)
}
