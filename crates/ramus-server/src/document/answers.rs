//! The version that every answer begins with. The types of answers know nothing of it: it is added where they are answered, and
//! here where they are described.

use std::collections::{BTreeMap, BTreeSet};

use ramus_wire::SCHEMA_VERSION;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response};

/// How references to schemas begin.
const SCHEMAS: &str = "#/components/schemas/";

/// The member that tells the version.
const VERSION: &str = "schema_version";

/// Describes the version in every answer in JSON. What is a part of other answers too gets a type of its own for that.
pub(crate) fn version_answers(document: &mut OpenApi) {
    let Some(mut components) = document.components.take() else { return };
    let inner: BTreeSet<String> = components.schemas.values().flat_map(named).collect();
    let mut answers: BTreeMap<String, String> = BTreeMap::new();
    for answer in document.paths.paths.values_mut().flat_map(operations).flat_map(answers_of) {
        let Some(name) = answer.ref_location.strip_prefix(SCHEMAS).map(str::to_owned) else { continue };
        let called = if inner.contains(&name) { format!("{name}Answer") } else { name.clone() };
        *answer = Ref::from_schema_name(&called);
        answers.insert(name, called);
    }
    for (name, called) in answers {
        if let Some(schema) = components.schemas.get(&name) {
            let versioned = versioned(&name, schema, name == called);
            components.schemas.insert(called, versioned);
        }
    }
    document.components = Some(components);
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten()
}

/// The types that an operation answers with in JSON when all is well.
fn answers_of(operation: &mut Operation) -> impl Iterator<Item = &mut Ref> {
    let fine = operation.responses.responses.iter_mut().filter(|(status, _)| status.starts_with('2'));
    let contents = fine.filter_map(|(_, response)| match response {
        RefOr::T(Response { content, .. }) => content.get_mut("application/json"),
        RefOr::Ref(_) => None,
    });
    contents.filter_map(|content| match content {
        RefOr::T(Content { schema: Some(RefOr::Ref(answer)), .. }) => Some(answer),
        _ => None,
    })
}

/// Adds the version to a type. One that is no plain object, or is a part of others too, stays as it is beside it.
fn versioned(name: &str, schema: &RefOr<Schema>, is_alone: bool) -> RefOr<Schema> {
    let version = || {
        let only = ObjectBuilder::new().schema_type(Type::Integer).enum_values(Some([SCHEMA_VERSION]));
        only.description(Some("The version of the shape.")).build()
    };
    match schema {
        RefOr::T(Schema::Object(object)) => {
            let mut object = object.clone();
            object.properties.shift_insert(0, VERSION.to_owned(), version().into());
            object.required.insert(0, VERSION.to_owned());
            RefOr::T(object.into())
        }
        RefOr::T(Schema::AllOf(all)) => {
            let mut all = all.clone();
            all.items.insert(0, ObjectBuilder::new().property(VERSION, version()).required(VERSION).build().into());
            RefOr::T(all.into())
        }
        other => {
            let inner = if is_alone { other.clone() } else { RefOr::Ref(Ref::from_schema_name(name)) };
            let version = ObjectBuilder::new().property(VERSION, version()).required(VERSION);
            RefOr::T(AllOfBuilder::new().item(version).item(inner).build().into())
        }
    }
}

/// The types that a type refers to.
fn named(schema: &RefOr<Schema>) -> Vec<String> {
    // What cannot be written refers to nothing.
    let text = serde_json::to_string(schema).unwrap_or_default();
    let references = text.split("\"$ref\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    references.filter_map(|reference| reference.strip_prefix(SCHEMAS)).map(str::to_owned).collect()
}
