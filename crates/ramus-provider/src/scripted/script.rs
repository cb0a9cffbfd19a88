//! What a script says, read strictly: a step that is not understood would be a test that tests nothing.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::error::ProviderError;

/// The longest delay that is taken for one, a day.
const LONGEST_DELAY: u64 = 86_400_000;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    pub(super) title: Option<String>,
    pub(super) answers: Vec<Answer>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub(super) steps: Vec<Step>,
}

/// A step, as it is written: exactly one member says what it is, others belong to it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Step {
    pub(super) text: Option<Pieces>,
    pub(super) thinking: Option<Pieces>,
    pub(super) call: Option<Call>,
    pub(super) usage: Option<Usage>,
    pub(super) delay_ms: Option<u64>,
    pub(super) finish: Option<Finish>,
    pub(super) error: Option<Failure>,
    pub(super) hang: Option<bool>,
    pub(super) seal: Option<String>,
    pub(super) message: Option<String>,
    pub(super) retry_after_ms: Option<u64>,
    pub(super) needed: Option<u64>,
    pub(super) available: Option<u64>,
}

/// A text in one piece or in several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Pieces {
    One(String),
    Several(Vec<String>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) name: String,
    #[serde(default)]
    pub(super) id: String,
    pub(super) arguments: Option<Value>,
    pub(super) seal: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Finish {
    Stop,
    Calls,
    Length,
    Refused,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Failure {
    Busy,
    Overflow,
    Denied,
    History,
    Invalid,
    NotFound,
    Failed,
    Broken,
    Truncated,
    Stalled,
}

impl Script {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let script: Self = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| error.to_string())?
        } else {
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?
        };
        for (answer, steps) in script.answers.iter().enumerate() {
            for (number, step) in steps.steps.iter().enumerate() {
                let before = number.checked_sub(1).and_then(|before| steps.steps.get(before));
                step.check()
                    .and_then(|()| before.map_or(Ok(()), |before| step.check_behind(before)))
                    .map_err(|message| format!("answer {}, step {}: {message}", answer + 1, number + 1))?;
            }
        }
        Ok(script)
    }
}

impl Step {
    fn check(&self) -> Result<(), String> {
        let kinds = [
            ("text", self.text.is_some()),
            ("thinking", self.thinking.is_some()),
            ("call", self.call.is_some()),
            ("usage", self.usage.is_some()),
            ("delay_ms", self.delay_ms.is_some()),
            ("finish", self.finish.is_some()),
            ("error", self.error.is_some()),
            ("hang", self.hang == Some(true)),
        ];
        let said: Vec<&str> = kinds.iter().filter(|(_, is_said)| *is_said).map(|(kind, _)| *kind).collect();
        let kind = match said.as_slice() {
            [kind] => *kind,
            [] => {
                return Err(format!("it says nothing; it must have one of {}", kinds.map(|(kind, _)| kind).join(", ")));
            }
            several => return Err(format!("it says several things at once: {}", several.join(", "))),
        };
        let is_busy = self.error == Some(Failure::Busy);
        let is_overflow = self.error == Some(Failure::Overflow);
        let may_explain = kind == "error" || self.finish == Some(Finish::Refused);
        for (member, is_said, is_allowed) in [
            ("seal", self.seal.is_some(), kind == "thinking"),
            ("message", self.message.is_some(), may_explain),
            ("retry_after_ms", self.retry_after_ms.is_some(), is_busy),
            ("needed", self.needed.is_some(), is_overflow),
            ("available", self.available.is_some(), is_overflow),
        ] {
            if is_said && !is_allowed {
                return Err(format!("`{member}` does not belong to this `{kind}`"));
            }
        }
        if self.delay_ms.is_some_and(|delay| delay > LONGEST_DELAY) {
            return Err("a delay of more than a day".to_owned());
        }
        self.call.as_ref().map_or(Ok(()), Call::check)
    }

    /// Nothing comes behind an end, but usage.
    fn check_behind(&self, before: &Self) -> Result<(), String> {
        let is_over = before.error.is_some() || before.hang.is_some();
        let is_finished = before.finish.is_some() && self.usage.is_none();
        if is_over || is_finished { Err("it stands behind the end of the answer".to_owned()) } else { Ok(()) }
    }

    /// The failure that the step is.
    pub(super) fn failure(&self) -> Option<ProviderError> {
        let message = self.message.clone().unwrap_or_else(|| "the script says so".to_owned());
        Some(match self.error? {
            Failure::Busy => {
                ProviderError::Busy { retry_after: self.retry_after_ms.map(Duration::from_millis), message }
            }
            Failure::Overflow => ProviderError::Overflow { needed: self.needed, available: self.available, message },
            Failure::Denied => ProviderError::Denied { message },
            Failure::History => ProviderError::History { message },
            Failure::Invalid => ProviderError::Invalid { message },
            Failure::NotFound => ProviderError::NotFound { message },
            Failure::Failed => ProviderError::Failed { status: None, message },
            Failure::Broken => ProviderError::Broken { message },
            Failure::Truncated => ProviderError::Truncated,
            Failure::Stalled => ProviderError::Stalled { after: Duration::ZERO },
        })
    }
}

impl Call {
    fn check(&self) -> Result<(), String> {
        if self.name.is_empty() {
            return Err("a call without a name".to_owned());
        }
        let is_text = |value: &Value| value.is_string();
        match &self.arguments {
            None | Some(Value::Object(_) | Value::String(_)) => Ok(()),
            Some(Value::Array(pieces)) if pieces.iter().all(is_text) => Ok(()),
            Some(_) => Err("`arguments` is a table, a string, or a list of strings".to_owned()),
        }
    }

    /// The arguments in the pieces they come in.
    pub(super) fn pieces(&self) -> Vec<String> {
        match &self.arguments {
            None => vec!["{}".to_owned()],
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(pieces)) => pieces.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(value) => vec![value.to_string()],
        }
    }
}

impl Pieces {
    pub(super) fn all(&self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text.clone()],
            Self::Several(texts) => texts.clone(),
        }
    }
}
