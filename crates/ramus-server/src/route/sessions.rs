//! Sessions: lists of them, and one whole.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use ramus_engine::{
    Changes, Children, EngineError, ErrorKind, Filter, NewSession, Session, Sort, SortKey, TagChange, WhichDirectory,
};
use ramus_model::SessionId;
use ramus_model::permission::{NoRule, Rule};
use ramus_wire::session as shape;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Body, Expected, Key, Named, check_directory};
use crate::role::Role;
use crate::route::keyed;

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
    /// Only sessions of this owner, who is the one that the token stands for: others do not exist here.
    owner: Option<String>,
    /// Only sessions that came from this agent; `ramus` for those that began here.
    agent: Option<String>,
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
        if self.owner.is_some_and(|named| named != owner.name()) {
            let denied = ApiError::denied("a token stands for one owner, and sees no sessions of others");
            return Err(denied.hint("leave the owner out, or ask with a token of theirs"));
        }
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
            agent: self.agent,
            sort: Sort { key, is_ascending: (key == SortKey::Title) != self.reverse },
            limit: Some(self.limit.unwrap_or(PAGE).clamp(1, MOST)),
            ids: self.ids,
            cursor: self.cursor,
        })
    }
}

/// Lists sessions.
#[utoipa::path(get, path = "/api/v1/sessions", tag = "sessions", params(Listed),
    responses((status = 200, description = "The sessions, and where the next page starts", body = shape::ListJson), Refusals))]
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
        app.listed.answer(listing, app.engine.open_shares()?, &app.prices)
    })
    .await
}

/// What a new session starts with.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct New {
    /// The working directory; where the server was started when none is named. Another one than that or the parent's needs a
    /// token that may approve.
    cwd: Option<String>,
    /// The title.
    title: Option<String>,
    /// The model, as `PROVIDER/NAME`.
    model: Option<String>,
    /// The session that starts this one.
    parent: Option<String>,
    /// Whom it belongs to. Others than the one the token stands for can only be named by the user of the home.
    owner: Option<String>,
    /// Rules: `NAME=ACTION` or `NAME:PATTERN=ACTION`. They need a token that may approve.
    permission: Vec<String>,
}

/// Makes a session.
#[utoipa::path(post, path = "/api/v1/sessions", tag = "sessions", request_body = New,
    params(("Idempotency-Key" = Option<String>, Header, description = "What makes two requests the same")),
    responses((status = 201, description = "The session", body = shape::MadeSession), Refusals))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    owner: Owner,
    axum::Extension(role): axum::Extension<Role>,
    Key(key): Key,
    Body(new): Body<New>,
) -> Result<Answer, ApiError> {
    // Rules that allow something are answers given in advance.
    if !new.permission.is_empty() && role < Role::Approve {
        return Err(ApiError::denied("rules for a session need a token that may approve"));
    }
    let whose = match new.owner {
        Some(named) if named != owner.name() => {
            if !app.access.is_user(&owner) || role < Role::Admin {
                let denied = ApiError::denied("a session belongs to whoever the token stands for");
                return Err(denied.hint("leave the owner out; only the user of the home may name another one"));
            }
            named
        }
        _ => owner.name().to_owned(),
    };
    let wrong = |error: NoRule| ApiError::usage(error.to_string()).hint(NoRule::HINT);
    let permission: Vec<Rule> =
        new.permission.iter().map(|text| text.parse()).collect::<Result<_, _>>().map_err(wrong)?;
    app.work(move |app| {
        let cwd = new.cwd.unwrap_or_else(|| app.directory.clone());
        check_directory(&cwd)?;
        let order = keyed::order(&json!({
            "cwd": cwd, "title": new.title, "model": new.model, "parent": new.parent, "owner": whose,
            "permission": new.permission,
        }));
        let parent = new.parent.map(|parent| app.session(&owner, &parent)).transpose()?;
        app.check_place(role, &cwd, parent.as_ref())?;
        let new = NewSession {
            cwd,
            title: new.title,
            model: new.model,
            parent: parent.map(|parent| parent.id().clone()),
            owner: Some(whose.clone()),
            permission,
        };
        let session = match key {
            None => app.engine_for(&owner).create(new)?,
            Some(key) => create_once(app, (&keyed::session(&owner, None, &key), &order), new, &owner, &whose)?,
        };
        let answer = Answer::of(&shape::MadeSession { session: shape::brief_session(&session) })?;
        Ok(answer.status(StatusCode::CREATED).at(session.log().len() as u64))
    })
    .await
}

/// Makes a session of this id, or finds the one that was made with the same order.
fn create_once(
    app: &App,
    (id, order): (&SessionId, &str),
    new: NewSession,
    asks: &Owner,
    owner: &str,
) -> Result<Session, ApiError> {
    let title = new.title.as_deref().map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
    let (cwd, parent) = (new.cwd.clone(), new.parent.clone());
    match app.engine_for(asks).create_ordered(id, new, order) {
        Err(EngineError::Conflict(_)) => {}
        made => return Ok(made?),
    }
    let known = app.engine.open_id(id).map_err(|error| match error.kind() {
        // It was deleted, and a fork of it reads what it left.
        ErrorKind::NotFound => keyed::other(),
        _ => error.into(),
    })?;
    // Earlier versions did not keep what was ordered.
    let is_like = || {
        known
            .log()
            .header()
            .is_some_and(|header| (&header.cwd, &header.title, &header.ramus.parent) == (&cwd, &title, &parent))
    };
    let is_same = known.owner() == owner && known.order().map_or_else(is_like, |known| known == order);
    if is_same { Ok(known) } else { Err(keyed::other()) }
}

/// Describes a session.
#[utoipa::path(get, path = "/api/v1/sessions/{id}", tag = "sessions", params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "The session, where it ends, and its position as ETag", body = shape::OneSession), Refusals))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let info = app.describe(&session)?;
        let whole = shape::whole(&session, &info, &app.prices, &app.engine.open_shares()?);
        Ok(Answer::of(&shape::OneSession { session: whole })?.at(session.log().len() as u64))
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
    /// The working directory. Another one than the server's needs a token that may approve.
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

/// Changes what is known about a session. Each change is an entry of its own; none is made when one of them makes no sense.
#[utoipa::path(patch, path = "/api/v1/sessions/{id}", tag = "sessions", request_body = Change,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The session as it is now", body = shape::ChangedSession), Refusals))]
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    owner: Owner,
    axum::Extension(role): axum::Extension<Role>,
    Named(id): Named<String>,
    expected: Expected,
    Body(change): Body<Change>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        if let Some(cwd) = &change.cwd {
            check_directory(cwd)?;
        }
        let mut session = app.session_at(&owner, &id, expected)?;
        if let Some(cwd) = &change.cwd {
            app.check_place(role, cwd, Some(&session))?;
        }
        let tags = change.tags.map(TagChange::Set).into_iter();
        let more = [
            (TagChange::Add as fn(Vec<String>) -> TagChange, change.add_tags),
            (TagChange::Remove, change.remove_tags),
        ];
        let more = more.into_iter().filter(|(_, tags)| !tags.is_empty()).map(|(change, tags)| change(tags));
        let tags: Vec<TagChange> = tags.chain(more).collect();
        let changes = Changes {
            title: change.title.as_deref(),
            model: change.model.as_deref(),
            tags: &tags,
            metadata: change.metadata.as_ref(),
            moves: change.cwd.is_some(),
        };
        changes.check(&session)?;
        let engine = &app.engine;
        let mut written = Vec::new();
        if let Some(title) = &change.title {
            written.push(shape::written(&engine.rename(&mut session, title)?));
        }
        if let Some(model) = &change.model {
            engine.switch_model(&mut session, model)?;
        }
        for change in &tags {
            engine.change_tags(&mut session, change)?;
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
        let session = shape::whole(&session, &info, &app.prices, &app.engine.open_shares()?);
        Ok(Answer::of(&shape::ChangedSession { session, written })?.at(position))
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
    responses((status = 200, description = "What was removed", body = ramus_wire::removal::DeletedSession), Refusals))]
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
        let deleted = app.engine.delete(&session, children, removal.dry_run);
        // Somebody may have opened it meanwhile, or one of those that went with it.
        app.shelf.close(session.id());
        let deleted = deleted?;
        deleted.children.iter().for_each(|child| app.shelf.close(child));
        // Last: a session that could not be deleted keeps its prompts.
        let forgotten = app.engine.forget_prompts(&prompts, removal.dry_run)?;
        Ok(Answer::object(ramus_wire::removal::deleted(&deleted, forgotten, removal.dry_run)))
    })
    .await
}
