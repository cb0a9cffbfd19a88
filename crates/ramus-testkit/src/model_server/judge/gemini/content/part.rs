//! Parts of a content: each is exactly one thing, and what may be in a turn depends on whose it is.

use serde_json::{Map, Value};

use crate::model_server::illegal::{Illegal, Rule};
use crate::model_server::judge::gemini::setting::is_name;
use crate::model_server::judge::gemini::{illegal, known, member};
use crate::model_server::judge::image::Images;
use crate::model_server::seal;

/// What a part can be; exactly one of them.
const KINDS: &[&str] = &["text", "inlineData", "fileData", "functionCall", "functionResponse"];

const MEMBERS: &[&str] = &[
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "thought",
    "thoughtSignature",
    "mediaResolution",
];

const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/heic"];

/// Signatures that Gemini takes for calls that no Gemini made.
const NO_SIGNATURE: &[&str] = &["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// What a part is, as far as calls and responses are concerned.
pub(super) enum Kind<'a> {
    /// A call.
    Call {
        /// Its id, if the model gives ids.
        id: Option<&'a str>,
        /// The function.
        name: &'a str,
    },
    /// A response.
    Response {
        /// The id of its call.
        id: Option<&'a str>,
        /// The function.
        name: &'a str,
    },
    /// Anything else.
    Other,
}

/// Judges parts one after the other.
pub(super) struct Parts<'a> {
    pub(super) model: &'a str,
    pub(super) images: Images,
}

impl Parts<'_> {
    /// Judges the parts of a content, and returns what they are.
    pub(super) fn judge<'a>(&mut self, index: usize, role: &str, content: &'a Value) -> Result<Vec<Kind<'a>>, Illegal> {
        let path = format!("contents[{index}].parts");
        match content.get("parts") {
            Some(Value::Array(parts)) if !parts.is_empty() => parts
                .iter()
                .enumerate()
                .map(|(number, part)| self.part(&format!("{path}[{number}]"), role, part))
                .collect(),
            None | Some(Value::Array(_)) => {
                let message = format!("* GenerateContentRequest.{path}: contents.parts must not be empty.\n");
                illegal(Rule::Empty, message)
            }
            Some(_) => illegal(Rule::Shape, format!("Invalid value at '{path}': expected a list")),
        }
    }

    fn part<'a>(&mut self, path: &str, role: &str, part: &'a Value) -> Result<Kind<'a>, Illegal> {
        let Some(part) = part.as_object() else {
            return illegal(Rule::Shape, format!("Invalid value at '{path}': expected an object"));
        };
        known(part, MEMBERS, path)?;
        let signature = self.signature(path, part)?;
        let mut kinds = KINDS.iter().filter_map(|kind| Some((*kind, member(part, kind)?)));
        let (Some((kind, value)), None) = (kinds.next(), kinds.next()) else {
            let message = format!(
                "* GenerateContentRequest.{path}.data: required oneof field 'data' must have one initialized field\n"
            );
            return illegal(Rule::Part, message);
        };
        match (kind, role) {
            ("text", _) => match value.as_str() {
                Some(text) if !text.is_empty() || signature => Ok(Kind::Other),
                Some(_) => {
                    illegal(Rule::Empty, format!("* GenerateContentRequest.{path}.text: text must not be empty\n"))
                }
                None => illegal(Rule::Shape, format!("Invalid value at '{path}.text' (TYPE_STRING), {value}")),
            },
            ("inlineData", "user") => self.image(path, value).map(|()| Kind::Other),
            ("fileData", "user") => Ok(Kind::Other),
            ("functionCall", "model") => call(path, value),
            ("functionResponse", "user") => response(path, value),
            ("functionCall", _) => {
                let message = "Please ensure that function call turn comes immediately after a user turn or after a function \
                               response turn.";
                illegal(Rule::Part, message)
            }
            ("functionResponse", _) => {
                let message = "Please ensure that function response turn comes immediately after a function call turn.";
                illegal(Rule::Part, message)
            }
            _ => illegal(Rule::Part, format!("{path}: media is only allowed in user turns")),
        }
    }

    /// Judges the signature of a part, and returns whether there is one.
    fn signature(&self, path: &str, part: &Map<String, Value>) -> Result<bool, Illegal> {
        match member(part, "thoughtSignature") {
            None => Ok(false),
            Some(Value::String(signature)) if NO_SIGNATURE.contains(&signature.as_str()) => Ok(true),
            Some(Value::String(signature)) if seal::is_thought(self.model, &standard(signature)) => Ok(true),
            Some(Value::String(_)) => illegal(Rule::Seal, "Corrupted thought signature."),
            Some(value) => {
                illegal(Rule::Shape, format!("Invalid value at '{path}.thought_signature' (TYPE_BYTES), {value}"))
            }
        }
    }

    fn image(&mut self, path: &str, value: &Value) -> Result<(), Illegal> {
        let object = value.as_object();
        let text = |name: &str| object.and_then(|object| member(object, name)).and_then(Value::as_str);
        let (Some(media_type), Some(data)) = (text("mimeType"), text("data")) else {
            return illegal(
                Rule::Shape,
                format!("Invalid value at '{path}.inline_data': mime_type and data are required"),
            );
        };
        self.images.admit(media_type, &standard(data), IMAGES).or_else(|fault| {
            let message = match fault.rule {
                Rule::ImageType => format!("Unsupported MIME type: {media_type}. {}", fault.message),
                Rule::ImageData => {
                    format!("Invalid value at '{path}.inline_data.data' (TYPE_BYTES). {}", fault.message)
                }
                _ => format!("Request payload size exceeds the limit: {}", fault.message),
            };
            illegal(fault.rule, message)
        })
    }
}

/// Spells base64 in the usual way. Bytes may also come in the alphabet for addresses, and without padding.
fn standard(base64: &str) -> String {
    let mut standard = base64.trim_end_matches('=').replace('-', "+").replace('_', "/");
    standard.extend(std::iter::repeat_n('=', (4 - standard.len() % 4) % 4));
    standard
}

fn call<'a>(path: &str, value: &'a Value) -> Result<Kind<'a>, Illegal> {
    let (id, name) =
        naming(&format!("{path}.function_call"), value, &["id", "name", "args", "partialArgs", "willContinue"])?;
    match value.get("args") {
        None | Some(Value::Object(_)) => Ok(Kind::Call { id, name }),
        Some(value) => {
            let message = format!(
                "Invalid value at '{path}.function_call.args' (type.googleapis.com/google.protobuf.Struct), {value}"
            );
            illegal(Rule::Arguments, message)
        }
    }
}

fn response<'a>(path: &str, value: &'a Value) -> Result<Kind<'a>, Illegal> {
    let members = ["id", "name", "response", "parts", "willContinue", "scheduling"];
    let (id, name) = naming(&format!("{path}.function_response"), value, &members)?;
    match value.get("response") {
        Some(Value::Object(_)) => Ok(Kind::Response { id, name }),
        value => {
            let value = value.unwrap_or(&Value::Null);
            let message = format!(
                "Invalid value at '{path}.function_response.response' (type.googleapis.com/google.protobuf.Struct), {value}"
            );
            illegal(Rule::ResultContent, message)
        }
    }
}

/// Returns id and name of a call or a response.
fn naming<'a>(path: &str, value: &'a Value, members: &[&str]) -> Result<(Option<&'a str>, &'a str), Illegal> {
    let Some(object) = value.as_object() else {
        return illegal(Rule::Shape, format!("Invalid value at '{path}': expected an object"));
    };
    known(object, members, path)?;
    let id = match object.get("id") {
        None => None,
        Some(Value::String(id)) if !id.is_empty() => Some(id.as_str()),
        Some(_) => return illegal(Rule::CallId, format!("Invalid value at '{path}.id': must not be empty")),
    };
    match object.get("name").and_then(Value::as_str) {
        Some(name) if is_name(name) => Ok((id, name)),
        Some("") | None => {
            illegal(Rule::CallName, format!("* GenerateContentRequest.{path}.name: Name cannot be empty.\n"))
        }
        Some(_) => illegal(Rule::CallName, format!("* GenerateContentRequest.{path}.name: Invalid function name.\n")),
    }
}
