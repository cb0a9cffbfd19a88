//! Sessions as files for elsewhere. Pure: bytes in, bytes out; which session, what of it and where it goes is the engine's.
//!
//! [`bundle`] loses nothing and is read back. [`html`] and [`markdown`] are for people: they show a [`Transcript`], which
//! the engine has filled with what may leave, and never look at anything else.

pub mod bundle;
pub mod html;
pub mod markdown;
mod outline;
pub mod transcript;

pub use outline::Outline;
pub use transcript::{Entry, Part, Speaker, Transcript};
