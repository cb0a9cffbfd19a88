//! The files of a session's directory through time: what entries tell about them, who changed what, and the snapshots that
//! are taken around calls.
//!
//! The invariant: what somebody else changed is told apart from what ramus and its agents changed, as far as snapshots can
//! tell, and in doubt it counts as somebody else's.

mod account;
mod ledger;
mod named;
mod note;
mod owned;
mod path;
mod pulse;
mod sight;
mod timeline;
mod vaults;

pub(crate) use account::Account;
pub(crate) use ledger::{Ledger, Ledgers, Newest, Step};
pub(crate) use named::Named;
pub use note::{Cause, Summary};
pub(crate) use note::{FILES, Name, Note, SNAPSHOT, TURN, paths_to_json, short};
pub(crate) use owned::{io, make};
pub(crate) use pulse::{BEAT, Pulse, is_later};
pub(crate) use timeline::{Blame, Timeline, Touched};
pub(crate) use vaults::{Kept, ids, look_outside, note_outsider};
