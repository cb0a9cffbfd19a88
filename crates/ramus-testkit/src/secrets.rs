//! Secrets that were never anybody's, in surroundings where real ones leak, and clean lines that only look like it.
//!
//! [`FORMATS`] is written from what the issuers publish about their keys, and knows nothing of how ramus finds them: a
//! redactor that only knew its own table would fail here. What must not be left is told with each text, in every spelling
//! that the surroundings gave it.

mod clean;
mod formats;
mod surroundings;
mod template;

pub use clean::clean_line;
pub use formats::{FORMATS, Format, Place};
pub use surroundings::{Planted, SURROUNDINGS, plant, plant_own};
pub use template::fill;
