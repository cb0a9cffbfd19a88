//! How a turn ended: one object for programs, one line for people.

use ramus_engine::run::TurnResult;
use ramus_model::SessionId;
use serde_json::{Map, Value};

use crate::failure::{Exit, Failure, Refusal};
use crate::render::{Answer as _, Text, conversation, glyphs, quantity, style};
use crate::screen::Screen;

/// Tells how a turn ended.
pub(crate) fn report(
    screen: &mut Screen,
    session: &SessionId,
    result: &TurnResult,
    is_scripted: bool,
) -> anyhow::Result<Exit> {
    tell(screen, ramus_wire::turn::end(session, result), is_scripted)
}

/// Tells the end of a turn that ran anywhere.
pub(crate) fn tell(screen: &mut Screen, end: Map<String, Value>, is_scripted: bool) -> anyhow::Result<Exit> {
    let exit = match end.word("finish_reason") {
        _ if end.maybe("error").is_some() => Exit::Failed,
        "cancelled" => Exit::Interrupted,
        _ => Exit::Done,
    };
    if screen.wants_json() {
        let error = end.maybe("error").map(Refusal::unavailable);
        screen.json(end)?;
        // It is told where every command tells why it failed, too.
        if let Some(failure) = error.and_then(|error| Failure::of(&error.into())) {
            failure.report(screen);
        }
    } else {
        screen.note(&end_line(&end, is_scripted))?;
    }
    Ok(exit)
}

/// The last line: how it ended, what it used, and how to go on.
fn end_line(end: &Map<String, Value>, is_scripted: bool) -> Text {
    let mut facts = Vec::new();
    match (end.maybe("error"), end.word("finish_reason")) {
        (Some(reason), _) => facts.push(format!("failed: {reason}")),
        (None, "cancelled") => facts.push("stopped".to_owned()),
        (None, "length") => facts.push("cut off by its length".to_owned()),
        (None, _) => {}
    }
    if is_scripted {
        facts.push("scripted".to_owned());
    }
    let nothing = Value::Null;
    let usage = end.get("usage").unwrap_or(&nothing);
    let tokens: u64 = ["input", "output", "cache_read", "cache_write"].iter().map(|name| usage.number(name)).sum();
    facts.push(format!("{} tokens", quantity::grouped(tokens)));
    facts.push(match end.get("cost_micros").and_then(Value::as_u64) {
        Some(micros) => quantity::money(micros).unwrap_or_else(|| "no cost".to_owned()),
        None => "cost unknown".to_owned(),
    });
    let summary = end.get("summary").unwrap_or(&nothing);
    if summary.number("files") > 0 {
        facts.push(conversation::told_as(summary));
    }
    facts.push(format!("session {}", end.word("session")));
    let mut text = Text::new();
    text.styled(style::DIM, &facts.join(glyphs::of_terminal().separator)).end();
    text
}
