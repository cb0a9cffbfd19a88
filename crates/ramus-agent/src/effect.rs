//! What a turn wants done.

use std::time::Duration;

use ramus_model::delta::{Answering, Called, Delta, Ending};

use crate::event::Event;
use crate::input::Outcome;
use crate::turn::End;

/// Names something that is being stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub u64);

/// Names something that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timer(pub u64);

/// Something that must be done now. Effects of one step are done in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Store this, durably, and report it.
    Store(Ticket, Store),
    /// Make the request from the path as it is now.
    Prepare {
        /// How far the history shall be simplified, because it was not accepted as it is: 1 without thoughts, 2 without
        /// images too, 3 as plain text.
        degrade: u8,
    },
    /// Ask the model what was prepared. With a text, the answer so far is `said` and the model shall go on from there.
    Ask {
        /// What the model said before it was cut off; empty for a new answer.
        said: String,
    },
    /// Note a piece of the answer before anybody is told about it, so that it survives this process.
    Journal(Delta),
    /// Nobody wants the rest of the answer.
    StopAsking,
    /// Summarise the older part of the path.
    Compact,
    /// Decide whether a call may run, asking a person if need be.
    Judge(usize, Called),
    /// Run a call.
    Run(usize, Called),
    /// Stop a call that runs, or a question that is open. It still must be reported.
    StopCall(usize),
    /// Report when so much time has passed.
    Wait(Timer, Duration),
    /// Tell whoever watches.
    Tell(Event),
    /// The turn is over.
    End(End),
}

/// Something to store.
#[derive(Clone, Debug, PartialEq)]
pub enum Store {
    /// What a person said.
    Prompt(String),
    /// What the model said.
    Answer(Box<Answering>, Ending),
    /// That a call starts.
    Started(Called),
    /// What came of a call.
    Result(Called, Outcome),
}
