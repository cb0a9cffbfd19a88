//! The turn: what happens between a prompt and the end of its answer, as a state machine that does nothing itself.
//!
//! [`Turn::step`] takes what happened and says what must be done now: store entries, ask the model, run a tool. Whoever
//! drives it does that and reports back. It reads no clock, draws no random numbers and knows no store, so every order of
//! events can be played through, and a crash after any step.
//!
//! The invariants: what a person said is stored before the model is asked; an answer is stored before any of its calls
//! runs; that a call starts is stored before it does; every call gets exactly one result; after the end nothing is done.

mod effect;
mod event;
mod input;
mod resume;
mod turn;

pub use effect::{Effect, Store, Ticket, Timer};
pub use event::{Event, Piece};
pub use input::{Failure, Input, Outcome, Prepared, Verdict};
pub use resume::{INTERRUPTED, NOT_EXECUTED, Unanswered, unanswered};
pub use turn::{Busy, End, Limits, Turn};
