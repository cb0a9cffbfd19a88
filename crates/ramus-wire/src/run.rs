//! Turns that run in a server, and the tools that they have.

use ramus_model::SessionId;
use ramus_model::request::ToolDefinition;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;
use crate::trouble::Trouble;
use crate::turn::TurnEnd;

/// A turn: what it asks while it runs, and how it ended.
#[derive(Serialize, ToSchema)]
pub struct RunningTurn<'r> {
    /// What it is called.
    run: &'r str,
    session: &'r str,
    #[serde(flatten)]
    stage: RunStage<'r>,
}

/// How far a turn is.
#[derive(Serialize, ToSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum RunStage<'r> {
    /// It runs.
    Running {
        /// What it asks.
        asked: Vec<AskedQuestion>,
        /// What was said to it that the model does not have yet.
        waiting: Vec<String>,
        /// What the model has said of its answer so far, where a turn is described whole.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        answer: Option<SpokenAnswer>,
    },
    /// It is over.
    Ended {
        /// How it ended.
        #[schema(value_type = TurnEnd)]
        end: &'r Map<String, Value>,
    },
    /// It could not be run.
    Failed {
        /// Why.
        error: Trouble<'r>,
    },
}

/// What a model has said of an answer so far.
#[derive(Serialize, ToSchema)]
pub struct SpokenAnswer {
    /// Which answer of the turn it is.
    pub answer: usize,
    /// How many pieces of it there are: those that are told later have higher numbers.
    pub pieces: usize,
    /// Its words.
    pub text: String,
    /// What it thought.
    pub thinking: String,
    /// The calls that run.
    pub calls: Vec<RunningCall>,
    /// How much of it was left out here, in bytes.
    pub left_out: usize,
}

/// A call that runs.
#[derive(Serialize, ToSchema)]
pub struct RunningCall {
    /// The call.
    pub call: String,
    /// The tool.
    pub name: String,
}

/// What a turn asks.
#[derive(Serialize, ToSchema)]
pub struct AskedQuestion {
    /// What it is called: an answer names it.
    pub question: String,
    /// The call that it is about, by which it is answered.
    pub call: String,
    /// The tool.
    pub name: String,
    /// The permission that is needed.
    pub permission: String,
    /// What would be done.
    pub exact: String,
    /// Why it is asked.
    pub because: String,
}

/// Describes a turn.
pub fn turn(run: &str, session: &SessionId, stage: RunStage<'_>) -> Map<String, Value> {
    object_of(&RunningTurn { run, session: session.as_str(), stage })
}

/// Turns, those that run first.
#[derive(Serialize, ToSchema)]
pub struct Runs {
    /// The turns.
    #[schema(value_type = Vec<RunningTurn>)]
    pub runs: Vec<Map<String, Value>>,
}

/// The tools that a turn would have.
#[derive(Serialize, ToSchema)]
pub struct RunTools<'t> {
    tools: Vec<RunTool<'t>>,
}

/// A tool.
#[derive(Serialize, ToSchema)]
struct RunTool<'t> {
    name: &'t str,
    /// What the model is told of it.
    description: &'t str,
}

/// The tools that a turn would have.
pub fn tools(tools: &[ToolDefinition]) -> Map<String, Value> {
    let told = tools.iter().map(|tool| RunTool { name: &tool.name, description: &tool.description });
    object_of(&RunTools { tools: told.collect() })
}
