//! What answers used and cost.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::State;
use ramus_engine::{UsageBy, UsageQuery, WhichDirectory};
use ramus_model::time::{Day, Zone};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::Asked;

/// What is counted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Counted {
    /// What the rows are about: day, model, project or session.
    by: Option<String>,
    /// Only sessions of this directory.
    cwd: Option<String>,
    /// From this day on: YYYY-MM-DD, today, yesterday, or 7d.
    since: Option<String>,
    /// Up to this day.
    until: Option<String>,
}

/// Reports what answers used. Days are those of UTC.
#[utoipa::path(get, path = "/api/v1/usage", tag = "search", params(Counted),
    responses((status = 200, description = "A row for each, and the total", body = ramus_wire::usage::ReportJson), Refusals))]
pub(crate) async fn usage(
    State(app): State<Arc<App>>,
    owner: Owner,
    Asked(counted): Asked<Counted>,
) -> Result<Answer, ApiError> {
    let by = match counted.by.as_deref() {
        None | Some("day") => UsageBy::Day,
        Some("model") => UsageBy::Model,
        Some("project") => UsageBy::Project,
        Some("session") => UsageBy::Session,
        Some(other) => return Err(ApiError::usage(format!("{other:?} is nothing to count by"))),
    };
    app.work(move |app| {
        let zone = Zone::utc();
        let day = |text: &Option<String>| text.as_deref().map(|text| read_day(&zone, text)).transpose();
        let query = UsageQuery {
            by,
            directory: counted.cwd.clone().map_or(WhichDirectory::All, WhichDirectory::One),
            since: day(&counted.since)?.map(|day| day.start),
            until: day(&counted.until)?.map(|day| day.end),
            zone: zone.clone(),
            prices: &app.prices,
        };
        let ours = app.sessions_of(&owner)?;
        let is_alone = app.engine.session_ids()?.iter().all(|id| ours.contains(id));
        let report = if is_alone {
            app.engine.usage(&query)?
        } else {
            app.engine.usage_of(&query, &ours.iter().map(ToString::to_string).collect())?
        };
        Ok(Answer::object(ramus_wire::usage::report(&report, &app.prices)))
    })
    .await
}

fn read_day(zone: &Zone, text: &str) -> Result<Day, ApiError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
    let wrong = || ApiError::usage(format!("{text:?} is no day")).hint("say YYYY-MM-DD, today, yesterday, or 7d");
    zone.read_day(text, now).ok_or_else(wrong)
}
