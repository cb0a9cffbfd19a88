//! How a turn ended: one object for programs, one line for people.

use ramus_agent::End;
use ramus_engine::run::TurnResult;
use ramus_model::SessionId;

use crate::failure::Exit;
use crate::render::{Text, conversation, glyphs, quantity, style};
use crate::screen::Screen;

/// Tells how a turn ended.
pub(crate) fn report(
    screen: &mut Screen,
    session: &SessionId,
    result: &TurnResult,
    is_scripted: bool,
) -> anyhow::Result<Exit> {
    if screen.wants_json() {
        screen.json(ramus_wire::turn::end(session, result))?;
    } else {
        screen.note(&end_line(session, result, is_scripted))?;
    }
    Ok(match &result.end {
        End::Finished(_) => Exit::Done,
        End::Cancelled => Exit::Interrupted,
        End::Failed(_) => Exit::Failed,
    })
}

/// What went wrong, if something did.
/// The last line: how it ended, what it used, and how to go on.
fn end_line(session: &SessionId, result: &TurnResult, is_scripted: bool) -> Text {
    let mut facts = Vec::new();
    match &result.end {
        End::Finished(reason) if reason == "length" => facts.push("cut off by its length".to_owned()),
        End::Finished(_) => {}
        End::Cancelled => facts.push("stopped".to_owned()),
        End::Failed(reason) => facts.push(format!("failed: {reason}")),
    }
    if is_scripted {
        facts.push("scripted".to_owned());
    }
    facts.push(format!("{} tokens", quantity::grouped(result.usage.sum())));
    facts.push(match result.cost_micros {
        Some(micros) => quantity::money(micros).unwrap_or_else(|| "no cost".to_owned()),
        None => "cost unknown".to_owned(),
    });
    if result.files.summary.files > 0 {
        facts.push(conversation::told(result.files.summary));
    }
    facts.push(format!("session {session}"));
    let mut text = Text::new();
    text.styled(style::DIM, &facts.join(glyphs::of_terminal().separator)).end();
    text
}
