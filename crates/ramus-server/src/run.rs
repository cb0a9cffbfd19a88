//! Turns that run in the server: each on a thread of its own, watched by whoever wants to, and not by whoever started it.

mod desk;
mod runs;
mod thread;

use std::any::Any;
use std::sync::Arc;

use ramus_engine::run::{Asker, Inbox, Run};
use ramus_engine::settings::Settings;
use ramus_engine::{Engine, Retention, Session};
use ramus_interchange::place::Root;
use ramus_redact::Redactor;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use crate::error::ApiError;
pub(crate) use desk::Reply;
pub(crate) use runs::{Running, Runs, Taken};

/// What a turn is started with.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Order {
    /// What a person says; none to have what the path ends with answered.
    pub prompt: Option<String>,
    /// Pictures that are shown with it.
    pub pictures: Vec<Shown>,
    /// The entry that is said in other words: the turn goes back before it first.
    pub edit: Option<String>,
    /// Whether what was said last is answered again: the turn goes back to it first.
    pub regenerate: bool,
    /// The model, as `PROVIDER/NAME`.
    pub model: Option<String>,
    /// Who answers.
    pub agent: Option<String>,
    /// Rules for this turn: `NAME=ACTION` or `NAME:PATTERN=ACTION`.
    pub permission: Vec<String>,
    /// The most tokens of an answer.
    pub max_tokens: Option<u64>,
    /// How much the model may think.
    pub thinking: Option<String>,
    /// What becomes of the prompt when a turn runs already.
    pub when_busy: WhenBusy,
    /// Whether questions are put to whoever watches; otherwise what must be asked is denied.
    pub ask: Option<bool>,
}

/// A picture.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The bytes, in base64.
    pub data: String,
    /// What kind of picture it is: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub kind: String,
}

/// What becomes of what is said while a turn runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenBusy {
    /// It is refused.
    #[default]
    Reject,
    /// It counts before the next request.
    Steer,
    /// It counts when the turn would end.
    Queue,
}

/// A turn that is ready to be run.
pub struct Equipped {
    /// The engine that counts and summarises as this turn wants it.
    pub engine: Engine,
    /// The turn.
    pub run: Run,
    /// Whether the session gets a title when it was the first.
    pub titles: bool,
    /// What must live as long as the turn.
    pub kept: Box<dyn Any + Send>,
}

/// What only the program around a server knows: settings, models, tools.
pub trait Workshop: Send + Sync {
    /// Gets a turn ready. May write what belongs to it in front of it, such as who answers.
    fn equip(
        &self,
        session: &mut Session,
        order: &Order,
        asker: Option<Arc<dyn Asker>>,
        inbox: &Inbox,
        runtime: &Handle,
    ) -> Result<Equipped, ApiError>;

    /// Returns what takes secrets out of what leaves the home.
    fn redactor(&self) -> Redactor;

    /// Returns the rules by which old sessions go.
    fn retention(&self) -> Result<Retention, ApiError>;

    /// Returns where other agents may keep their sessions.
    fn places(&self) -> Result<Vec<Root>, ApiError>;

    /// Returns the settings that hold in a directory.
    fn settings(&self, directory: &str) -> Result<Settings, ApiError>;
}
