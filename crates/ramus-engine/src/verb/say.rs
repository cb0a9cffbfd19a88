//! `say`: one text message.

use ramus_model::{Body, Draft, EntryId};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::append::Written;
use crate::verb::attach::{self, Attachment};

/// A picture that is said along with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The bytes, in base64.
    pub data: String,
    /// What kind of picture it is, such as `image/png`.
    pub kind: String,
}

/// A text to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Say {
    /// The role: `user`, `assistant` or `system`.
    pub role: String,
    /// The text.
    pub text: String,
    /// Pictures behind it.
    pub pictures: Vec<Picture>,
    /// Files behind it.
    pub attachments: Vec<Attachment>,
    /// The id of the entry; none for a new one.
    pub id: Option<EntryId>,
}

impl Say {
    /// What a person says.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: "user".into(), text: text.into(), ..Self::default() }
    }

    /// What a model says.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: "assistant".into(), text: text.into(), ..Self::default() }
    }

    /// Adds pictures.
    #[must_use]
    pub fn with_pictures(mut self, pictures: Vec<Picture>) -> Self {
        self.pictures.extend(pictures);
        self
    }

    /// Adds files.
    #[must_use]
    pub fn with_attachments(mut self, attachments: Vec<Attachment>) -> Self {
        self.attachments.extend(attachments);
        self
    }
}

impl Engine {
    /// Appends one text message to the leaf. What a person says is remembered in the prompt history, if there is one.
    pub fn say(&self, session: &mut Session, say: Say) -> Result<Written, EngineError> {
        self.say_in(session, say, &mut Doing::one("say", self))
    }

    /// Says something as part of an operation.
    pub(crate) fn say_in(&self, session: &mut Session, say: Say, doing: &mut Doing) -> Result<Written, EngineError> {
        let model = match say.role.as_str() {
            "assistant" => session.context(session.log().leaf())?.state.models.remove("default"),
            "user" | "system" => None,
            other => return Err(EngineError::Invalid(format!("{other:?} cannot say anything"))),
        };
        if say.role == "user" {
            self.record_prompt(session, &say.text);
        }
        attach::check(&say.attachments)?;
        // What is too large for a line is durable before the line that names it, and no collection comes in between.
        let _hold = self.keep_blobs(&attach::blobs(&say.attachments))?;
        let message = self.text_message(&say, model.as_deref());
        let draft = Draft { id: say.id, ..Draft::new(Body::new("message", [("message", message)])) };
        let appended = self.record(session, doing, vec![draft])?;
        let written = appended.entries.into_iter().next();
        written.ok_or_else(|| EngineError::Invalid("nothing was written".into()))
    }

    /// A message with every member the programs that share this format rely on.
    pub(crate) fn text_message(&self, say: &Say, model: Option<&str>) -> Value {
        let now = self.now();
        let mut content = vec![json!({"type": "text", "text": say.text})];
        let picture = |picture: &Picture| json!({"type": "image", "data": picture.data, "mimeType": picture.kind});
        content.extend(say.attachments.iter().map(|one| json!({"type": "text", "text": attach::told(one)})));
        content.extend(say.pictures.iter().map(picture));
        if say.role != "assistant" {
            return json!({"role": say.role, "content": content, "timestamp": now});
        }
        let (provider, model) = model.and_then(|model| model.split_once('/')).unwrap_or(("ramus", "manual"));
        let nothing = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0});
        json!({
            "role": "assistant",
            "content": content,
            "api": "manual",
            "provider": provider,
            "model": model,
            "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": nothing},
            "stopReason": "stop",
            "timestamp": now,
        })
    }
}
