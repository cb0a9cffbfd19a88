//! A session for viewers that show a part of it at a time: its shape, some rows, some entries whole.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::Session;
use ramus_model::Seq;
use ramus_wire::outline as shape;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Named};

/// How many entries can be asked for at a time.
const MOST: usize = 500;

/// How many entries are read to tell what turns came to, in one request.
const READ: usize = 10_000;

/// How many bytes of entries an answer holds, whatever was asked for.
const WEIGHT: usize = 8 << 20;

/// Which part of the shape is told.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Behind {
    /// Only entries behind this position.
    after: u64,
}

/// Tells the shape of the whole tree, without any text: columns of positions, parents and kinds.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/outline", tag = "entries",
    params(("id" = String, Path, description = "The session"), Behind),
    responses((status = 200, description = "The shape", body = shape::Outline), Refusals))]
pub(crate) async fn outline(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(behind): Asked<Behind>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        Ok(Answer::object(shape::outline(&session, behind.after)?).at(session.log().len() as u64))
    })
    .await
}

/// Which entries are told.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Chosen {
    /// Positions, with commas between them; `5-9` is the turn from 5 to 9.
    at: String,
    /// One more, by its id, unique prefix, #seq or label.
    entry: Option<String>,
}

impl Chosen {
    fn places(&self, session: &Session) -> Result<Vec<(Seq, Option<Seq>)>, ApiError> {
        let seq = |text: &str| text.parse().ok().and_then(Seq::new);
        let place = |text: &str| match text.split_once('-') {
            Some((start, end)) => Some((seq(start)?, Some(seq(end)?))),
            None => Some((seq(text)?, None)),
        };
        let wrong = |text: &str| ApiError::usage(format!("{text:?} is no position: say 5, or 5-9 for a turn"));
        let parts = self.at.split(',').filter(|part| !part.is_empty());
        let mut places: Vec<_> = parts.map(|part| place(part).ok_or_else(|| wrong(part))).collect::<Result<_, _>>()?;
        if places.len() > MOST {
            return Err(ApiError::usage(format!("at most {MOST} entries can be asked for at a time")));
        }
        if let Some(entry) = &self.entry {
            places.push((session.resolve(entry)?, None));
        }
        Ok(places)
    }
}

/// Tells one line about each of some entries, or of some turns.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/rows", tag = "entries",
    params(("id" = String, Path, description = "The session"), Chosen),
    responses((status = 200, description = "A row for each that is there", body = shape::OutlineRows), Refusals))]
pub(crate) async fn rows(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(chosen): Asked<Chosen>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let places = chosen.places(&session)?;
        let mut budget = READ;
        let rows = places.into_iter().map(|place| shape::row(&session, place, &app.prices, &mut budget));
        let rows: Vec<Value> = rows.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        Ok(Answer::of(&shape::OutlineRows { rows })?.at(session.log().len() as u64))
    })
    .await
}

/// Reads some entries whole, in the order they are asked for. `rest` tells which of them did not fit any more.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/passage", tag = "entries",
    params(("id" = String, Path, description = "The session"), Chosen),
    responses((status = 200, description = "The entries that are there", body = shape::Passage), Refusals))]
pub(crate) async fn passage(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(chosen): Asked<Chosen>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let places = chosen.places(&session)?;
        let (mut entries, mut weight, mut rest) = (Vec::new(), 0, Vec::new());
        for (seq, _) in places {
            if weight > WEIGHT {
                rest.push(seq.number());
                continue;
            }
            if session.log().record(seq).is_none() {
                continue;
            }
            weight += session.line(seq)?.len();
            entries.extend(shape::whole(&session, seq, &app.prices)?);
        }
        Ok(Answer::of(&shape::Passage { entries, rest })?.at(session.log().len() as u64))
    })
    .await
}
