//! What answers used and cost.

use ramus_engine::{UsageReport, UsageRow};
use ramus_model::usage::{Cost, Prices, UsageTotals};
use serde_json::{Map, Value, json};

use crate::members;

/// A report.
pub fn report(report: &UsageReport, prices: &Prices) -> Map<String, Value> {
    let unreadable = report.unreadable.iter().map(|(session, reason)| json!({"session": session, "reason": reason}));
    members(json!({
        "rows": report.rows.iter().map(row).collect::<Vec<_>>(),
        "total": figures(&report.total.usage, report.total.cost, Some(report.total.sessions)),
        "prices_as_of": prices.as_of,
        "unpriced_models": unpriced(report, prices),
        "unreadable": unreadable.collect::<Vec<_>>(),
    }))
}

/// The models whose price is not known.
fn unpriced(report: &UsageReport, prices: &Prices) -> Vec<String> {
    let models = report.total.usage.unreported.keys().filter(|model| prices.price(model).is_none());
    models.map(ToString::to_string).collect()
}

fn row(row: &UsageRow) -> Value {
    let mut members = Map::from_iter([("key".to_owned(), Value::from(row.key.as_str()))]);
    members.extend(figures(&row.usage, row.cost, Some(row.sessions)));
    if let Some(session) = &row.session {
        members.insert("title".into(), session.title.as_str().into());
        members.insert("own".into(), figures(&row.usage, row.cost, None).into());
        members.insert("children".into(), figures(&session.children, session.children_cost, None).into());
    }
    members.into()
}

fn figures(usage: &UsageTotals, cost: Cost, sessions: Option<usize>) -> Map<String, Value> {
    let mut members = members(json!({
        "input": usage.tokens.input,
        "output": usage.tokens.output,
        "cache_read": usage.tokens.cache_read,
        "cache_write": usage.tokens.cache_write,
        "cost_micros": cost.micros,
        "unpriced": cost.unpriced,
        "answers": usage.answers,
    }));
    members.extend(sessions.map(|sessions| ("sessions".to_owned(), sessions.into())));
    members
}
