//! Tools: what a model can call. A call is planned first, which resolves everything it names and says what it needs, and run
//! later, on exactly what was planned: what was judged is what is done.

pub mod artifact;
pub mod bash;
pub mod deploy;
pub mod edit;
pub mod glob;
pub mod grep;
pub mod list;
pub mod read;
pub mod slides;
pub mod todo;
pub mod write;

use std::pin::Pin;

use ramus_model::permission::Question;
use ramus_model::request::ToolDefinition;
use ramus_witness::Reach;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::cancel::Cancel;
use crate::outcome::Outcome;

/// Work that is done when a plan runs.
pub(crate) type Work = Box<dyn FnOnce(Cancel) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send>;

/// Whether a call changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only looks. Such calls may run at the same time.
    Looks,
    /// It may change something. Such calls run one after the other.
    Changes,
    /// It has others do work that may change something. Such calls may run at the same time.
    Delegates,
}

/// A call that is ready to be judged and run.
pub struct Plan {
    /// What must be allowed first; every one of them.
    pub questions: Vec<Question>,
    /// Whether it changes anything.
    pub effect: Effect,
    pub(crate) work: Work,
    /// What it can change; none when only its outcome tells, or nobody knows.
    reach: Option<Reach>,
}

impl Plan {
    /// Makes a plan for work that blocks, on a thread where it may.
    pub fn blocking(
        questions: Vec<Question>,
        effect: Effect,
        work: impl FnOnce(&Cancel) -> Outcome + Send + 'static,
    ) -> Self {
        let work: Work = Box::new(|cancel| {
            Box::pin(async move {
                if cancel.is_cancelled() {
                    return Outcome::cancelled();
                }
                let done = tokio::task::spawn_blocking(move || work(&cancel)).await;
                done.unwrap_or_else(|error| Outcome::failed(format!("the tool broke: {error}")))
            })
        });
        Self::of(questions, effect, work)
    }

    /// Makes a plan for work that waits.
    pub fn waiting(
        questions: Vec<Question>,
        effect: Effect,
        work: impl FnOnce(Cancel) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + 'static,
    ) -> Self {
        Self::of(questions, effect, Box::new(work))
    }

    pub(crate) fn of(questions: Vec<Question>, effect: Effect, work: Work) -> Self {
        Self { questions, effect, work, reach: None }
    }

    /// Says what the call changes at most, whatever comes of it.
    #[must_use]
    pub fn within(mut self, reach: Reach) -> Self {
        self.reach = Some(reach);
        self
    }

    /// Runs the call.
    pub async fn run(self, cancel: Cancel) -> Outcome {
        let mut outcome = (self.work)(cancel).await;
        outcome.reach = outcome.reach.or(self.reach);
        outcome
    }
}

/// Why a call cannot be planned: the text is for the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The arguments are not those of the tool.
    #[error("the arguments do not fit: {0}")]
    Arguments(String),
    /// It names something it may never reach.
    #[error("{0}")]
    Place(#[from] crate::workspace::PlaceError),
}

/// Something that a model can call.
pub trait Tool: Send + Sync {
    /// Returns the tool as a model is told about it.
    fn definition(&self) -> ToolDefinition;

    /// Makes a plan from the arguments of a call.
    fn plan(&self, arguments: &Value) -> Result<Plan, Refusal>;
}

/// Reads the arguments of a call.
fn arguments<T: DeserializeOwned>(value: &Value) -> Result<T, Refusal> {
    T::deserialize(value).map_err(|error| Refusal::Arguments(error.to_string()))
}

/// Makes the question whether a tool may touch a path.
fn about(permission: &str, path: &str, exact: &Value) -> Vec<Question> {
    vec![Question {
        permission: permission.to_owned(),
        exact: exact.to_string(),
        subjects: vec![path.to_owned()],
        ..Question::default()
    }]
}

/// Makes a definition.
fn define(name: &str, description: &str, properties: Value, required: &[&str]) -> ToolDefinition {
    let parameters = serde_json::json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    ToolDefinition { name: name.to_owned(), description: description.to_owned(), parameters }
}
