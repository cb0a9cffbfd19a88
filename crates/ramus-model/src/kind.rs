//! What an entry is: its kind, its role when it is a message, its marker when it is one of ours.

/// The prefix of every `customType` that ramus adds to the log.
pub const RAMUS_PREFIX: &str = "ramus.";

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $wire:literal,)*) => {
        /// The `type` of an entry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$doc])* $variant,)*
            /// A type this version does not know; kept byte for byte and part of the tree.
            Unknown,
        }

        impl Kind {
            const ALL: &[Self] = &[$(Self::$variant,)* Self::Unknown];

            /// Reads the `type` field.
            pub fn from_wire(wire: &[u8]) -> Self {
                $(if wire == $wire.as_bytes() { return Self::$variant; })*
                Self::Unknown
            }

            /// Returns the `type` field, except for unknown kinds, whose name only their line knows.
            pub fn wire(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($wire),)*
                    Self::Unknown => None,
                }
            }
        }
    };
}

kinds! {
    /// A message of the conversation.
    Message = "message",
    /// A change of model for a role.
    ModelChange = "model_change",
    /// A change of thinking level.
    ThinkingLevelChange = "thinking_level_change",
    /// A summary that stands for older entries of its own path.
    Compaction = "compaction",
    /// A summary of a path that was left.
    BranchSummary = "branch_summary",
    /// State of an extension; outside the context.
    Custom = "custom",
    /// A message of an extension; inside the context.
    CustomMessage = "custom_message",
    /// A name for an entry.
    Label = "label",
    /// Rules that were injected.
    TtsrInjection = "ttsr_injection",
    /// What a session was started with.
    SessionInit = "session_init",
    /// A change of mode.
    ModeChange = "mode_change",
    /// A title (pi).
    SessionInfo = "session_info",
    /// A title (omp).
    TitleChange = "title_change",
    /// Nothing before it is sent to the model (omp).
    ResetBoundary = "reset_boundary",
    /// Replaces or removes an earlier message in the context (pi).
    ContextEdit = "context_edit",
}

impl Kind {
    /// The number a sidecar has for it.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// Reads the number of a sidecar.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// Instructions.
    System,
    /// A person.
    User,
    /// A model.
    Assistant,
    /// The outcome of a tool call.
    ToolResult,
    /// An extension.
    Custom,
    /// A command a person ran.
    BashExecution,
    /// A role this version does not know, or an entry that is no message.
    Other,
}

impl Role {
    const ALL: [Self; 7] =
        [Self::System, Self::User, Self::Assistant, Self::ToolResult, Self::Custom, Self::BashExecution, Self::Other];

    /// The number a sidecar has for it.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// Reads the number of a sidecar.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Reads the `role` field. The version 2 name `hookMessage` reads as [`Role::Custom`]; the legacy roles `tool` and
    /// `function` of other programs read as tool results.
    pub fn from_wire(wire: &[u8]) -> Self {
        match wire {
            b"user" => Self::User,
            b"assistant" => Self::Assistant,
            b"toolResult" | b"tool" | b"function" => Self::ToolResult,
            b"system" | b"developer" => Self::System,
            b"custom" | b"hookMessage" => Self::Custom,
            b"bashExecution" => Self::BashExecution,
            _ => Self::Other,
        }
    }
}

/// The ramus kinds that the tree must know; all travel as `custom` entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Marker {
    /// Not one of ours, or one that is part of the path (`ramus.todo`, `ramus.turn`, …).
    None,
    /// `ramus.leaf`: the leaf was moved to this entry's parent.
    Leaf,
    /// `ramus.meta`: metadata of the session.
    Meta,
    /// `ramus.segment`: a segment was replaced.
    Segment,
    /// `ramus.gap`: records that were left out of a base.
    Gap,
    /// `ramus.share`, `ramus.grant`, `ramus.approval`, `ramus.origin`, `ramus.purged-entry`, `ramus.conversation`: session
    /// scope, nothing the tree needs.
    Session,
    /// `ramus.purged`: a message was here and is gone for good. It still counts, so that no other message takes its number.
    Purged,
}

/// Says whether an entry of this kind is inert: it moves the pointer or holds for the whole session, hangs in the log, and
/// is never a leaf.
pub fn is_inert(kind: Kind, marker: Marker) -> bool {
    matches!(kind, Kind::Label | Kind::SessionInfo | Kind::TitleChange) || marker != Marker::None
}

impl Marker {
    const ALL: [Self; 7] = [Self::None, Self::Leaf, Self::Meta, Self::Segment, Self::Gap, Self::Session, Self::Purged];

    /// The number a sidecar has for it.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// Reads the number of a sidecar.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Reads a `customType`.
    pub fn from_custom_type(custom_type: &str) -> Self {
        match custom_type.strip_prefix(RAMUS_PREFIX) {
            Some("leaf") => Self::Leaf,
            Some("meta") => Self::Meta,
            Some("segment") => Self::Segment,
            Some("gap") => Self::Gap,
            Some("share" | "grant" | "approval" | "origin" | "purged-entry" | "conversation") => Self::Session,
            Some("purged") => Self::Purged,
            _ => Self::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sidecars hold these numbers: a change needs a new format of the checkpoint.
    #[test]
    fn the_numbers_of_sidecars_stay_what_they_are() {
        for (code, kind) in (0..).zip(Kind::ALL) {
            assert_eq!((kind.code(), Kind::from_code(code)), (code, Some(*kind)));
        }
        for (code, role) in (0..).zip(Role::ALL) {
            assert_eq!((role.code(), Role::from_code(code)), (code, Some(role)));
        }
        for (code, marker) in (0..).zip(Marker::ALL) {
            assert_eq!((marker.code(), Marker::from_code(code)), (code, Some(marker)));
        }
        let pinned = [Kind::Message, Kind::Compaction, Kind::Label, Kind::ContextEdit, Kind::Unknown].map(Kind::code);
        assert_eq!(pinned, [0, 3, 7, 14, 15]);
    }
}
