//! The files of a session's directory through time: what entries tell about them, who changed what, and the snapshots that
//! are taken around calls.
//!
//! The invariant: what somebody else changed is told apart from what ramus and its agents changed, as far as snapshots can
//! tell, and in doubt it counts as somebody else's.

mod account;
mod ledger;
mod note;
mod timeline;

pub(crate) use account::Account;
pub(crate) use ledger::{Ledger, Ledgers, Step};
pub use note::{Cause, Summary};
pub(crate) use note::{FILES, Name, Note, SNAPSHOT, TURN, short, theirs_to_json};
pub(crate) use timeline::{Blame, Timeline, Touched};
