//! Tokens and cost as a table.

use ramus_engine::UsageBy;
use ramus_model::usage::Cost;
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr as _;

use super::{Answer as _, Text, clean, quantity, short_id, style};

const NARROWEST_KEY: usize = 10;
const WIDEST_KEY: usize = 60;

/// How many models without a price are named.
const NAMED: usize = 3;

/// Writes a report: a line per row, the total, and what is not known.
pub(crate) fn report(report: &Map<String, Value>, by: UsageBy, width: usize) -> Text {
    let mut text = Text::new();
    let all = report.items("rows");
    if all.is_empty() {
        text.plain("no answers that say what they used").end();
        return text;
    }
    let (name, has_children) = match by {
        UsageBy::Day => ("DAY", false),
        UsageBy::Model => ("MODEL", false),
        UsageBy::Project => ("PROJECT", false),
        UsageBy::Session => ("SESSION", all.iter().any(has_children)),
    };
    let nothing = Value::Null;
    let sum = report.get("total").unwrap_or(&nothing);
    let mut head = vec!["INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST"];
    head.extend(has_children.then_some("CHILDREN"));
    head.extend((by != UsageBy::Session).then_some("SESSIONS"));
    let head: Vec<String> = head.into_iter().map(str::to_owned).collect();
    let cells = |row: &Value| cells(row, has_children, by != UsageBy::Session);
    let rows: Vec<Vec<String>> = all.iter().map(cells).collect();
    let total = cells(sum);
    let widths = widths(rows.iter().chain([&head, &total]));
    let figures: usize = widths.iter().map(|width| width + 2).sum();
    let ids: Vec<&str> = all.iter().map(|row| row.word("key")).collect();
    let lengths = short_id::unique_lengths(&ids);
    let keys: Vec<String> = all.iter().zip(lengths).map(|(row, unique)| key(row, unique)).collect();
    let room = width.saturating_sub(figures).clamp(NARROWEST_KEY, WIDEST_KEY);
    let widest = keys.iter().map(|key| key.width()).max().unwrap_or_default();
    let key_width = widest.max(name.len()).min(room);
    let mut line = |key: &str, cells: &[String], style| {
        text.padded(style, &clean::cut(key, key_width), key_width);
        for (cell, width) in cells.iter().zip(&widths) {
            text.plain("  ").right(style, cell, *width);
        }
        text.end();
    };
    line(name, &head, style::DIM);
    keys.iter().zip(&rows).for_each(|(key, cells)| line(key, cells, style::NONE));
    line("total", &total, style::BOLD);
    footer(&mut text, report, sum);
    text
}

fn has_children(row: &Value) -> bool {
    row.get("children").is_some_and(|children| children.number("answers") > 0)
}

fn cells(row: &Value, with_children: bool, with_sessions: bool) -> Vec<String> {
    let counts = ["input", "output", "cache_read", "cache_write"].map(|name| row.number(name));
    let mut cells: Vec<String> = counts.into_iter().map(quantity::grouped).collect();
    cells.push(cost(cost_of(row)));
    if with_children {
        let of_children = row.get("children").filter(|_| has_children(row));
        cells.push(of_children.map_or_else(String::new, |children| cost(cost_of(children))));
    }
    if with_sessions {
        cells.push(quantity::grouped(row.number("sessions")));
    }
    cells
}

/// Reads what something cost.
pub(crate) fn cost_of(figures: &Value) -> Cost {
    Cost { micros: figures.get("cost_micros").and_then(Value::as_u64), unpriced: figures.number("unpriced") }
}

/// Writes what something cost: `?` when nobody knows, `$1.20+?` when a part of it is not known.
pub(crate) fn cost(cost: Cost) -> String {
    match (cost.micros.map(|micros| quantity::money(micros).unwrap_or_else(|| "$0.00".to_owned())), cost.unpriced) {
        (None, _) => "?".to_owned(),
        (Some(money), 0) => money,
        (Some(money), _) => format!("{money}+?"),
    }
}

/// The key as a table tells it: a session by the start of its id and its title.
fn key(row: &Value, unique: usize) -> String {
    let key = row.word("key");
    match row.maybe("title") {
        Some(title) => clean::one_line(&format!("{} {title}", short_id::shown(key, unique))),
        None => clean::one_line(key),
    }
}

fn widths<'r>(rows: impl Iterator<Item = &'r Vec<String>>) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.width()));
    }
    widths
}

/// Says what the question marks stand for.
fn footer(text: &mut Text, report: &Map<String, Value>, sum: &Value) {
    let unpriced = sum.count("unpriced");
    if unpriced == 0 {
        return;
    }
    let names = report.words("unpriced_models");
    let more = names.len().saturating_sub(NAMED);
    let mut named = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if more > 0 {
        named.push_str(&format!(" and {more} more"));
    }
    let answers = quantity::count(unpriced, "answer", "answers");
    let known = report.word("prices_as_of");
    text.styled(style::DIM, &format!("?: {answers} of {named}, whose price is not known (prices of {known})")).end();
    text.styled(style::DIM, "   name them in prices.toml; `ramus usage --help` shows how").end();
}
