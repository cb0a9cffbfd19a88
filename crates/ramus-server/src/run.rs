//! Turns that run in the server: each on a thread of its own, watched by whoever wants to, and not by whoever started it.

mod desk;
mod past;
mod runs;
mod spoken;
mod thread;

use std::any::Any;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ramus_engine::run::{Asker, Inbox, Run};
use ramus_engine::settings::Settings;
use ramus_engine::{Engine, Retention, Session};
use ramus_interchange::place::Root;
use ramus_model::request::ToolDefinition;
use ramus_redact::Redactor;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;
use utoipa::{IntoParams, ToSchema};

use crate::error::ApiError;
pub(crate) use desk::Reply;
pub(crate) use runs::{Running, Runs, Taken};

/// What a turn is started with.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Order {
    /// What a person says; none to have what the path ends with answered.
    pub prompt: Option<String>,
    /// Pictures that are shown with it.
    pub pictures: Vec<Shown>,
    /// Files that are given along.
    pub attachments: Vec<Attached>,
    /// What answers in the place of a model: a script, at servers that play scripts.
    pub script: Option<String>,
    /// The entry that is said in other words: the turn goes back before it first.
    pub edit: Option<String>,
    /// Whether what was said last is answered again: the turn goes back to it first.
    pub regenerate: bool,
    /// Whether what was said last is left out, with what was answered: the turn goes back to before it first. Only a chat says so.
    #[serde(skip_deserializing, skip_serializing_if = "std::ops::Not::not")]
    #[schema(ignore)]
    pub leave_last: bool,
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
    /// What becomes of the prompt when a turn runs already: `queue` when nobody says, `steer` or `reject`.
    pub when_busy: WhenBusy,
    /// Whether questions are put to whoever watches; otherwise what must be asked is denied.
    pub ask: Option<bool>,
}

impl Order {
    /// Names what a turn that runs already cannot take along: it is told words, and nothing else.
    pub(crate) fn beside_words(&self) -> Vec<&'static str> {
        let given = [
            ("pictures", !self.pictures.is_empty()),
            ("attachments", !self.attachments.is_empty()),
            ("script", self.script.is_some()),
            ("edit", self.edit.is_some()),
            ("regenerate", self.regenerate),
            ("model", self.model.is_some()),
            ("agent", self.agent.is_some()),
            ("permission", !self.permission.is_empty()),
            ("max_tokens", self.max_tokens.is_some()),
            ("thinking", self.thinking.is_some()),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }

    /// Returns what two orders have in common only if they are the same.
    pub(crate) fn digest(&self) -> [u8; 32] {
        // Nothing in it cannot be written.
        Sha256::digest(serde_json::to_vec(self).unwrap_or_default()).into()
    }
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

/// A file that is given along.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// What it is called.
    pub name: String,
    /// The bytes, in base64.
    #[serde(deserialize_with = "decoded")]
    #[schema(value_type = String)]
    pub data: Vec<u8>,
}

fn decoded<'d, D: Deserializer<'d>>(text: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(text)?;
    STANDARD.decode(text).map_err(|_| serde::de::Error::custom("`data` is not base64"))
}

/// What becomes of what is said while a turn runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenBusy {
    /// It is refused.
    Reject,
    /// It counts before the next request.
    Steer,
    /// It counts when the turn would end.
    #[default]
    Queue,
}

/// Which models are listed.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct ModelQuery {
    /// Only models with this in their name.
    pub text: Option<String>,
    /// Only the models of this provider.
    pub provider: Option<String>,
    /// Only what can be asked now.
    pub available: bool,
    /// The directory whose settings count; where the server was started when none is named.
    pub cwd: Option<String>,
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

    /// Refuses an order that no turn can be run with: words, an agent, a model or rules that there are not. Nothing is
    /// started, asked or written.
    fn check(&self, session: &Session, order: &Order) -> Result<(), ApiError>;

    /// Returns the engine that counts tokens as turns of this session do.
    fn counting(&self, session: &Session) -> Result<Engine, ApiError>;

    /// Returns what takes secrets out of what leaves the home.
    fn redactor(&self) -> Redactor;

    /// Returns the rules by which old sessions go.
    fn retention(&self) -> Result<Retention, ApiError>;

    /// Returns where other agents may keep their sessions.
    fn places(&self) -> Result<Vec<Root>, ApiError>;

    /// Lists the tools that a turn with this order would have.
    fn tools(&self, session: &Session, order: &Order, runtime: &Handle) -> Result<Vec<ToolDefinition>, ApiError>;

    /// Lists the models that turns can be run with, as `ramus models` does in a directory.
    fn models(&self, query: &ModelQuery, directory: &str) -> Result<Map<String, Value>, ApiError>;

    /// Returns the settings that hold in a directory.
    fn settings(&self, directory: &str) -> Result<Settings, ApiError>;
}
