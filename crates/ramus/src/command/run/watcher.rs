//! Showing a turn while it runs: what the model says as it says it, a line for every call.

use ramus_agent::{End, Event};
use ramus_engine::Session;
use ramus_engine::run::TurnResult;
use ramus_model::SessionId;
use serde_json::Value;

use crate::render::{Text, quantity, style};
use crate::screen::Screen;

/// How much of the arguments of a call is shown.
const SHOWN: usize = 100;

/// Tells what happens.
pub(super) struct Watcher<'s> {
    session: String,
    screen: &'s mut Screen,
    /// Whether the last text ended without a line's end.
    is_open: bool,
    failed: anyhow::Result<()>,
}

impl<'s> Watcher<'s> {
    pub(super) fn new(session: &SessionId, screen: &'s mut Screen) -> Self {
        Self { session: session.to_string(), screen, is_open: false, failed: Ok(()) }
    }

    /// Tells one event. Trouble with the screen stops no turn; it is reported at the end.
    pub(super) fn tell(&mut self, event: &Event) {
        if self.failed.is_ok() {
            self.failed = self.show(event);
        }
    }

    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        self.close()?;
        self.failed
    }

    fn show(&mut self, event: &Event) -> anyhow::Result<()> {
        if self.screen.wants_json() {
            let mut json = event.to_json();
            if let Some(object) = json.as_object_mut() {
                object.insert("session".into(), Value::from(self.session.clone()));
            }
            self.screen.data(format!("{json}\n").as_bytes())?;
            return self.screen.flush();
        }
        let mut text = Text::new();
        match event {
            Event::MessageDelta(said) => {
                let mut text = Text::new();
                text.plain(said);
                self.is_open = !said.ends_with('\n');
                self.screen.text(&text)?;
                return self.screen.flush();
            }
            Event::ToolStart { name, input, .. } => {
                text.styled(style::BOLD, name).plain(" ").styled(style::DIM, &brief(input));
            }
            Event::ToolEnd { name, is_error: true, result, .. } => {
                let said = result.iter().filter_map(|part| part.get("text")?.as_str()).collect::<String>();
                let line = said.lines().next().unwrap_or_default().to_owned();
                text.styled(style::DIM, &format!("{name} failed: {line}"));
            }
            Event::Retry { attempt, delay_ms, reason } => {
                text.styled(style::DIM, &format!("trying again in {} s ({attempt}): {reason}", delay_ms / 1000));
            }
            Event::CompactionStart => {
                text.styled(style::DIM, "the context is full; the older part is being summarised");
            }
            _ => return Ok(()),
        }
        text.end();
        self.close()?;
        self.screen.note(&text)?;
        self.screen.flush()
    }

    fn close(&mut self) -> anyhow::Result<()> {
        if std::mem::take(&mut self.is_open) && !self.screen.wants_json() {
            self.screen.data(b"\n")?;
        }
        Ok(())
    }
}

/// The arguments of a call in one line.
fn brief(input: &Value) -> String {
    let text = match input.as_object().and_then(|object| object.values().next()) {
        Some(Value::String(text)) => text.clone(),
        _ => input.to_string(),
    };
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// What went wrong, if something did.
pub(super) fn error(result: &TurnResult) -> Option<&str> {
    if let End::Failed(reason) = &result.end { Some(reason) } else { None }
}

/// The last line: how it ended and what it cost.
pub(super) fn end_line(session: &Session, result: &TurnResult) -> Text {
    let mut text = Text::new();
    let cost = match result.cost_micros {
        Some(micros) => quantity::money(micros).unwrap_or_else(|| "no cost".to_owned()),
        None => "cost unknown".to_owned(),
    };
    let how = match &result.end {
        End::Finished(reason) if reason == "length" => "cut off by its length, ".to_owned(),
        End::Finished(_) => String::new(),
        End::Cancelled => "stopped, ".to_owned(),
        End::Failed(reason) => format!("failed: {reason}; "),
    };
    let tokens = result.usage.sum();
    text.styled(style::DIM, &format!("{how}{tokens} tokens, {cost}, session {}", session.id())).end();
    text
}
