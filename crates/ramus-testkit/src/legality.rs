//! Whatever a session holds and wherever it was interrupted, every request that is made of it is legal in every format.
//!
//! [`tree`] makes sessions with everything that other programs, crashes and edits leave behind. [`Trial`] takes each of them
//! at every entry and at every cut, forks, evicts and compacts it, and has every request judged by the judges of
//! [`crate::model_server`], which know the rules of the formats and nothing of the code that makes the requests. A [`Harm`]
//! spoils histories on purpose, to show that the trial notices.

mod fork;
mod harm;
mod history;
mod message;
mod part;
mod room;
mod tree;
mod trial;

pub use harm::Harm;
pub use tree::tree;
pub use trial::{Tally, Trial};
