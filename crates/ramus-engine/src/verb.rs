//! One file per verb.

pub(crate) mod append;
pub(crate) mod base;
pub(crate) mod branch;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod follow;
pub(crate) mod fork;
pub(crate) mod gc;
pub(crate) mod info;
pub(crate) mod label;
pub(crate) mod list;
pub(crate) mod messages;
pub(crate) mod meta;
pub(crate) mod open;
pub(crate) mod recent;
pub(crate) mod recover;
pub(crate) mod rename;
pub(crate) mod repair;
pub(crate) mod replace_segment;
pub(crate) mod resume;
pub(crate) mod rewrite_call;
pub(crate) mod say;
pub(crate) mod survey;
pub(crate) mod writable;
