//! The budget: how much of a model's window a request may take, and what goes when it takes too much.
//!
//! Two ways out. A compaction replaces the older part of a path by a summary ([`plan`] says which part); an eviction leaves
//! whole turns, and then single steps, out of what is sent ([`evict`] says which). Neither ever parts a call from its
//! results.

mod evict;
mod plan;
mod result;
mod room;
mod weigh;

pub use evict::{Eviction, Weight, evict, weights};
pub use plan::{Keep, Plan, plan};
pub use result::{cut_results, result_tokens};
pub use room::Triggers;
pub use weigh::{Weighed, What, start, weigh};

/// Returns how many tokens an answer should be allowed in a window of this size: a share of half of it that grows with the
/// window, from a third to three fifths. `limit` is what the model can write at most.
pub fn desired_completion(window: u64, limit: Option<u64>) -> u64 {
    let half = window as f64 / 2.0;
    let share = (0.33 + half / 80_000.0 * 0.27).clamp(0.33, 0.6);
    let desired = (half * share) as u64;
    limit.map_or(desired, |limit| desired.min(limit))
}

/// Returns how many tokens an answer may have: what was asked for or is desired, as far as the prompt leaves room. 0 when
/// there is none.
pub fn max_tokens(window: u64, prompt: u64, asked: Option<u64>, limit: Option<u64>) -> u64 {
    let wanted = match (asked, limit) {
        (Some(asked), Some(limit)) => asked.min(limit),
        (Some(asked), None) => asked,
        (None, limit) => desired_completion(window, limit),
    };
    wanted.min(window.saturating_sub(prompt))
}
