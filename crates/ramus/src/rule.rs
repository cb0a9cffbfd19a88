//! Rules on the command line: `NAME=ACTION`, or `NAME:PATTERN=ACTION`.

use ramus_model::permission::{NoRule, Rule};

use crate::failure::Refusal;

/// Reads rules in order.
pub(crate) fn read_all(given: &[String]) -> Result<Vec<Rule>, Refusal> {
    let wrong = |error: NoRule| Refusal::usage(error.to_string()).hint(NoRule::HINT);
    given.iter().map(|text| text.parse().map_err(wrong)).collect()
}
