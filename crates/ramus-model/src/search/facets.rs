//! What is known of an entry besides its words: who speaks, which tools, which model, whether something failed.

use serde::{Deserialize, Serialize};

use crate::kind::Role;

/// Who speaks in a document, or what it is when nobody does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Speaker {
    /// A person.
    User,
    /// A model.
    Assistant,
    /// Instructions.
    System,
    /// The outcome of a tool call.
    ToolResult,
    /// A command a person ran.
    BashExecution,
    /// An extension.
    Custom,
    /// A summary that stands for older entries.
    CompactionSummary,
    /// A summary of a path that was left.
    BranchSummary,
    /// The name of an entry.
    Label,
    /// The title of a session.
    Title,
    /// A role this version does not know.
    #[default]
    Other,
}

impl Speaker {
    /// Every speaker.
    pub const ALL: [Self; 11] = [
        Self::User,
        Self::Assistant,
        Self::System,
        Self::ToolResult,
        Self::BashExecution,
        Self::Custom,
        Self::CompactionSummary,
        Self::BranchSummary,
        Self::Label,
        Self::Title,
        Self::Other,
    ];

    /// Returns the name, which for messages is the role as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::ToolResult => "toolResult",
            Self::BashExecution => "bashExecution",
            Self::Custom => "custom",
            Self::CompactionSummary => "compactionSummary",
            Self::BranchSummary => "branchSummary",
            Self::Label => "label",
            Self::Title => "title",
            Self::Other => "other",
        }
    }

    pub(super) fn of_role(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::System => Self::System,
            Role::ToolResult => Self::ToolResult,
            Role::BashExecution => Self::BashExecution,
            Role::Custom => Self::Custom,
            Role::Other => Self::Other,
        }
    }
}

/// What many entries have in common. An index keeps each combination once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facets {
    /// Who speaks.
    pub speaker: Speaker,
    /// The tools that are called or answer, in order, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Who answered: provider and model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether something failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub error: bool,
}

impl Facets {
    /// Writes the facets as text that [`Facets::from_text`] reads.
    pub fn to_text(&self) -> String {
        // Text, flags and lists of text can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what [`Facets::to_text`] wrote.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn clear(&mut self) {
        self.speaker = Speaker::Other;
        self.tools.clear();
        self.model = None;
        self.error = false;
    }
}
