//! The routes, one file per resource.

mod artifacts;
mod blobs;
mod branches;
mod changes;
mod children;
mod compaction;
mod comparison;
mod context;
mod doctor;
mod entries;
mod events;
mod facets;
mod files;
mod foreign;
mod handlers;
mod health;
mod heeded;
mod history;
mod keyed;
mod life;
mod login;
mod messages;
mod models;
mod okc;
mod operations;
mod outline;
mod permissions;
mod place;
mod runs;
mod search;
mod sessions;
mod shares;
mod state;
mod todos;
mod transfer;
mod tree;
mod upkeep;
mod usage;
mod web;

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::document;
use crate::error::{ApiError, Kind};
use crate::guard::guard;
pub(crate) use foreign::Importing;
use handlers::{Handlers, handlers};
use heeded::{Heeded, refuse_unheeded};
use okc::assets::pieces;
pub(crate) use okc::{Places, waits_for_turn};

/// What answers at every path that is described.
fn all() -> Vec<Handlers> {
    vec![
        handlers!(health, health),
        handlers!(health, metrics),
        // Whoever has shown nothing yet has little to say.
        handlers!(login, login).within(|login| login.layer(DefaultBodyLimit::max(login::BODY))),
        handlers!(login, logout).within(|login| login.layer(DefaultBodyLimit::max(login::BODY))),
        handlers!(sessions, list, create),
        handlers!(facets, facets),
        handlers!(sessions, show, change, delete),
        handlers!(entries, list, append),
        handlers!(entries, line),
        handlers!(tree, tree),
        handlers!(outline, outline),
        handlers!(outline, rows),
        handlers!(outline, passage),
        handlers!(context, context),
        handlers!(messages, messages, say),
        handlers!(state, state),
        handlers!(branches, branch),
        handlers!(branches, fork),
        handlers!(branches, label),
        handlers!(compaction, compact),
        handlers!(compaction, evict),
        handlers!(compaction, replace_segment),
        handlers!(files, snapshots, snapshot),
        handlers!(files, held),
        handlers!(files, diff),
        handlers!(changes, changes),
        handlers!(files, restore),
        handlers!(files, revert),
        handlers!(files, unrevert),
        handlers!(children, children),
        handlers!(permissions, list),
        handlers!(permissions, revoke),
        handlers!(doctor, examine, repair),
        handlers!(doctor, recover),
        handlers!(doctor, examine_all, repair_all),
        handlers!(place, resolve),
        handlers!(place, workspace, make_workspace),
        handlers!(place, relocate),
        handlers!(upkeep, gc),
        handlers!(upkeep, retain),
        handlers!(life, archive),
        handlers!(life, unarchive),
        handlers!(life, boot),
        handlers!(life, clear),
        handlers!(life, reset),
        handlers!(life, purge),
        handlers!(todos, list, change),
        handlers!(operations, log),
        handlers!(operations, undo),
        handlers!(operations, redo),
        handlers!(comparison, compare),
        handlers!(comparison, merge_back),
        handlers!(artifacts, artifacts),
        handlers!(shares, of_session, share, unshare),
        handlers!(shares, list),
        handlers!(shares, page),
        handlers!(transfer, export),
        handlers!(transfer, import),
        handlers!(foreign, found, import),
        handlers!(models, list),
        handlers!(runs, list, start),
        handlers!(runs, tools),
        handlers!(runs, show),
        handlers!(runs, say),
        handlers!(runs, take_out),
        handlers!(runs, cancel),
        handlers!(runs, answer),
        handlers!(events, of_session),
        handlers!(events, of_all),
        handlers!(search, search),
        handlers!(usage, usage),
        handlers!(history, history),
        handlers!(blobs, blob),
        handlers!(okc::boot, info),
        handlers!(okc::boot, look, boot),
        handlers!(okc::history, list, delete),
        handlers!(okc::history, node),
        handlers!(okc::workspace, snapshots, snapshot),
        handlers!(okc::workspace, restore),
        handlers!(okc::workspace, branch),
        handlers!(okc::assets, asset),
        handlers!(okc::chat, chat),
        handlers!(okc::conversations, list, create),
        handlers!(okc::conversations, show, replace, delete),
    ]
}

/// The description of every route.
pub(crate) fn description() -> OpenApi {
    let frame = OpenApiRouter::with_openapi(document::frame());
    let described = all().into_iter().fold(frame, |described, handlers| (handlers.describe)(described));
    let mut description = described.into_openapi();
    document::name_operations(&mut description);
    document::version_answers(&mut description);
    description
}

/// Everything that answers.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let all = all();
    let heeded = Heeded::of(&all);
    let router = all.into_iter().fold(Router::new(), |router, handlers| router.route(&handlers.path, handlers.answer));
    router
        .route("/openapi.json", axum::routing::get(health::openapi))
        .route("/", axum::routing::get(web::page))
        .route("/assets/{bundle}/{name}", axum::routing::get(web::asset))
        .route("/login.js", axum::routing::get(login::script))
        .route("/login", axum::routing::get(login::page))
        .fallback(async || ApiError::not_found("there is no such route"))
        .method_not_allowed_fallback(async || ApiError::new(Kind::Method, "the route has no such method"))
        .layer(CatchPanicLayer::custom(failed))
        .layer(DefaultBodyLimit::max(app.limits.body))
        .layer(from_fn_with_state(heeded, refuse_unheeded))
        .layer(from_fn_with_state(Arc::clone(app), guard))
        .with_state(Arc::clone(app))
}

/// Nobody is told what a thread that failed was thinking of.
fn failed(_: Box<dyn Any + Send>) -> Response {
    ApiError::new(Kind::Broken, "the server failed; look before trying again").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_answer_together_answer_at_one_path() {
        for handlers in all() {
            let described = (handlers.describe)(OpenApiRouter::new()).into_openapi();
            let paths: Vec<&String> = described.paths.paths.keys().collect();
            assert_eq!(paths, [&handlers.path]);
        }
    }
}
