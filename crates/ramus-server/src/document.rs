//! The description of the server in OpenAPI, made from its routes.

mod answers;

use std::collections::BTreeMap;

use ramus_wire::trouble::Trouble;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    Components, ContentBuilder, Info, OpenApi, OpenApiBuilder, Ref, RefOr, Response, ResponseBuilder,
    SecurityRequirement,
};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

use crate::route;
pub(crate) use answers::version_answers;

/// Why a request was not answered.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its description is used")]
pub(crate) struct Failure {
    error: Trouble<'static>,
}

/// What any request may be answered instead.
pub(crate) struct Refusals;

/// The statuses of refusals.
const REFUSALS: [(&str, &str); 16] = [
    ("400", "The request makes no sense"),
    ("401", "There is no token, or a wrong one"),
    ("403", "It is not allowed"),
    ("404", "There is no such thing"),
    ("405", "The route has no such method"),
    ("409", "Someone else is at it, or it contradicts what is there"),
    ("412", "The log is not as long as was expected"),
    ("413", "The body is too large"),
    ("415", "The body is not JSON"),
    ("421", "The server does not answer under that name"),
    ("422", "The values make no sense"),
    ("429", "Too many requests came without a valid token or secret"),
    ("500", "The server or its disk failed"),
    ("501", "This version cannot do that"),
    ("503", "Too many requests are waiting, or it took too long"),
    ("507", "The disk is full"),
];

impl IntoResponses for Refusals {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let named = |status: &str| RefOr::Ref(Ref::from_response_name(format!("Refused{status}")));
        REFUSALS.iter().map(|(status, _)| ((*status).to_owned(), named(status))).collect()
    }
}

/// The refusals themselves, to which every route refers.
fn refusals() -> BTreeMap<String, RefOr<Response>> {
    let content = || ContentBuilder::new().schema(Some(Ref::from_schema_name("Failure"))).build();
    let refusal = |description: &str| {
        RefOr::T(ResponseBuilder::new().description(description).content("application/json", content()).build())
    };
    REFUSALS.iter().map(|(status, description)| (format!("Refused{status}"), refusal(description))).collect()
}

/// What is said beside the routes.
pub(crate) fn frame() -> OpenApi {
    let mut info = Info::new("ramus", env!("CARGO_PKG_VERSION"));
    info.description = Some("Sessions of coding agents as trees. Answers have the shapes of `ramus … --json`.".into());
    let mut components = Components::new();
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    components.add_security_scheme("token", bearer);
    components.schemas.insert("Failure".into(), Failure::schema());
    components.schemas.insert("Trouble".into(), Trouble::schema());
    components.responses = refusals();
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .security(Some([SecurityRequirement::new("token", Vec::<String>::new())]))
        .build()
}

/// Names every operation after its method and path, so that no two have one name. What stands for the rest of a path is
/// written like everything else that stands for something.
pub(crate) fn name_operations(document: &mut OpenApi) {
    let paths = std::mem::take(&mut document.paths.paths);
    document.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    for (path, item) in &mut document.paths.paths {
        let place: Vec<&str> = path.split(['/', '{', '}', '.']).filter(|part| !part.is_empty()).collect();
        let place = place.join("_").replace("api_v1_", "");
        let operations = [
            ("get", &mut item.get),
            ("post", &mut item.post),
            ("put", &mut item.put),
            ("patch", &mut item.patch),
            ("delete", &mut item.delete),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                operation.operation_id = Some(format!("{method}_{place}"));
            }
        }
    }
}

/// Returns the description of the server, as `/openapi.json` serves it.
pub fn document() -> String {
    // What is made of text always becomes JSON.
    route::description().to_pretty_json().unwrap_or_default()
}
