//! Sessions: lists of them, and one whole.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use ramus_engine::{Children, Filter, NewSession, Sort, SortKey, TagChange, WhichDirectory};
use ramus_model::SessionId;
use ramus_wire::session::{self as shape, ListJson};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::{Refusals, Shape};
use crate::error::ApiError;
use crate::input::{Asked, Body, Expected, Named};

/// How many sessions a page holds when nobody says.
const PAGE: usize = 100;

/// How many it holds at most.
const MOST: usize = 10_000;

/// What is listed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Listed {
    /// Only sessions of this directory.
    cwd: Option<String>,
    /// Archived sessions too.
    archived: bool,
    /// Drafts too: sessions in which no model has answered.
    drafts: bool,
    /// At most so many.
    limit: Option<usize>,
    /// Behind this place: the `next_cursor` of the page before, or a session.
    cursor: Option<String>,
    /// Only sessions whose title or directory contains this.
    search: Option<String>,
    /// Only sessions with this tag.
    tag: Option<String>,
    /// Only starred sessions.
    starred: bool,
    /// Only sessions that this one started.
    parent: Option<String>,
    /// Only sessions of this project.
    project: Option<String>,
    /// The order: updated, created, title, messages, cost or tokens.
    sort: Option<String>,
    /// The other way round.
    reverse: bool,
    /// The ids of all sessions too, for whoever shortens them.
    ids: bool,
}

impl Listed {
    fn filter(self, owner: &Owner) -> Result<Filter, ApiError> {
        let key = match self.sort.as_deref() {
            None | Some("updated") => SortKey::Updated,
            Some("created") => SortKey::Created,
            Some("title") => SortKey::Title,
            Some("messages") => SortKey::Messages,
            Some("cost") => SortKey::Cost,
            Some("tokens") => SortKey::Tokens,
            Some(other) => return Err(ApiError::usage(format!("{other:?} is no order"))),
        };
        Ok(Filter {
            directory: self.cwd.map_or(WhichDirectory::All, WhichDirectory::One),
            drafts: self.drafts,
            archived: self.archived,
            owner: Some(owner.name().to_owned()),
            text: self.search,
            tag: self.tag,
            starred: self.starred,
            parent: self.parent.as_deref().map(SessionId::from),
            project: self.project,
            sort: Sort { key, is_ascending: (key == SortKey::Title) != self.reverse },
            limit: Some(self.limit.unwrap_or(PAGE).clamp(1, MOST)),
            ids: self.ids,
            cursor: self.cursor,
        })
    }
}

/// Lists sessions.
#[utoipa::path(get, path = "/api/v1/sessions", tag = "sessions", params(Listed),
    responses((status = 200, description = "The sessions, and where the next page starts", body = Shape), Refusals))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    owner: Owner,
    Asked(listed): Asked<Listed>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut listing = app.engine.list(&listed.filter(&owner)?)?;
        // A file that cannot be read has no owner that could be asked for.
        if !app.access.is_user(&owner) {
            listing.unreadable.clear();
        }
        if !listing.ids.is_empty() {
            let ours = app.sessions_of(&owner)?;
            listing.ids.retain(|id| ours.contains(id));
        }
        Answer::of(&ListJson::of(&listing, &app.prices, &app.engine.open_shares()?))
    })
    .await
}

/// What a new session starts with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct New {
    /// The working directory; where the server was started when none is named.
    cwd: Option<String>,
    /// The title.
    title: Option<String>,
    /// The model, as `PROVIDER/NAME`.
    model: Option<String>,
    /// The session that starts this one.
    parent: Option<String>,
}

/// Makes a session.
#[utoipa::path(post, path = "/api/v1/sessions", tag = "sessions", request_body = New,
    responses((status = 201, description = "The session", body = Shape), Refusals))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    owner: Owner,
    Body(new): Body<New>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let parent = new.parent.map(|parent| app.session(&owner, &parent)).transpose()?;
        let cwd = new.cwd.unwrap_or_else(|| app.directory.clone());
        check_directory(&cwd)?;
        let session = app.engine.create(NewSession {
            cwd,
            title: new.title,
            model: new.model,
            parent: parent.map(|parent| parent.id().clone()),
            owner: (owner.name() != "default").then(|| owner.name().to_owned()),
            permission: Vec::new(),
        })?;
        let answer = Answer::json(json!({"session": shape::brief_session(&session)}));
        Ok(answer.status(StatusCode::CREATED).at(session.log().len() as u64))
    })
    .await
}

fn check_directory(cwd: &str) -> Result<(), ApiError> {
    if std::path::Path::new(cwd).is_absolute() && !cwd.contains('\0') {
        return Ok(());
    }
    Err(ApiError::invalid("a working directory is an absolute path"))
}

/// Describes a session.
#[utoipa::path(get, path = "/api/v1/sessions/{id}", tag = "sessions", params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "The session, where it ends, and its position as ETag", body = Shape), Refusals))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let info = app.engine.describe(&session, &app.directory)?;
        let object = shape::whole(&session, &info, &app.prices, &app.engine.open_shares()?);
        Ok(Answer::json(json!({"session": object})).at(session.log().len() as u64))
    })
    .await
}

/// What is changed about a session.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Change {
    /// The title.
    title: Option<String>,
    /// The model from here on, as `PROVIDER/NAME`.
    model: Option<String>,
    /// The working directory.
    cwd: Option<String>,
    /// All tags.
    tags: Option<Vec<String>>,
    /// Tags to add.
    add_tags: Vec<String>,
    /// Tags to remove.
    remove_tags: Vec<String>,
    /// Whether it is starred.
    starred: Option<bool>,
    /// Free metadata; null removes a key.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
}

/// Changes what is known about a session. Each change is an entry of its own; the first that fails ends it.
#[utoipa::path(patch, path = "/api/v1/sessions/{id}", tag = "sessions", request_body = Change,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The session as it is now", body = Shape), Refusals))]
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(change): Body<Change>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        if let Some(cwd) = &change.cwd {
            check_directory(cwd)?;
        }
        let mut session = app.session_at(&owner, &id, expected)?;
        let engine = &app.engine;
        let mut written = Vec::new();
        if let Some(title) = &change.title {
            written.push(shape::written(&engine.rename(&mut session, title)?));
        }
        if let Some(model) = &change.model {
            engine.switch_model(&mut session, model)?;
        }
        if let Some(tags) = change.tags {
            engine.change_tags(&mut session, &TagChange::Set(tags))?;
        }
        for (tags, change) in
            [(change.add_tags, TagChange::Add as fn(Vec<String>) -> TagChange), (change.remove_tags, TagChange::Remove)]
        {
            if !tags.is_empty() {
                engine.change_tags(&mut session, &change(tags))?;
            }
        }
        if let Some(starred) = change.starred {
            engine.set_starred(&mut session, starred)?;
        }
        if let Some(metadata) = change.metadata.filter(|metadata| !metadata.is_empty()) {
            engine.set_metadata(&mut session, metadata)?;
        }
        if let Some(cwd) = &change.cwd {
            engine.move_to(&mut session, cwd)?;
        }
        let position = app.finish(&mut session)?;
        let info = engine.describe(&session, &app.directory)?;
        let object = shape::whole(&session, &info, &app.prices, &app.engine.open_shares()?);
        Ok(Answer::json(json!({"session": object, "written": written})).at(position))
    })
    .await
}

/// How a session is deleted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Removal {
    /// Only say what would be removed.
    dry_run: bool,
    /// The sessions that it started too, and theirs.
    cascade: bool,
    /// What was asked in it is forgotten too.
    history: bool,
}

/// Deletes a session for good.
#[utoipa::path(delete, path = "/api/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "The session"), Removal,
        ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What was removed", body = Shape), Refusals))]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Asked(removal): Asked<Removal>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session_at(&owner, &id, expected)?;
        let children = if removal.cascade { Children::Cascade } else { Children::Orphan };
        let prompts = if removal.history { app.engine.prompts_of(&session)? } else { Vec::new() };
        app.shelf.close(session.id());
        let deleted = app.engine.delete(&session, children, removal.dry_run)?;
        // Last: a session that could not be deleted keeps its prompts.
        let forgotten = app.engine.forget_prompts(&prompts, removal.dry_run)?;
        Ok(Answer::object(ramus_wire::removal::deleted(&deleted, forgotten, removal.dry_run)))
    })
    .await
}
