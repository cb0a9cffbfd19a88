//! Which shares show something of what goes. Their pages are frozen, and hold what was on their paths when they were made.

use std::collections::BTreeSet;

use ramus_model::Seq;

use super::plan::Plan;
use crate::session::Session;

/// What shares must not show any more.
pub(super) struct Shown {
    erased: BTreeSet<Seq>,
    /// Whether any share may show some of it.
    is_anywhere: bool,
}

impl Shown {
    pub(super) fn of(session: &Session, plan: &Plan) -> Self {
        let log = session.log();
        // Pages bear the title. Where entries were written again, paths were other ones once: nobody knows which.
        let is_named = plan.titles.header || !plan.titles.entries.is_empty();
        let is_anywhere = is_named || log.seqs().any(|seq| !log.is_original(seq));
        Self { erased: plan.erased().collect(), is_anywhere }
    }

    /// Says whether the page of a path that ends with an entry may show what goes.
    pub(super) fn is_in(&self, session: &Session, entry: &str) -> bool {
        let log = session.log();
        let is_clean = |end| log.ancestors(Some(end)).all(|seq| !self.erased.contains(&seq));
        self.is_anywhere || !log.seq_of(entry).is_some_and(is_clean)
    }
}
