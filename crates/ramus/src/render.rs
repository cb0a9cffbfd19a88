//! How things look: text for people, JSON for programs.
//!
//! Everything a person reads is a [`Text`], and everything that is put into one has passed [`clean`]: what others stored
//! never controls the terminal.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod conversation;
pub(crate) mod disk;
pub(crate) mod glyphs;
pub(crate) mod markdown;
pub(crate) mod quantity;
pub(crate) mod recovery;
pub(crate) mod short_id;
pub(crate) mod style;
pub(crate) mod table;
mod text;
pub(crate) mod tree;
pub(crate) mod usage;

pub(crate) use answer::Answer;
pub(crate) use ramus_wire::{clean, preview};
pub(crate) use text::Text;

/// What programs are told.
pub(crate) mod json {
    pub(crate) use ramus_wire::members;
    pub(crate) use ramus_wire::session::*;
}
