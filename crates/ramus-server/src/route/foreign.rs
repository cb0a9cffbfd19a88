//! What other agents keep on this machine, and taking it in. It may take minutes, so it is started and watched.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::State;
use axum::http::StatusCode;
use ramus_engine::{ForeignImport, ForeignImported, ForeignProgress};
use ramus_wire::foreign as shape;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::{ApiError, Kind};
use crate::input::Body;

/// The import that runs, or how the last one ended.
#[derive(Default)]
pub(crate) struct Importing(Mutex<Phase>);

#[derive(Default)]
enum Phase {
    #[default]
    Never,
    Running(ForeignProgress),
    Ended(Result<ForeignImported, ApiError>),
}

impl Importing {
    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that an import starts, unless one runs.
    fn start(&self) -> Result<(), ApiError> {
        let mut phase = self.phase();
        if matches!(*phase, Phase::Running(_)) {
            return Err(ApiError::busy("an import is running").hint("watch it, and start another one afterwards"));
        }
        *phase = Phase::Running(ForeignProgress::default());
        Ok(())
    }

    fn to_json(&self) -> Map<String, Value> {
        match &*self.phase() {
            Phase::Never => shape::never(),
            Phase::Running(progress) => shape::running(progress),
            Phase::Ended(Ok(done)) => shape::ended(done),
            Phase::Ended(Err(error)) => shape::failed(error.to_string()),
        }
    }
}

/// However the thread ends, the import is over then, and another one can be started.
struct Guard {
    app: Arc<App>,
    end: Option<Result<ForeignImported, ApiError>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let failed = || Err(ApiError::new(Kind::Broken, "the thread of the import failed"));
        let end = self.end.take().unwrap_or_else(failed);
        if let Err(error) = &end {
            self.app.log_error(error, "import");
        }
        *self.app.importing.phase() = Phase::Ended(end);
    }
}

/// Tells which sessions of other agents are on this machine, and how far an import has come. Only the user of the home may ask.
#[utoipa::path(get, path = "/api/v1/foreign", tag = "transfer",
    responses((status = 200, description = "How many files of each agent, and the import", body = shape::ForeignSessions), Refusals))]
pub(crate) async fn found(State(app): State<Arc<App>>, owner: Owner) -> Result<Answer, ApiError> {
    app.access.check_user(&owner)?;
    app.work(move |app| {
        let stores = app.engine.find_foreign(&app.workshop.places()?);
        Ok(Answer::object(shape::found(&stores, app.importing.to_json())))
    })
    .await
}

/// Which sessions are taken in.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Wanted {
    /// The agents; all of them when none is named.
    agents: Vec<String>,
}

/// Takes in the sessions of other agents that are new here. Answers at once; `GET` tells how far it has come. Nothing of theirs is
/// changed. Only the user of the home may.
#[utoipa::path(post, path = "/api/v1/foreign", tag = "transfer", request_body = Wanted,
    responses((status = 202, description = "The import was started", body = shape::StartedImport), Refusals))]
pub(crate) async fn import(
    State(app): State<Arc<App>>,
    owner: Owner,
    Body(wanted): Body<Wanted>,
) -> Result<Answer, ApiError> {
    app.access.check_user(&owner)?;
    app.work(move |app| {
        let mut stores = app.engine.find_foreign(&app.workshop.places()?);
        let is_wanted = |name: &str| wanted.agents.is_empty() || wanted.agents.iter().any(|agent| agent == name);
        stores.retain(|store| store.format.is_some_and(|format| is_wanted(format.name())));
        app.importing.start()?;
        let working = Arc::clone(app);
        let started = std::thread::Builder::new().name("import".into()).spawn(move || {
            let mut guard = Guard { app: Arc::clone(&working), end: None };
            let mut tell = |progress| *working.importing.phase() = Phase::Running(progress);
            let done = working.engine.import_foreign(&stores, ForeignImport::default(), &mut tell);
            guard.end = Some(done.map_err(ApiError::from));
        });
        if started.is_err() {
            *app.importing.phase() = Phase::Never;
            return Err(ApiError::busy("no thread could be started for the import"));
        }
        Ok(Answer::object(shape::started(app.importing.to_json())).status(StatusCode::ACCEPTED))
    })
    .await
}
