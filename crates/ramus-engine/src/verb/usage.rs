//! `usage`: what answers used and cost, by day, model, project or session.
//!
//! Every answer counts once: the last message of a response, in the oldest session that has it. Copies of a session, and
//! what forks share with their origin, add nothing. What was kept of a deleted session for its forks still counts.

mod group;
mod reading;

use ramus_model::time::Zone;
use ramus_model::usage::{Cost, Prices, UsageTotals};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::verb::list::WhichDirectory;

/// What the rows of a report are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageBy {
    /// A day in the zone of the query.
    #[default]
    Day,
    /// A model, as `provider/name`.
    Model,
    /// A repository, or the working directory of sessions that are in none.
    Project,
    /// A session.
    Session,
}

/// What is counted, and how it is told.
#[derive(Clone, Debug)]
pub struct UsageQuery<'p> {
    /// What the rows are about.
    pub by: UsageBy,
    /// Which sessions count.
    pub directory: WhichDirectory,
    /// Only answers from this time on, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only answers before this time.
    pub until: Option<i64>,
    /// Where days begin and end.
    pub zone: Zone,
    /// What models cost that do not report it.
    pub prices: &'p Prices,
}

/// What answers used and cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageReport {
    /// Days in their order; everything else with the dearest first.
    pub rows: Vec<UsageRow>,
    /// All of it.
    pub total: UsageRow,
    /// Sessions that could not be read, and why: what they used is missing.
    pub unreadable: Vec<(String, String)>,
}

/// What one day, model, project or session used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageRow {
    /// Which one.
    pub key: String,
    /// Tokens and what was reported.
    pub usage: UsageTotals,
    /// What it cost.
    pub cost: Cost,
    /// How many sessions the answers are in.
    pub sessions: usize,
    /// For a session, its title and what the sessions used that it spawned, and theirs. That is in their rows too.
    pub session: Option<SessionShare>,
}

/// What a row tells about a session beyond what it used itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionShare {
    /// The title.
    pub title: String,
    /// What its children used, and theirs.
    pub children: UsageTotals,
    /// What that cost.
    pub children_cost: Cost,
}

impl Engine {
    /// Says what answers used and cost. Logs that cannot be read are named, not dropped.
    pub fn usage(&self, query: &UsageQuery<'_>) -> Result<UsageReport, EngineError> {
        self.usage_where(query, &|_| true)
    }

    pub(crate) fn usage_where(
        &self,
        query: &UsageQuery<'_>,
        counts: &dyn Fn(&str) -> bool,
    ) -> Result<UsageReport, EngineError> {
        let mut logs = self.consult(&mut |held, _| Ok(held.answers()?))?;
        logs.retain(|log| counts(&log.id));
        Ok(group::report(logs, query, query.directory.place().as_mut()))
    }
}
