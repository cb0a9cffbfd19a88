//! [`Handlers`]: what answers at a path, and how it is described when somebody asks.
//!
//! A server that starts describes nothing: the shapes of all answers would be most of its heap.

use std::sync::Arc;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::MethodRouter;
use utoipa::Path;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{HttpMethod, Parameter};
use utoipa_axum::PathItemExt as _;
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The handlers of one path.
pub(super) struct Handlers {
    /// The path, as axum spells it.
    pub(super) path: String,
    /// What answers.
    pub(super) answer: MethodRouter<Arc<App>>,
    /// The methods that change something, with the names of what each is asked with.
    pub(super) writes: fn() -> Vec<(Method, Vec<String>)>,
    /// Adds them to a description.
    pub(super) describe: fn(OpenApiRouter<Arc<App>>) -> OpenApiRouter<Arc<App>>,
}

impl Handlers {
    /// Has a layer around what answers.
    pub(super) fn within(self, layer: impl FnOnce(MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>>) -> Self {
        Self { answer: layer(self.answer), ..self }
    }
}

/// Has a function answer to the methods that it is described with.
pub(super) fn on<P, H, T>(answer: MethodRouter<Arc<App>>, handler: H) -> MethodRouter<Arc<App>>
where
    P: Path,
    H: Handler<T, Arc<App>>,
    T: 'static,
{
    P::methods().iter().fold(answer, |answer, method| answer.on(method.to_method_filter(), handler.clone()))
}

/// The methods of an operation that change something, with the names of what it is asked with.
pub(super) fn writes<P: Path>() -> Vec<(Method, Vec<String>)> {
    let methods: Vec<Method> = P::methods().iter().filter_map(changing).collect();
    if methods.is_empty() {
        return Vec::new();
    }
    let named = |parameter: RefOr<Parameter>| match parameter {
        RefOr::T(parameter) => Some(parameter.name),
        _ => None,
    };
    let named: Vec<String> = P::operation().parameters.into_iter().flatten().filter_map(named).collect();
    methods.into_iter().map(|method| (method, named.clone())).collect()
}

fn changing(method: &HttpMethod) -> Option<Method> {
    match method {
        HttpMethod::Post => Some(Method::POST),
        HttpMethod::Put => Some(Method::PUT),
        HttpMethod::Patch => Some(Method::PATCH),
        HttpMethod::Delete => Some(Method::DELETE),
        _ => None,
    }
}

/// Makes [`Handlers`] of functions of a module that answer at the same path.
macro_rules! handlers {
    ($($module:ident)::+, $first:ident $(, $more:ident)*) => {{
        use $($module)::+ as module;
        utoipa_axum::paste! {
            let answer = axum::routing::MethodRouter::new();
            let answer = $crate::route::handlers::on::<module::[<__path_ $first>], _, _>(answer, module::$first);
            $(let answer = $crate::route::handlers::on::<module::[<__path_ $more>], _, _>(answer, module::$more);)*
            $crate::route::handlers::Handlers {
                path: <module::[<__path_ $first>] as utoipa::Path>::path(),
                answer,
                writes: || {
                    let writes = $crate::route::handlers::writes::<module::[<__path_ $first>]>();
                    $(let writes = [writes, $crate::route::handlers::writes::<module::[<__path_ $more>]>()].concat();)*
                    writes
                },
                describe: |router| router.routes(utoipa_axum::routes!(module::$first $(, module::$more)*)),
            }
        }
    }};
}

pub(super) use handlers;
