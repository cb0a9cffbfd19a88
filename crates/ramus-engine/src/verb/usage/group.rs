//! Counting each answer once, and adding up what belongs together.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use ramus_model::usage::UsageTotals;
use ramus_model::{EntryId, SessionId};

use super::{Answered, SessionAnswers, SessionShare, UsageBy, UsageQuery, UsageReport, UsageRow};
use crate::verb::list::WhichDirectory;

/// Adds up answers.
pub(super) fn report(mut sessions: Vec<SessionAnswers>, query: &UsageQuery<'_>) -> UsageReport {
    count_once(&mut sessions);
    sessions.retain(|session| match &query.directory {
        WhichDirectory::All => true,
        WhichDirectory::One(cwd) => session.cwd == *cwd,
    });
    for session in &mut sessions {
        session.answers.retain(|answer| {
            query.since.is_none_or(|since| answer.millis >= since)
                && query.until.is_none_or(|until| answer.millis < until)
        });
    }
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut total = Row::default();
    for (number, session) in sessions.iter().enumerate() {
        for answer in &session.answers {
            rows.entry(key(session, answer, query)).or_default().add(number, answer);
            total.add(number, answer);
        }
    }
    if query.by == UsageBy::Session {
        // A session that answered nothing itself may have had others do it.
        for (session, _) in spawned(&sessions) {
            rows.entry(session.to_string()).or_default();
        }
    }
    let mut rows: Vec<UsageRow> = rows.into_iter().map(|(key, row)| row.finish(key, query)).collect();
    if query.by == UsageBy::Session {
        add_shares(&mut rows, &sessions, query);
    }
    if query.by != UsageBy::Day {
        // Stable: equal ones stay in the order of their keys.
        rows.sort_by_key(|row| Reverse((row.cost.micros, row.usage.tokens.sum())));
    }
    UsageReport { rows, total: total.finish("total".into(), query), unreadable: Vec::new() }
}

#[derive(Default)]
struct Row {
    usage: UsageTotals,
    sessions: HashSet<usize>,
}

impl Row {
    fn add(&mut self, session: usize, answer: &Answered) {
        self.usage.add(&answer.model, &answer.usage);
        self.sessions.insert(session);
    }

    fn finish(self, key: String, query: &UsageQuery<'_>) -> UsageRow {
        let cost = self.usage.cost(query.prices);
        UsageRow { key, cost, usage: self.usage, sessions: self.sessions.len(), session: None }
    }
}

fn key(session: &SessionAnswers, answer: &Answered, query: &UsageQuery<'_>) -> String {
    match query.by {
        UsageBy::Day => query.zone.day(answer.millis),
        UsageBy::Model => answer.model.to_string(),
        UsageBy::Project => session.project.as_ref().unwrap_or(&session.cwd).clone(),
        UsageBy::Session => session.id.to_string(),
    }
}

/// Leaves each answer where it was written first, and of the messages of one response the last.
fn count_once(sessions: &mut [SessionAnswers]) {
    sessions.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    let mut seen: HashSet<Identity> = HashSet::new();
    for session in sessions {
        session.answers.retain(|answer| seen.insert(Identity::of(answer)));
        let mut responses: HashSet<String> = HashSet::new();
        let mut is_last = |answer: &Answered| answer.response.clone().is_none_or(|id| responses.insert(id));
        let mut last: Vec<bool> = session.answers.iter().rev().map(&mut is_last).collect();
        session.answers.retain(|_| last.pop().unwrap_or(true));
    }
}

/// What a copy of an entry has in common with it.
#[derive(PartialEq, Eq, Hash)]
struct Identity {
    entry: EntryId,
    millis: i64,
    provider: String,
    model: String,
    usage: [u64; 5],
    cost: Option<u64>,
}

impl Identity {
    fn of(answer: &Answered) -> Self {
        let usage = &answer.usage;
        Self {
            entry: answer.entry.clone(),
            millis: answer.millis,
            provider: answer.model.provider.clone(),
            model: answer.model.model.clone(),
            usage: [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total],
            cost: usage.cost_micros,
        }
    }
}

/// What the sessions used that each session spawned, and theirs.
fn spawned(sessions: &[SessionAnswers]) -> HashMap<&SessionId, UsageTotals> {
    let parents: HashMap<&SessionId, &SessionId> =
        sessions.iter().filter_map(|session| Some((&session.id, session.parent.as_ref()?))).collect();
    let mut spawned: HashMap<&SessionId, UsageTotals> = HashMap::new();
    for session in sessions.iter().filter(|session| !session.answers.is_empty()) {
        let mut own = UsageTotals::default();
        session.answers.iter().for_each(|answer| own.add(&answer.model, &answer.usage));
        // Hostile headers may name each other in a circle.
        let mut met = HashSet::from([&session.id]);
        let up = std::iter::successors(parents.get(&session.id), |id| parents.get(*id));
        for parent in up.take_while(|id| met.insert(id)) {
            spawned.entry(parent).or_default().merge(&own);
        }
    }
    spawned
}

fn add_shares(rows: &mut [UsageRow], sessions: &[SessionAnswers], query: &UsageQuery<'_>) {
    let by_id: HashMap<&str, &SessionAnswers> = sessions.iter().map(|session| (session.id.as_str(), session)).collect();
    let mut spawned: HashMap<&str, UsageTotals> =
        spawned(sessions).into_iter().map(|(id, usage)| (id.as_str(), usage)).collect();
    for row in rows {
        let children = spawned.remove(row.key.as_str()).unwrap_or_default();
        row.session = Some(SessionShare {
            // A parent that is gone, or in another directory, is known by what it spawned.
            title: by_id.get(row.key.as_str()).map_or_else(String::new, |session| session.title.clone()),
            children_cost: children.cost(query.prices),
            children,
        });
    }
}
