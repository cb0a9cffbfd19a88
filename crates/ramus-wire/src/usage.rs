//! What answers used and cost.

use ramus_engine::{UsageReport, UsageRow};
use ramus_model::usage::{Cost, Prices, Tokens, UsageTotals};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;

/// Counts of tokens by what they are charged as.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub struct TokenCounts {
    /// Prompt tokens that were not cached.
    input: u64,
    /// Tokens of answers.
    output: u64,
    /// Prompt tokens read from a cache.
    cache_read: u64,
    /// Prompt tokens written to a cache.
    cache_write: u64,
}

impl From<Tokens> for TokenCounts {
    fn from(tokens: Tokens) -> Self {
        let Tokens { input, output, cache_read, cache_write } = tokens;
        Self { input, output, cache_read, cache_write }
    }
}

/// What answers used and cost.
#[derive(Serialize, ToSchema)]
struct UsageFigures {
    /// Prompt tokens that were not cached.
    input: u64,
    /// Tokens of answers.
    output: u64,
    /// Prompt tokens read from a cache.
    cache_read: u64,
    /// Prompt tokens written to a cache.
    cache_write: u64,
    /// In millionths of a US dollar; null when nothing is known of it.
    #[schema(required)]
    cost_micros: Option<u64>,
    /// How many answers have no price.
    unpriced: u64,
    answers: u64,
}

impl UsageFigures {
    fn of(usage: &UsageTotals, cost: Cost) -> Self {
        let Tokens { input, output, cache_read, cache_write } = usage.tokens;
        Self {
            input,
            output,
            cache_read,
            cache_write,
            cost_micros: cost.micros,
            unpriced: cost.unpriced,
            answers: usage.answers,
        }
    }
}

/// What a day, a model, a project or a session used.
#[derive(Serialize, ToSchema)]
#[schema(as = UsageRow)]
struct RowJson<'r> {
    /// The day, the model, the project or the session.
    key: &'r str,
    #[serde(flatten)]
    figures: UsageFigures,
    /// How many sessions have a part in it.
    sessions: usize,
    /// Of a session: its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    title: Option<&'r str>,
    /// Of a session: what it used itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    own: Option<UsageFigures>,
    /// Of a session: what those used that it started, and theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    children: Option<UsageFigures>,
}

impl<'r> RowJson<'r> {
    fn of(row: &'r UsageRow) -> Self {
        let session = row.session.as_ref();
        Self {
            key: &row.key,
            figures: UsageFigures::of(&row.usage, row.cost),
            sessions: row.sessions,
            title: session.map(|session| session.title.as_str()),
            own: session.map(|_| UsageFigures::of(&row.usage, row.cost)),
            children: session.map(|session| UsageFigures::of(&session.children, session.children_cost)),
        }
    }
}

/// What all of it came to.
#[derive(Serialize, ToSchema)]
struct UsageTotal {
    #[serde(flatten)]
    figures: UsageFigures,
    /// How many sessions have a part in it.
    sessions: usize,
}

/// Something that could not be read.
#[derive(Serialize, ToSchema)]
#[schema(as = UnreadableSession)]
pub struct UnreadableJson<'u> {
    pub(crate) session: &'u str,
    pub(crate) reason: &'u str,
}

/// Sessions that could not be read, and why.
pub(crate) fn unreadable(unreadable: &[(String, String)]) -> Vec<UnreadableJson<'_>> {
    unreadable.iter().map(|(session, reason)| UnreadableJson { session, reason }).collect()
}

/// A report of what answers used.
#[derive(Serialize, ToSchema)]
#[schema(as = UsageReport)]
pub struct ReportJson<'r> {
    rows: Vec<RowJson<'r>>,
    total: UsageTotal,
    /// The day that the prices are of.
    prices_as_of: &'r str,
    /// The models whose price is not known.
    unpriced_models: Vec<String>,
    unreadable: Vec<UnreadableJson<'r>>,
}

/// A report.
pub fn report(report: &UsageReport, prices: &Prices) -> Map<String, Value> {
    let total = &report.total;
    object_of(&ReportJson {
        rows: report.rows.iter().map(RowJson::of).collect(),
        total: UsageTotal { figures: UsageFigures::of(&total.usage, total.cost), sessions: total.sessions },
        prices_as_of: &prices.as_of,
        unpriced_models: unpriced(report, prices),
        unreadable: unreadable(&report.unreadable),
    })
}

/// The models whose price is not known.
fn unpriced(report: &UsageReport, prices: &Prices) -> Vec<String> {
    let models = report.total.usage.unreported.keys().filter(|model| prices.price(model).is_none());
    models.map(ToString::to_string).collect()
}
