//! A witness of a command: it sees which paths the command and everything it starts can change, and holds nothing up.
//!
//! The kernel stops a process before each system call that can change a name or open a file to write, tells the witness, and
//! goes on when the witness has written down what it is about. Reading costs nothing. It is a record, not a guard: a program
//! that means to can change what it asked for after it was looked at. Who is kept from what is the business of a sandbox.
//!
//! The invariant: whatever is not understood makes the whole record unknown. A path that is missing in one that is known was
//! not changed by the command.

#![deny(unsafe_code)]

mod calls;
mod filter;
mod kernel;
mod look;
mod reach;
mod witness;

pub use reach::Reach;
pub use witness::{Witness, submit};
