//! After a crash: which calls have no result, and what is known about each. Nothing is ever run again.

use std::collections::HashSet;

/// What a call that started and has no result is answered with.
pub const INTERRUPTED: &str = "[Interrupted: it may or may not have taken effect]";

/// What a call that never started is answered with.
pub const NOT_EXECUTED: &str = "[Not executed: the turn was interrupted before it started]";

/// A call without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// The call's id.
    pub call: String,
    /// The tool.
    pub name: String,
    /// Whether it was stored that it started.
    pub has_started: bool,
}

impl Unanswered {
    /// Returns what it is answered with.
    pub fn text(&self) -> &'static str {
        if self.has_started { INTERRUPTED } else { NOT_EXECUTED }
    }
}

/// Finds the calls of an answer that have no result: `calls` are its calls, `started` and `results` the ids that entries
/// behind it on the path name.
pub fn unanswered(
    calls: impl IntoIterator<Item = (String, String)>,
    started: &HashSet<String>,
    results: &HashSet<String>,
) -> Vec<Unanswered> {
    let open = calls.into_iter().filter(|(call, _)| !results.contains(call));
    open.map(|(call, name)| Unanswered { has_started: started.contains(&call), call, name }).collect()
}
