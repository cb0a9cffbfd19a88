//! Why a request was turned away: the rule it broke, and the words in which its provider says so.

use serde_json::Value;

use super::format::Format;
use super::refusal;

/// A request that its provider would not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {status} {rule:?}: {message}", format.name())]
pub struct Illegal {
    /// Whose rules were broken.
    pub format: Format,
    /// The status that the provider answers with.
    pub status: u16,
    /// Which rule it was, in no provider's words.
    pub rule: Rule,
    /// What the provider says.
    pub message: String,
    /// The member that is wrong, where the provider names it apart from the message.
    pub param: Option<String>,
}

impl Illegal {
    /// Says that `rule` was broken, in the provider's words.
    pub(crate) fn new(format: Format, rule: Rule, message: impl Into<String>) -> Self {
        Self { format, status: 400, rule, message: message.into(), param: None }
    }

    /// Names the member that is wrong.
    pub(crate) fn at(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// Answers with another status than 400.
    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Returns the body of the answer, in the shape of the provider.
    pub fn body(&self) -> Value {
        refusal::error_body(self.format, self.status, &self.message, self.param.as_deref(), self.rule.code())
    }
}

/// What a history must not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The body is not JSON.
    NotJson,
    /// A string holds half of a surrogate pair.
    Surrogate,
    /// The body, or something in it, has another type than it must have.
    Shape,
    /// A member is not known.
    Unknown,
    /// No model is named.
    Model,
    /// Settings are missing, out of range or contradict each other.
    Setting,
    /// There is no limit of tokens where one must be, or it is not positive.
    Limit,
    /// There are no messages.
    NoMessages,
    /// A message has no role, or one that the format does not know.
    Role,
    /// Two messages of one role follow each other.
    Alternation,
    /// The conversation does not start with the user.
    First,
    /// The conversation ends with the model.
    Last,
    /// A message or a text is empty.
    Empty,
    /// A content part is of an unknown kind, or in a message of the wrong role.
    Part,
    /// The id of a call is missing, empty, too long or has characters that it must not have.
    CallId,
    /// Two calls have one id.
    CallTwice,
    /// The name of a called tool is missing or breaks the pattern.
    CallName,
    /// The arguments of a call are not what the format demands.
    Arguments,
    /// A call has no result directly behind it.
    Unanswered,
    /// A result has no call in front of it.
    Orphan,
    /// A call has two results.
    ResultTwice,
    /// Results stand in the wrong order or behind other content.
    ResultPlace,
    /// A result has no content, or content that results cannot have.
    ResultContent,
    /// A thought has no seal.
    Unsealed,
    /// A seal was never issued, or not for this thought, or by another model.
    Seal,
    /// A thought is not where it must be, or nothing follows it.
    ThoughtPlace,
    /// An image is not base64.
    ImageData,
    /// An image is of a type that is not taken, or not of the type it claims.
    ImageType,
    /// An image is too large.
    ImageSize,
    /// All images together are too large.
    ImagesSize,
    /// A tool has no name, or one that breaks the pattern.
    ToolName,
    /// Two tools have one name.
    ToolTwice,
    /// The arguments of a tool are not described by the schema of an object.
    ToolSchema,
    /// No key was given, or the wrong one.
    Key,
    /// The version of the interface was not named.
    Version,
    /// The path or the method is none of this provider's.
    Path,
}

impl Rule {
    /// Returns the code by which OpenAI names this kind of error.
    pub(crate) fn code(self) -> Option<&'static str> {
        Some(match self {
            Self::Unknown => "unknown_parameter",
            Self::Model | Self::NoMessages | Self::Limit => "missing_required_parameter",
            Self::Shape | Self::Arguments => "invalid_type",
            Self::Role | Self::Part | Self::CallId | Self::CallName | Self::ToolName => "invalid_value",
            Self::ToolSchema => "invalid_function_parameters",
            Self::Seal | Self::Unsealed => "invalid_encrypted_content",
            Self::ImageData | Self::ImageType => "invalid_image_format",
            Self::ImageSize | Self::ImagesSize => "image_too_large",
            Self::Key => "invalid_api_key",
            _ => return None,
        })
    }
}
