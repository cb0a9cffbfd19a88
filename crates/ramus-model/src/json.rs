//! JSON as it stands in a log: borrowed, validated, never re-encoded.
//!
//! A session file must keep number spellings, unknown fields and lone surrogates (`"\ud83d"`), none of which survive a
//! trip through an ordinary JSON tree. [`Raw`] is a view of the bytes of one value that the lexer has checked; what is in
//! it is found without checking it again. The lexer is iterative, so nesting depth costs memory, never stack.

mod checked;
mod halves;
mod lex;
mod skip;
mod spelled;
mod tape;
mod text;
mod view;

pub use checked::Checked;
pub use halves::mended;
pub(crate) use lex::{Lexer, next_special};
pub use spelled::Spelled;
pub use tape::{DEPTH, Node, Tape};
pub use text::quote;
pub use view::{Items, Object, Raw, Shape};
