//! What stands beside items: which model answers from here on, and what an answer used.

use ramus_model::json::{Object, Raw};
use ramus_model::message::Usage;

use super::{Writer, line};
use crate::compose::Composer;
use crate::error::Error;
use crate::step::{Answer, Step};

/// What a thread used by now, as Codex counts.
#[derive(Clone, Copy, Default)]
pub(super) struct Used {
    input: u64,
    cached: u64,
    cache_write: u64,
    output: u64,
    reasoning: u64,
    total: u64,
}

impl Used {
    /// What an answer used: cached tokens are part of the input.
    fn of(usage: &Usage) -> Self {
        Self {
            input: usage.prompt(),
            cached: usage.cache_read,
            cache_write: usage.cache_write,
            output: usage.output,
            reasoning: 0,
            total: usage.tokens(),
        }
    }

    fn read(used: &Object<'_>) -> Self {
        let count = |name: &str| used.field(name).and_then(Raw::unsigned).unwrap_or_default();
        Self {
            input: count("input_tokens"),
            cached: count("cached_input_tokens"),
            cache_write: count("cache_write_input_tokens"),
            output: count("output_tokens"),
            reasoning: count("reasoning_output_tokens"),
            total: count("total_tokens"),
        }
    }

    fn plus(self, more: Self) -> Self {
        Self {
            input: self.input.saturating_add(more.input),
            cached: self.cached.saturating_add(more.cached),
            cache_write: self.cache_write.saturating_add(more.cache_write),
            output: self.output.saturating_add(more.output),
            reasoning: self.reasoning.saturating_add(more.reasoning),
            total: self.total.saturating_add(more.total),
        }
    }

    fn compose(self, composer: &mut Composer<'_>, name: &'static str) {
        composer.object(name, |counts| {
            counts.number("input_tokens", self.input);
            counts.number("cached_input_tokens", self.cached);
            counts.number("cache_write_input_tokens", self.cache_write);
            counts.number("output_tokens", self.output);
            counts.number("reasoning_output_tokens", self.reasoning);
            counts.number("total_tokens", self.total);
        });
    }
}

impl Writer<'_> {
    /// Notices what a line that was here says about the model and what was used.
    pub(super) fn notice(&mut self, kind: &str, payload: &Object<'_>) {
        match kind {
            "turn_context" => self.model = payload.text("model").map(|model| model.into_owned()).or(self.model.take()),
            "event_msg" if payload.text("type").as_deref() == Some("token_count") => {
                let total = payload.field("info").and_then(|info| info.field("total_token_usage")?.object());
                self.used = total.map_or(self.used, |total| Used::read(&total));
            }
            _ => {}
        }
    }

    /// Says which model answers from here on, when that is another. Codex goes on with the model that a thread names, so one
    /// that OpenAI does not have is not named. Nothing of it allows anything.
    pub(super) fn asked(&mut self, step: &Step<'_>, answer: &Answer<'_>) -> Result<(), Error> {
        if answer.model.is_empty() || self.model.as_deref() == Some(&*answer.model) {
            return Ok(());
        }
        if !answer.provider.contains("openai") {
            self.losses.lose("which model answered: Codex would go on with it");
            return Ok(());
        }
        self.model = Some(answer.model.clone().into_owned());
        let cwd = self.start.cwd.clone();
        let mut composer = line("turn_context", &step.iso(), self.ordinal);
        composer.object("payload", |payload| {
            payload.text("cwd", &cwd);
            payload.text("approval_policy", "on-request");
            payload.object("sandbox_policy", |policy| policy.text("type", "read-only"));
            payload.text("model", &answer.model);
            payload.text("summary", "auto");
        });
        self.composed(composer)
    }

    /// Says what an answer used, behind its items.
    pub(super) fn counted(&mut self, step: &Step<'_>, usage: &Usage) -> Result<(), Error> {
        let last = Used::of(usage);
        if last.total == 0 {
            return Ok(());
        }
        self.used = self.used.plus(last);
        let total = self.used;
        let mut composer = line("event_msg", &step.iso(), self.ordinal);
        composer.object("payload", |payload| {
            payload.text("type", "token_count");
            payload.object("info", |info| {
                total.compose(info, "total_token_usage");
                last.compose(info, "last_token_usage");
                info.null("model_context_window");
            });
            payload.null("rate_limits");
        });
        self.composed(composer)
    }
}
