//! Counting each answer once, and adding up what belongs together.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use ramus_catalogue::{Answer, LogAnswers, Residence};
use ramus_model::Project;
use ramus_model::message::Usage;
use ramus_model::usage::{ModelName, UsageTotals};

use super::{SessionShare, UsageBy, UsageQuery, UsageReport, UsageRow};
use crate::project::{Place, Standing};

/// What is told instead of the title of a session that was deleted.
const DELETED: &str = "(deleted)";

/// Adds up the answers of all logs, or of those at `place`.
pub(super) fn report(mut logs: Vec<LogAnswers>, query: &UsageQuery<'_>, place: Option<&mut Place<'_>>) -> UsageReport {
    logs.sort_by(|a, b| (a.created, &a.id, &a.name).cmp(&(b.created, &b.id, &b.name)));
    leave_out_bases(&mut logs);
    count_once(&mut logs);
    let unreadable = logs.iter().filter_map(|log| Some((log.id.clone(), log.unreadable.clone()?))).collect();
    if let Some(place) = place {
        logs.retain(|log| place.standing(&log.cwd, log.project.as_ref()) != Standing::Elsewhere);
    }
    for log in &mut logs {
        let created = log.created;
        log.answers.retain(|answer| {
            let millis = answer.millis.unwrap_or(created);
            query.since.is_none_or(|since| millis >= since) && query.until.is_none_or(|until| millis < until)
        });
    }
    let (mut rows, total) = add_up(&logs, query);
    if query.by == UsageBy::Session {
        add_shares(&mut rows, &logs, query);
    }
    if query.by != UsageBy::Day {
        // Stable: equal ones stay in the order of their keys.
        rows.sort_by_key(|row| Reverse((row.cost.micros, row.usage.tokens.sum())));
    }
    UsageReport { rows, total, unreadable }
}

/// As long as a session is there, its base is not read.
fn leave_out_bases(logs: &mut Vec<LogAnswers>) {
    let is_base = |log: &LogAnswers| log.residence == Residence::Base;
    let present: HashSet<String> = logs.iter().filter(|log| !is_base(log)).map(|log| log.id.clone()).collect();
    logs.retain(|log| !is_base(log) || !present.contains(&log.id));
    logs.iter_mut().filter(|log| is_base(log)).for_each(|log| log.title = DELETED.to_owned());
}

/// Leaves each answer in the oldest log that has it, and of the messages of one response the last.
fn count_once(logs: &mut [LogAnswers]) {
    let mut seen: HashSet<i64> = HashSet::new();
    for log in logs {
        log.answers.retain(|answer| seen.insert(answer.identity));
        let mut responses: HashSet<i64> = HashSet::new();
        let is_last = |answer: &Answer| answer.response.is_none_or(|response| responses.insert(response));
        let mut last: Vec<bool> = log.answers.iter().rev().map(is_last).collect();
        log.answers.retain(|_| last.pop().unwrap_or(true));
    }
}

#[derive(Default)]
struct Row<'l> {
    usage: UsageTotals,
    sessions: HashSet<&'l str>,
}

impl<'l> Row<'l> {
    fn add(&mut self, log: &'l LogAnswers, answer: &Answer) {
        add(&mut self.usage, answer);
        self.sessions.insert(&log.id);
    }

    fn finish(self, key: String, query: &UsageQuery<'_>) -> UsageRow {
        let cost = self.usage.cost(query.prices);
        UsageRow { key, cost, usage: self.usage, sessions: self.sessions.len(), session: None }
    }
}

fn add_up(logs: &[LogAnswers], query: &UsageQuery<'_>) -> (Vec<UsageRow>, UsageRow) {
    let mut rows: BTreeMap<String, Row<'_>> = BTreeMap::new();
    let mut total = Row::default();
    for log in logs {
        for answer in &log.answers {
            rows.entry(key(log, answer, query)).or_default().add(log, answer);
            total.add(log, answer);
        }
    }
    let rows = rows.into_iter().map(|(key, row)| row.finish(key, query)).collect();
    (rows, total.finish("total".into(), query))
}

fn add(usage: &mut UsageTotals, answer: &Answer) {
    let &Answer { input, output, cache_read, cache_write, cost_micros, .. } = answer;
    usage.add(&model(answer), &Usage { input, output, cache_read, cache_write, cost_micros, total: 0 });
}

fn model(answer: &Answer) -> ModelName {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    ModelName { provider: text(&answer.provider), model: text(&answer.model) }
}

fn key(log: &LogAnswers, answer: &Answer, query: &UsageQuery<'_>) -> String {
    match query.by {
        UsageBy::Day => query.zone.day(answer.millis.unwrap_or(log.created)),
        UsageBy::Model => model(answer).to_string(),
        UsageBy::Project => log.project.as_ref().map_or(&*log.cwd, Project::name).to_owned(),
        UsageBy::Session => log.id.clone(),
    }
}

/// What the sessions used that each session spawned, and theirs.
fn spawned(logs: &[LogAnswers]) -> HashMap<&str, UsageTotals> {
    let parents: HashMap<&str, &str> =
        logs.iter().filter_map(|log| Some((log.id.as_str(), log.parent.as_deref()?))).collect();
    let mut spawned: HashMap<&str, UsageTotals> = HashMap::new();
    for log in logs.iter().filter(|log| !log.answers.is_empty()) {
        let mut own = UsageTotals::default();
        log.answers.iter().for_each(|answer| add(&mut own, answer));
        // Hostile headers may name each other in a circle.
        let mut met = HashSet::from([log.id.as_str()]);
        let up = std::iter::successors(parents.get(log.id.as_str()), |id| parents.get(*id));
        for parent in up.take_while(|id| met.insert(id)) {
            spawned.entry(parent).or_default().merge(&own);
        }
    }
    spawned
}

/// Tells of each session what it is called and what it had others do, also of those that did nothing else.
fn add_shares(rows: &mut Vec<UsageRow>, logs: &[LogAnswers], query: &UsageQuery<'_>) {
    let titles: HashMap<&str, &str> = logs.iter().rev().map(|log| (log.id.as_str(), log.title.as_str())).collect();
    let mut spawned = spawned(logs);
    let shown: HashSet<String> = rows.iter().map(|row| row.key.clone()).collect();
    let silent = spawned.keys().filter(|id| !shown.contains(**id));
    let mut silent: Vec<UsageRow> = silent.map(|id| Row::default().finish((*id).to_owned(), query)).collect();
    silent.sort_by(|a, b| a.key.cmp(&b.key));
    rows.append(&mut silent);
    for row in rows {
        let children = spawned.remove(row.key.as_str()).unwrap_or_default();
        row.session = Some(SessionShare {
            // One that is gone, or in another directory, is known only by what it spawned.
            title: titles.get(row.key.as_str()).copied().unwrap_or_default().to_owned(),
            children_cost: children.cost(query.prices),
            children,
        });
    }
}
