//! JSON as it stands in a log: borrowed, validated, never re-encoded.
//!
//! A session file must keep number spellings, unknown fields and lone surrogates (`"\ud83d"`), none of which survive a
//! trip through an ordinary JSON tree. [`Raw`] is a view of the bytes of one value that the lexer has checked.
//! The lexer is iterative, so nesting depth costs memory, never stack.

mod lex;
mod tape;
mod text;
mod view;

pub(crate) use lex::{Lexer, next_special};
pub use tape::{DEPTH, Node, Tape};
pub use text::quote;
pub use view::{Items, Object, Raw, Shape};
