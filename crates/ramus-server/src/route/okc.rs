//! The routes of a workbench: `/api/session` is the one session of a client, with a root, a history, and a workspace with
//! snapshots; `/api/conversations` are trees that clients keep; `/api/chat` has a model answer.
//!
//! A client is a part of what an owner has. The token says whose a request is; the client id only tells the owner's own
//! frontends apart, and what belongs to another client is not there.

pub(super) mod assets;
pub(super) mod boot;
pub(super) mod chat;
mod client;
pub(super) mod conversations;
pub(super) mod history;
mod live;
mod places;
mod reply;
mod standing;
mod stream;
pub(super) mod workspace;

pub(crate) use chat::waits_for_turn;
pub(crate) use client::{Client, Whose};
pub(crate) use places::Places;
