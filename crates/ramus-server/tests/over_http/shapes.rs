//! Answers are what the description says they are: nothing is missing or of another kind, and nothing is told that is not
//! described. The client of these tests asks here about every answer that it reads.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::http::{Request, Response};

/// What answers in JSON and is described nowhere: the description itself.
const APART: [&str; 1] = ["/openapi.json"];

/// Where what was stored or saved is told as it is spelled.
const VERBATIM: [&str; 3] = ["/entries", "/context", "/conversations"];

/// What can be anything, and why.
const ANYTHING: [(&str, &str); 24] = [
    ("get /api/v1/sessions/{id}/entries/{entry} 200", STORED),
    ("StoredEntry.entry", STORED),
    ("SessionContext.messages.*", STORED),
    ("UnknownPart.raw", STORED),
    ("Session.permission", STORED),
    ("Session.metadata.*", STORED),
    ("PathState.mode_data", STORED),
    ("BootedSession.workspace", STORED),
    ("RootNode.metadata", STORED),
    ("KnownPart.arguments", GIVEN),
    ("ChatCall.tool_input", GIVEN),
    ("NodeCall.tool_input", GIVEN),
    ("MessageNode.input", GIVEN),
    ("ChatReply.ppt_slides.*", GIVEN),
    ("BootThings.ppt_slides.*", GIVEN),
    ("MadeArtifact.*", MADE),
    ("TurnEnd.artifacts.*", MADE),
    ("ChatReply.artifacts.*", MADE),
    ("BootThings.artifacts.*", MADE),
    ("ArtifactNode.data", MADE),
    ("Conversation.messages.*", SAVED),
    ("Conversation.branches", SAVED),
    ("Conversation.workspace", SAVED),
    ("Conversation.*", SAVED),
];
const STORED: &str = "it is told as it is stored, and any program may have stored it";
const GIVEN: &str = "it is what a model gives a tool";
const MADE: &str = "it is what a tool tells of what it made, and tools may come from anywhere";
const SAVED: &str = "it is told as a client saved it";

/// What may be left out and may be null too, and why.
const LEFT_OUT: [(&str, &str); 12] = [
    ("PassageMessage.model", ANSWER),
    ("PassageMessage.provider", ANSWER),
    ("PassageMessage.stop_reason", ANSWER),
    ("PassageMessage.cost_micros", ANSWER),
    ("WorkspacePaths.output", UNMADE),
    ("WorkspacePaths.internal_mount", UNMADE),
    ("WorkspacePaths.internal_output", UNMADE),
    ("WorkspacePaths.internal_tmp", UNMADE),
    ("WorkspacePaths.storage_root", UNMADE),
    ("ClearedPlace.path", UNMADE),
    ("ClearedPlace.internal_root", UNMADE),
    ("BootThings.web_preview", UNMADE),
];
const ANSWER: &str = "it is told of answers only, and null where an answer does not say it";
const UNMADE: &str = "it is not told before there is a session, and null where there is none of it";

fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| serde_json::from_str(&ramus_server::document()).unwrap())
}

/// Fails when a successful answer in JSON is not what the description says.
pub(crate) fn check(request: &Request, response: &Response) {
    let is_json = response.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    if !is_json || !(200..300).contains(&response.status) || request.method == "HEAD" {
        return;
    }
    let path = request.target.split(['?', '#']).next().unwrap_or_default();
    if APART.contains(&path) {
        return;
    }
    let asked = format!("{} {path} -> {}", request.method, response.status);
    let operation = operation(&request.method, path).unwrap_or_else(|| panic!("{asked}: no such route is described"));
    let declared = &operation["responses"][response.status.to_string()];
    let content = declared["content"].as_object().unwrap_or_else(|| panic!("{asked}: no such answer is described"));
    // What is described as a file is one, whatever is in it.
    let Some(declared) = content.get("application/json") else { return };
    let schema = &declared["schema"];
    if is_anything(schema) {
        return;
    }
    let value = match serde_json::from_slice(&response.body) {
        Ok(value) => value,
        // What is told as it is spelled may be spelled as nobody here can read it: half a character, a number without end.
        Err(_) if VERBATIM.iter().any(|part| path.contains(part)) => return,
        Err(error) => panic!("{asked}: {error}\n{}", String::from_utf8_lossy(&response.body)),
    };
    if let Err(wrong) = conforms(schema, &value, "$") {
        let start: String = String::from_utf8_lossy(&response.body).chars().take(2_000).collect();
        panic!("{asked}: {wrong}\n{start}");
    }
}

/// Finds the operation that answers at a path: the one that spells most of it.
fn operation(method: &str, path: &str) -> Option<&'static Value> {
    let paths = document()["paths"].as_object().unwrap();
    let found = paths.iter().filter(|(template, _)| is_at(template, path));
    let (_, item) = found.max_by_key(|(template, _)| template.split('/').filter(|part| !is_open(part)).count())?;
    item.get(method.to_ascii_lowercase())
}

fn is_at(template: &str, path: &str) -> bool {
    let (template, path): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    let is_same = template.iter().zip(&path).all(|(part, text)| is_open(part) || part == text);
    // The path of a file has as many parts as it likes.
    is_same && (template.len() == path.len() || (template.len() < path.len() && template.last() == Some(&"{path}")))
}

fn is_open(part: &str) -> bool {
    part.starts_with('{')
}

/// Which members of an object are described.
enum Seen {
    All,
    These(BTreeSet<String>),
}

impl Seen {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::These(mut these), Self::These(those)) => {
                these.extend(those);
                Self::These(these)
            }
            _ => Self::All,
        }
    }
}

/// Judges a value, with everything that is told in it.
fn conforms(schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let seen = judge(schema, value, at)?;
    match (seen, value) {
        (Seen::These(these), Value::Object(object)) => match object.keys().find(|key| !these.contains(*key)) {
            Some(key) => Err(format!("{at}.{key} is not described")),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Judges a value, and says which of its members are described. What several schemas say together is the judgement of all.
fn judge(schema: &Value, value: &Value, at: &str) -> Result<Seen, String> {
    if is_anything(schema) {
        return Ok(Seen::All);
    }
    if let Some(reference) = schema["$ref"].as_str() {
        return judge(named(reference), value, at);
    }
    check_type(schema, value, at)?;
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Err(format!("{at} is {value}, which is none of {words:?}"));
    }
    let mut seen = Seen::These(BTreeSet::new());
    for part in list(schema, "allOf") {
        seen = seen.and(judge(part, value, at)?);
    }
    for (several, is_exact) in [("oneOf", true), ("anyOf", false)] {
        if !schema[several].is_array() {
            continue;
        }
        let (mut fits, mut wrong) = (0, Vec::new());
        for one in list(schema, several) {
            match judge(one, value, at) {
                Ok(more) => (fits, seen) = (fits + 1, seen.and(more)),
                Err(why) => wrong.push(why),
            }
        }
        if fits == 0 || (is_exact && fits > 1) {
            return Err(format!("{at} fits {fits} of {several}: {}", wrong.join("; ")));
        }
    }
    match value {
        Value::Array(items) if schema.get("items").is_some() => {
            for (number, item) in items.iter().enumerate() {
                conforms(&schema["items"], item, &format!("{at}[{number}]"))?;
            }
            Ok(seen)
        }
        Value::Object(object) => Ok(seen.and(judge_members(schema, object, at)?)),
        _ => Ok(seen),
    }
}

fn judge_members(schema: &Value, object: &Map<String, Value>, at: &str) -> Result<Seen, String> {
    if let Some(missing) = list(schema, "required").find(|name| !object.contains_key(name.as_str().unwrap())) {
        return Err(format!("{at}.{} is missing", missing.as_str().unwrap()));
    }
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let mut these = BTreeSet::new();
    for (name, value) in object {
        let at = format!("{at}.{name}");
        match (properties.get(name), schema.get("additionalProperties")) {
            (Some(property), _) => conforms(property, value, &at)?,
            (None, Some(Value::Bool(false))) => return Err(format!("{at} is not allowed")),
            (None, Some(any)) => conforms(any, value, &at)?,
            (None, None) => continue,
        }
        these.insert(name.clone());
    }
    Ok(Seen::These(these))
}

fn check_type(schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let is_of = |kind: &str| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{at}: there is no type {other}"),
    };
    let is_right = match &schema["type"] {
        Value::String(kind) => is_of(kind),
        Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind.as_str().unwrap())),
        _ => true,
    };
    if is_right { Ok(()) } else { Err(format!("{at} is {value}, not of type {}", schema["type"])) }
}

/// Says whether a schema says nothing.
fn is_anything(schema: &Value) -> bool {
    const SAYS: [&str; 5] = ["$ref", "allOf", "oneOf", "anyOf", "enum"];
    let says_more = |name: &&str| schema.get(name).is_some();
    let is_open = schema.get("properties").is_none() && schema.get("additionalProperties").is_none();
    let is_typed = match schema.get("type") {
        None | Some(Value::Bool(_)) => false,
        Some(Value::String(kind)) if kind == "object" => !is_open,
        _ => true,
    };
    !is_typed && !SAYS.iter().any(says_more)
}

fn named(reference: &str) -> &'static Value {
    let name = reference.strip_prefix("#/components/schemas/").unwrap();
    document()["components"]["schemas"].get(name).unwrap_or_else(|| panic!("there is no schema {name}"))
}

fn list<'s>(schema: &'s Value, name: &str) -> impl Iterator<Item = &'s Value> {
    schema[name].as_array().into_iter().flatten()
}

/// The schemas of successful answers in JSON, by what answers.
fn answers() -> Vec<(String, &'static Value)> {
    let mut answers = Vec::new();
    for (path, item) in document()["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let schema = &response["content"]["application/json"]["schema"];
                if status.starts_with('2') && !schema.is_null() {
                    answers.push((format!("{method} {path} {status}"), schema));
                }
            }
        }
    }
    answers
}

/// Everything that answers are made of: each schema with where it is, and whether it may be left out.
fn everything() -> Vec<(String, &'static Value, bool)> {
    let mut open: Vec<(String, &'static Value, bool)> =
        answers().into_iter().map(|(at, schema)| (at, schema, false)).collect();
    let (mut known, mut all) = (BTreeSet::new(), Vec::new());
    while let Some((at, schema, is_optional)) = open.pop() {
        if let Some(reference) = schema["$ref"].as_str()
            && known.insert(reference)
        {
            open.push((reference.rsplit('/').next().unwrap().to_owned(), named(reference), false));
        }
        for part in ["allOf", "oneOf", "anyOf"] {
            open.extend(list(schema, part).map(|part| (at.clone(), part, is_optional)));
        }
        let required: Vec<&Value> = list(schema, "required").collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_optional = !required.iter().any(|required| *required == name);
            open.push((format!("{at}.{name}"), property, is_optional));
        }
        for inner in ["items", "additionalProperties"] {
            open.extend(
                schema.get(inner).filter(|inner| inner.is_object()).map(|inner| (format!("{at}.*"), inner, false)),
            );
        }
        all.push((at, schema, is_optional));
    }
    all
}

fn may_be_null(schema: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let kinds = &schema["type"];
    is_null(kinds) || list(schema, "type").any(is_null) || list(schema, "oneOf").any(may_be_null)
}

fn compare(found: impl Iterator<Item = String>, allowed: &[(&str, &str)]) {
    let found: BTreeSet<String> = found.collect();
    let allowed: BTreeSet<String> = allowed.iter().map(|(at, _)| (*at).to_owned()).collect();
    let (new, gone): (Vec<_>, Vec<_>) = (found.difference(&allowed).collect(), allowed.difference(&found).collect());
    assert!(new.is_empty() && gone.is_empty(), "say what these are: {new:#?}\nand these no longer: {gone:#?}");
}

#[test]
fn answers_say_what_they_are() {
    assert!(answers().len() > 90, "{}", answers().len());
    compare(everything().into_iter().filter(|(_, schema, _)| is_anything(schema)).map(|(at, ..)| at), &ANYTHING);
}

#[test]
fn what_may_be_null_is_told_all_the_same() {
    let left_out = everything().into_iter().filter(|(_, schema, is_optional)| *is_optional && may_be_null(schema));
    compare(left_out.map(|(at, ..)| at), &LEFT_OUT);
}

#[test]
fn every_answer_tells_its_version_first() {
    for (at, schema) in answers() {
        let Some(reference) = schema["$ref"].as_str() else { continue };
        let schema = named(reference);
        let first = list(schema, "allOf").next().unwrap_or(schema);
        let version = first["properties"].as_object().and_then(|properties| properties.iter().next());
        assert_eq!(version.map(|(name, _)| name.as_str()), Some("schema_version"), "{at}");
        assert!(list(first, "required").any(|name| name == "schema_version"), "{at}");
    }
}

#[test]
fn what_is_wrong_is_seen() {
    let schema = serde_json::json!({
        "allOf": [
            {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
            {"type": "object", "required": ["size"], "properties": {"size": {"type": ["integer", "null"]}}},
        ],
    });
    let judged = |text: &str| conforms(&schema, &serde_json::from_str(text).unwrap(), "$");
    assert_eq!(judged(r#"{"id": "a", "size": null}"#), Ok(()));
    for wrong in [r#"{"id": "a"}"#, r#"{"id": 1, "size": 1}"#, r#"{"id": "a", "size": 1, "more": 1}"#, "[]"] {
        assert!(judged(wrong).is_err(), "{wrong}");
    }
}
