//! What is sent and answered, as types. Members that are not named here are in `more`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A session to make.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NewSession {
    /// The working directory; where the server was started when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The model, as `PROVIDER/NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session that starts this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Whom it belongs to; the one the token stands for when nobody is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Rules: `NAME=ACTION` or `NAME:PATTERN=ACTION`. They need a token that may approve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permission: Vec<String>,
}

/// A session that was just made.
#[derive(Clone, Debug, Deserialize)]
pub struct Made {
    /// The id.
    pub id: String,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A session as lists tell it.
#[derive(Clone, Debug, Deserialize)]
pub struct SessionInfo {
    /// The id.
    pub id: String,
    /// The title.
    pub title: String,
    /// The working directory.
    pub cwd: String,
    /// How many messages there are, on all branches.
    pub messages: u64,
    /// How many entries there are.
    pub entries: u64,
    /// When it was made; none when its log lost its header.
    pub created: Option<String>,
    /// When its newest message was written; none when nobody knows.
    pub updated: Option<String>,
    /// Whether lists leave it out.
    pub archived: bool,
    /// Whether it is starred.
    pub starred: bool,
    /// The model in force.
    pub model: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// What it cost, as far as that is known, in millionths of a dollar.
    pub cost_micros: Option<u64>,
    /// Whether something of it is damaged.
    pub damaged: bool,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A page of a list.
#[derive(Clone, Debug, Deserialize)]
pub struct Listing {
    /// The sessions.
    pub sessions: Vec<SessionInfo>,
    /// Where the next page starts; none on the last one.
    pub next_cursor: Option<String>,
}

/// An entry that was written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Written {
    /// Its id.
    pub id: String,
    /// Its position.
    pub seq: u64,
    /// What it hangs from.
    pub parent: Option<String>,
}

/// Entries that were written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Appended {
    /// The entries.
    pub entries: Vec<Written>,
    /// Whether someone was faster, so that they are a branch and the leaf stayed.
    pub is_sibling: bool,
    /// How many entries the log has now.
    pub position: Option<u64>,
}

/// What a search found.
#[derive(Clone, Debug, Deserialize)]
pub struct Hits {
    /// The best first.
    pub hits: Vec<Hit>,
    /// How many there are.
    pub total: u64,
}

/// One entry that was found.
#[derive(Clone, Debug, Deserialize)]
pub struct Hit {
    /// The session.
    pub session: String,
    /// The entry.
    pub entry: Option<String>,
    /// Who speaks.
    pub role: String,
    /// What was found, with what is around it.
    pub snippet: String,
    /// The title of the session.
    pub title: String,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What a turn is started with.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Order {
    /// What a person says; none to have what the path ends with answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Pictures that are shown: `{"data": BASE64, "kind": "image/png"}`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Value>,
    /// Files that are given along: `{"name": "notes.txt", "data": BASE64}`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Value>,
    /// What answers in the place of a model, at servers that play scripts: the script itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// The model, as `PROVIDER/NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Rules for this turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permission: Vec<String>,
    /// The most tokens of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How much the model may think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// What becomes of the prompt when a turn runs already.
    pub when_busy: WhenBusy,
    /// Whether questions are put to whoever watches; otherwise what must be asked is denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<bool>,
    /// Goes back before this entry first, which is said in other words: its place in the log is named by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<String>,
    /// Goes back to what was said last first, to have it answered again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub regenerate: bool,
}

impl Order {
    /// An order to answer this.
    pub fn saying(prompt: impl Into<String>) -> Self {
        Self { prompt: Some(prompt.into()), ..Self::default() }
    }
}

/// What becomes of what is said while a turn runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
