//! Sessions as the routes under `/api/session` and `/api/conversations` tell them: nodes of a history, the state of a
//! workspace, and whole conversations.

mod conversation;
mod node;
mod workspace;

pub use conversation::conversation;
pub use node::Nodes;
pub use workspace::{current, state};
