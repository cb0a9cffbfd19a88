//! Sessions as the routes under `/api/session`, `/api/chat` and `/api/conversations` tell them: nodes of a history, the state of
//! a workspace, answers to what is said, and whole conversations.

mod chat;
mod client;
mod conversation;
mod node;
mod workspace;

pub use chat::{ChatCall, ChatMeta, ChatReply, WebPreview};
pub use client::{
    BootReply, BootThings, ClearedDeployments, ClearedHistory, ClearedPlace, ClientPlace, ClientSession, HistoryPage,
};
pub use conversation::{
    Conversation, ConversationDeleted, ConversationPage, ConversationPlace, OneConversation, conversation,
};
pub use node::{HistoryNode, Nodes};
pub use workspace::{KeptWorkspace, NamedWorkspace, RestoredWorkspace, WorkspaceState, current, no_workspace, state};
