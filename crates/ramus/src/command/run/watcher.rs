//! Showing a turn while it runs: what the model says as it says it, a line for every call, and what else happens.
//!
//! What a model says goes to stdout, everything else to stderr. Nothing reaches either without being cleaned.

use std::collections::HashMap;
use std::time::Duration;

use ramus_agent::Event;
use ramus_model::SessionId;
use serde_json::{Map, Value};

use crate::render::call::{self, Ended};
use crate::render::clean::{self, Breaks};
use crate::render::markdown::Markdown;
use crate::render::{Text, glyphs, quantity, style};
use crate::screen::Screen;

/// How much of a thought is kept to show some of it.
const THOUGHT: usize = 400;

/// Tells what happens.
pub(crate) struct Watcher<'s> {
    session: String,
    screen: &'s mut Screen,
    markdown: Markdown,
    /// Whether the last text ended without a line's end.
    is_open: bool,
    /// The beginning of what the model thinks, while it does.
    thought: Option<String>,
    /// The arguments of calls that run.
    running: HashMap<String, Value>,
    failed: anyhow::Result<()>,
}

impl<'s> Watcher<'s> {
    pub(crate) fn new(session: &SessionId, screen: &'s mut Screen) -> Self {
        Self {
            session: session.to_string(),
            screen,
            markdown: Markdown::default(),
            is_open: false,
            thought: None,
            running: HashMap::new(),
            failed: Ok(()),
        }
    }

    /// Tells one event. Trouble with the screen stops no turn; it is reported at the end.
    pub(crate) fn tell(&mut self, event: &Event) {
        if self.failed.is_ok() {
            self.failed = if self.screen.wants_json() { self.print(event) } else { self.show(event) };
        }
    }

    /// Tells an event of a turn elsewhere: programs as it came, people what it means.
    pub(crate) fn hear(&mut self, told: &Map<String, Value>, event: Option<&Event>) {
        let kind = told.get("type").and_then(Value::as_str).unwrap_or_default();
        // What holds for the whole session is no event of a turn.
        let is_of_turn = !kind.starts_with("session.") || kind == "session.diff";
        if self.failed.is_ok() && is_of_turn {
            self.failed = match (self.screen.wants_json(), event) {
                (true, _) => self.screen.json(told.clone()).and_then(|()| self.screen.flush()),
                (false, Some(event)) => self.show(event),
                (false, None) => Ok(()),
            };
        }
    }

    /// Ends what is open on the screen.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.close()?;
        self.screen.clear_status()?;
        self.failed
    }

    fn print(&mut self, event: &Event) -> anyhow::Result<()> {
        let mut json = event.to_json();
        if let Some(object) = json.as_object_mut() {
            object.insert("session".into(), Value::from(self.session.clone()));
        }
        self.screen.json(crate::render::json::members(json))?;
        self.screen.flush()
    }

    fn show(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::MessageDelta(said) => self.say(said),
            Event::ThinkingDelta(thought) => self.think(thought),
            Event::MessageEnd { .. } => self.close(),
            Event::ToolStart { call, name, input } => {
                self.close()?;
                self.running.insert(call.clone(), input.clone());
                let mut text = Text::new();
                call::running(&mut text, name, input, self.screen.width());
                self.screen.status(&mut text)
            }
            Event::ToolEnd { call, name, result, is_error, details, duration_ms, .. } => {
                self.close()?;
                let input = self.running.remove(call);
                let ended = Ended {
                    name,
                    input: input.as_ref(),
                    result,
                    is_error: *is_error,
                    details: details.as_ref(),
                    took: duration_ms.map(Duration::from_millis),
                };
                let mut text = Text::new();
                ended.write(&mut text, self.screen.width());
                self.screen.note(&text)
            }
            Event::Retry { attempt, delay_ms, reason } => {
                let delay = quantity::duration(Duration::from_millis(*delay_ms));
                self.remark(&format!("trying again in {delay} ({attempt}): {reason}"))
            }
            Event::TurnInterrupted { answer, calls, .. } => {
                let kept = if answer.is_some() { "; what had come of its answer is kept" } else { "" };
                let open = quantity::count(calls.len(), "call was", "calls were");
                let open = if !calls.is_empty() { format!("; {open} under way") } else { String::new() };
                self.remark(&format!("the last turn was interrupted{kept}{open}"))
            }
            Event::Stall { seconds } => self.remark(&format!("nothing has come for {seconds} s; still waiting")),
            Event::CompactionStart => self.remark("the context is full; its older part is being summarised"),
            Event::CompactionEnd { error: Some(error) } => self.remark(&format!("it was not summarised: {error}")),
            Event::QueueChanged { steer, follow_up, .. } if steer + follow_up > 0 => self
                .remark(&format!("{} waiting to be told", quantity::count(steer + follow_up, "message", "messages"))),
            Event::ChildStarted { agent, description, .. } => {
                self.close()?;
                let mut text = Text::new();
                text.styled(style::DIM, glyphs::of_terminal().child).spaces(1);
                text.styled(style::BOLD, &format!("@{agent}")).spaces(1).cut(
                    style::DIM,
                    description,
                    self.screen.width(),
                );
                self.screen.note(text.end())
            }
            Event::ChildEvent { event, .. } => self.show_child(event),
            Event::TitleChanged(title) => self.remark(&format!("this session is now called {title}")),
            _ => Ok(()),
        }
    }

    /// Shows what a child does in a line that does not stay: what comes of it is the result of the call.
    fn show_child(&mut self, event: &Event) -> anyhow::Result<()> {
        let Event::ToolStart { name, input, .. } = event else { return Ok(()) };
        self.close()?;
        let mut text = Text::new();
        text.spaces(2);
        call::running(&mut text, name, input, self.screen.width());
        self.screen.status(&mut text)
    }

    /// Shows what the model says: styled on a terminal with colours, as it is elsewhere.
    fn say(&mut self, said: &str) -> anyhow::Result<()> {
        self.end_thought()?;
        let mut text = Text::new();
        if self.screen.is_terminal() && self.screen.is_coloured() {
            self.markdown.push(said, &mut text);
            self.screen.text(&text)?;
        } else if self.screen.is_terminal() {
            self.screen.text(text.exact(style::NONE, said))?;
        } else {
            self.screen.data(clean::clean(said, Breaks::Layout, usize::MAX).as_bytes())?;
        }
        self.is_open = !said.ends_with('\n');
        self.screen.flush()
    }

    fn think(&mut self, thought: &str) -> anyhow::Result<()> {
        if self.thought.is_none() {
            self.close()?;
            let mut text = Text::new();
            text.styled(style::DIM, &format!("{} thinking", glyphs::of_terminal().thought));
            self.screen.status(&mut text)?;
        }
        let kept = self.thought.get_or_insert_default();
        if kept.len() < THOUGHT {
            kept.push_str(thought);
        }
        Ok(())
    }

    /// Shows a thought in one line, now that it is over.
    fn end_thought(&mut self) -> anyhow::Result<()> {
        let Some(thought) = self.thought.take() else { return Ok(()) };
        let mut text = Text::new();
        text.styled(style::DIM, glyphs::of_terminal().thought).spaces(1).cut(style::DIM, &thought, self.screen.width());
        self.screen.note(text.end())
    }

    fn remark(&mut self, words: &str) -> anyhow::Result<()> {
        self.close()?;
        let mut text = Text::new();
        self.screen.note(text.styled(style::DIM, words).end())
    }

    /// Ends the thought and the line that are open.
    fn close(&mut self) -> anyhow::Result<()> {
        if self.screen.wants_json() {
            return Ok(());
        }
        self.end_thought()?;
        let mut text = Text::new();
        self.markdown.finish(&mut text);
        if std::mem::take(&mut self.is_open) {
            text.end();
        }
        self.screen.text(&text)?;
        self.screen.flush()
    }
}
