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
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt as _};
use utoipa_axum::routes;

use crate::app::App;
use crate::document;
use crate::error::{ApiError, Kind};
use crate::guard::guard;
pub(crate) use foreign::Importing;
use heeded::{Heeded, refuse_unheeded};
use okc::assets::pieces;
pub(crate) use okc::{Places, waits_for_turn};

/// Every route that is described.
fn described() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(document::frame())
        .routes(routes!(health::health))
        .routes(routes!(health::metrics))
        // Whoever has shown nothing yet has little to say.
        .routes(routes!(login::login).layer(DefaultBodyLimit::max(login::BODY)))
        .routes(routes!(login::logout).layer(DefaultBodyLimit::max(login::BODY)))
        .routes(routes!(sessions::list, sessions::create))
        .routes(routes!(facets::facets))
        .routes(routes!(sessions::show, sessions::change, sessions::delete))
        .routes(routes!(entries::list, entries::append))
        .routes(routes!(entries::line))
        .routes(routes!(tree::tree))
        .routes(routes!(outline::outline))
        .routes(routes!(outline::rows))
        .routes(routes!(outline::passage))
        .routes(routes!(context::context))
        .routes(routes!(messages::messages, messages::say))
        .routes(routes!(state::state))
        .routes(routes!(branches::branch))
        .routes(routes!(branches::fork))
        .routes(routes!(branches::label))
        .routes(routes!(compaction::compact))
        .routes(routes!(compaction::evict))
        .routes(routes!(compaction::replace_segment))
        .routes(routes!(files::snapshots, files::snapshot))
        .routes(routes!(files::held))
        .routes(routes!(files::diff))
        .routes(routes!(changes::changes))
        .routes(routes!(files::restore))
        .routes(routes!(files::revert))
        .routes(routes!(files::unrevert))
        .routes(routes!(children::children))
        .routes(routes!(permissions::list))
        .routes(routes!(permissions::revoke))
        .routes(routes!(doctor::examine, doctor::repair))
        .routes(routes!(doctor::recover))
        .routes(routes!(doctor::examine_all, doctor::repair_all))
        .routes(routes!(place::resolve))
        .routes(routes!(place::workspace, place::make_workspace))
        .routes(routes!(place::relocate))
        .routes(routes!(upkeep::gc))
        .routes(routes!(upkeep::retain))
        .routes(routes!(life::archive))
        .routes(routes!(life::unarchive))
        .routes(routes!(life::boot))
        .routes(routes!(life::clear))
        .routes(routes!(life::reset))
        .routes(routes!(life::purge))
        .routes(routes!(todos::list, todos::change))
        .routes(routes!(operations::log))
        .routes(routes!(operations::undo))
        .routes(routes!(operations::redo))
        .routes(routes!(comparison::compare))
        .routes(routes!(comparison::merge_back))
        .routes(routes!(artifacts::artifacts))
        .routes(routes!(shares::of_session, shares::share, shares::unshare))
        .routes(routes!(shares::list))
        .routes(routes!(shares::page))
        .routes(routes!(transfer::export))
        .routes(routes!(transfer::import))
        .routes(routes!(foreign::found, foreign::import))
        .routes(routes!(models::list))
        .routes(routes!(runs::list, runs::start))
        .routes(routes!(runs::tools))
        .routes(routes!(runs::show))
        .routes(routes!(runs::say))
        .routes(routes!(runs::take_out))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::answer))
        .routes(routes!(events::of_session))
        .routes(routes!(events::of_all))
        .routes(routes!(search::search))
        .routes(routes!(usage::usage))
        .routes(routes!(history::history))
        .routes(routes!(blobs::blob))
        .routes(routes!(okc::boot::info))
        .routes(routes!(okc::boot::look, okc::boot::boot))
        .routes(routes!(okc::history::list, okc::history::delete))
        .routes(routes!(okc::history::node))
        .routes(routes!(okc::workspace::snapshots, okc::workspace::snapshot))
        .routes(routes!(okc::workspace::restore))
        .routes(routes!(okc::workspace::branch))
        .routes(routes!(okc::assets::asset))
        .routes(routes!(okc::chat::chat))
        .routes(routes!(okc::conversations::list, okc::conversations::create))
        .routes(routes!(okc::conversations::show, okc::conversations::replace, okc::conversations::delete))
}

/// The description of every route.
pub(crate) fn description() -> OpenApi {
    let mut description = described().into_openapi();
    document::name_operations(&mut description);
    document::version_answers(&mut description);
    description
}

/// Everything that answers.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let (router, described) = described().split_for_parts();
    let heeded = Heeded::of(&described);
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
