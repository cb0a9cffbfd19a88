//! All single steps away from a legal history, at every place where they can be taken.

use ramus_testkit::model_server::{Format, seal};
use serde_json::{Value, json};

use crate::edit::{before, pointers, push, set, swapped, without};

/// Bodies that are illegal, each with the name of the step that led there.
type Mutants = Vec<(&'static str, Value)>;

/// Returns every body one step away.
pub(crate) fn mutants(format: Format, body: &Value) -> Mutants {
    let mut mutants = Mutants::new();
    for (pointer, value) in pointers(body) {
        let place = Place { body, pointer: &pointer, value };
        match format {
            Format::Chat => chat(&place, &mut mutants),
            Format::Responses => responses(&place, &mut mutants),
            Format::Anthropic => anthropic(&place, &mut mutants),
            Format::Gemini => gemini(&place, &mut mutants),
        }
    }
    let (list, last) = match format {
        Format::Chat | Format::Anthropic => ("/messages", json!({"role": "assistant", "content": "so"})),
        Format::Responses => ("/input", json!({"role": "assistant", "content": "so"})),
        Format::Gemini => ("/contents", json!({"role": "model", "parts": [{"text": "so"}]})),
    };
    mutants.push(("the model has the last word", push(body, list, last)));
    mutants.push(("nothing is asked", set(body, list, json!([]))));
    mutants
}

/// A place in a body.
struct Place<'a> {
    body: &'a Value,
    pointer: &'a str,
    value: &'a Value,
}

impl Place<'_> {
    /// Returns whether this is the member `name` of something.
    fn is(&self, name: &str) -> bool {
        self.pointer.rsplit('/').next() == Some(name)
    }

    /// Returns whether this has a member `name` with this text.
    fn has(&self, name: &str, text: &str) -> bool {
        self.value.get(name).and_then(Value::as_str) == Some(text)
    }

    fn set(&self, value: impl Into<Value>) -> Value {
        set(self.body, self.pointer, value)
    }

    fn set_in(&self, name: &str, value: impl Into<Value>) -> Value {
        set(self.body, &format!("{}/{name}", self.pointer), value)
    }

    fn without_in(&self, name: &str) -> Value {
        without(self.body, &format!("{}/{name}", self.pointer))
    }

    fn gone(&self) -> Value {
        without(self.body, self.pointer)
    }

    fn twice(&self) -> Value {
        before(self.body, self.pointer, self.value.clone())
    }

    fn behind(&self, value: Value) -> Value {
        before(self.body, self.pointer, value)
    }

    /// Returns whether something follows in the same list.
    fn is_followed(&self) -> bool {
        self.next().is_some()
    }

    fn next(&self) -> Option<&Value> {
        let (parent, index) = self.pointer.rsplit_once('/')?;
        self.body.pointer(&format!("{parent}/{}", index.parse::<usize>().ok()? + 1))
    }
}

fn chat(place: &Place<'_>, mutants: &mut Mutants) {
    let said = json!({"role": "user", "content": "wait"});
    if place.is("role") {
        mutants.push(("a role is unknown", place.set("narrator")));
        mutants.push(("a role is missing", place.gone()));
    }
    if place.has("role", "tool") {
        mutants.push(("a result is lost", place.gone()));
        mutants.push(("a result comes twice", place.twice()));
        mutants.push(("somebody speaks before a result", place.behind(said)));
        mutants.push(("a result has a strange id", place.set_in("tool_call_id", "call_strange")));
        mutants.push(("a result has no content", place.without_in("content")));
        mutants.push(("a result becomes the user's", place.set_in("role", "user")));
    }
    if place.value.get("tool_calls").is_some() {
        mutants.push(("the calls are lost", place.gone()));
        mutants.push(("the calls come twice", place.twice()));
        mutants.push(("a call comes behind its result", swapped(place.body, place.pointer)));
        mutants.push(("there are calls, but none", place.set_in("tool_calls", json!([]))));
    }
    if place.has("type", "function") && place.value.get("id").is_some() {
        mutants.push(("one call comes twice", place.twice()));
        mutants.push(("a call has no id", place.set_in("id", "")));
        mutants.push(("a call has a long id", place.set_in("id", "x".repeat(41))));
        mutants.push(("a call has another id than its result", place.set_in("id", "call_strange")));
    }
    if place.is("arguments") {
        mutants.push(("arguments are an object", place.set(json!({}))));
        mutants.push(("arguments are torn", place.set("{\"path\":")));
        mutants.push(("arguments are a list", place.set("[]")));
    }
    if place.is("text") {
        mutants.push(("a text is empty", place.set("")));
    }
    if place.has("role", "user") {
        mutants.push(("a message is empty", place.set_in("content", "")));
        mutants.push(("a message has no parts", place.set_in("content", json!([]))));
    }
    if place.is("url") {
        mutants.push(("an image is torn", place.set("data:image/png;base64,iVBORw0KGgo")));
        mutants.push(("an image lies", place.set(place.value.as_str().unwrap().replace("png", "jpeg"))));
    }
    if place.is("function") && place.pointer.starts_with("/tools") {
        mutants.push(("a tool has no schema", place.without_in("parameters")));
        mutants.push(("a tool has a strange name", place.set_in("name", "a.b")));
    }
}

fn responses(place: &Place<'_>, mutants: &mut Mutants) {
    let said = json!({"role": "user", "content": "wait"});
    if place.is("role") {
        mutants.push(("a role is unknown", place.set("tool")));
        mutants.push(("a role is missing", place.gone()));
    }
    if place.has("type", "function_call_output") {
        mutants.push(("a result is lost", place.gone()));
        mutants.push(("a result comes twice", place.twice()));
        mutants.push(("somebody speaks before a result", place.behind(said)));
        mutants.push(("a result has a strange id", place.set_in("call_id", "call_strange")));
        mutants.push(("a result has no content", place.without_in("output")));
    }
    if place.has("type", "function_call") {
        mutants.push(("a call is lost", place.gone()));
        mutants.push(("a call comes twice", place.twice()));
        mutants.push(("a call has no id", place.set_in("call_id", "")));
        mutants.push(("a call has the wrong kind of id", place.set_in("id", "call_1")));
        mutants.push(("arguments are an object", place.set_in("arguments", json!({}))));
        mutants.push(("arguments are torn", place.set_in("arguments", "{\"a")));
        if place.next().is_some_and(|next| next["output"].is_string() && next["call_id"] == place.value["call_id"]) {
            mutants.push(("a call comes behind its result", swapped(place.body, place.pointer)));
        }
    }
    if place.has("type", "reasoning") {
        mutants.push(("a thought has no seal", place.without_in("encrypted_content")));
        mutants.push(("a thought has a made-up seal", place.set_in("encrypted_content", "gAAAAA==")));
        mutants
            .push(("a thought is another model's", place.set_in("encrypted_content", seal::reasoning("other", "hm"))));
        mutants.push(("a thought is changed", place.set_in("summary/0/text", "changed")));
        mutants.push(("a thought stands alone", {
            let alone = push(place.body, "/input", place.value.clone());
            push(&alone, "/input", json!({"role": "user", "content": "so"}))
        }));
    }
    if place.is("text") && !place.pointer.contains("/summary/") {
        mutants.push(("a text is empty", place.set("")));
    }
    if place.has("type", "input_text") || place.has("type", "output_text") {
        mutants.push(("a text is of no kind", place.set_in("type", "text")));
    }
    if place.is("image_url") {
        mutants.push(("an image is torn", place.set("data:image/png;base64,iVBORw0KGgo")));
    }
    if place.has("type", "function") {
        mutants.push(("a tool has no schema", place.without_in("parameters")));
    }
}

fn anthropic(place: &Place<'_>, mutants: &mut Mutants) {
    if place.is("role") {
        mutants.push(("a role is unknown", place.set("system")));
        mutants.push(("a role is missing", place.gone()));
        let other = if place.value == "user" { "assistant" } else { "user" };
        mutants.push(("roles do not alternate", place.set(other)));
    }
    if place.value.get("role").is_some() {
        mutants.push(("a message comes twice", place.twice()));
        mutants.push(("a message is empty", place.set_in("content", json!([]))));
        if place.is_followed() {
            mutants.push(("two messages change places", swapped(place.body, place.pointer)));
            mutants.push(("a message is lost", place.gone()));
        }
    }
    if place.has("type", "tool_result") {
        mutants.push(("a result is lost", place.gone()));
        mutants.push(("a result comes twice", place.twice()));
        mutants.push(("a text comes before a result", place.behind(json!({"type": "text", "text": "wait"}))));
        mutants.push(("a result has a strange id", place.set_in("tool_use_id", "toolu_strange")));
    }
    if place.has("type", "tool_use") {
        mutants.push(("a call is lost", place.gone()));
        mutants.push(("a call comes twice", place.twice()));
        mutants.push(("a call has no id", place.set_in("id", "")));
        mutants.push(("a call has a strange id", place.set_in("id", "call:1")));
        mutants.push(("arguments are text", place.set_in("input", "{}")));
    }
    if place.has("type", "thinking") {
        mutants.push(("a thought has no seal", place.without_in("signature")));
        mutants.push(("a thought is changed", place.set_in("thinking", "changed")));
        mutants.push(("a thought is another model's", {
            let thinking = place.value["thinking"].as_str().unwrap();
            place.set_in("signature", seal::thinking("other", thinking))
        }));
        if place.next().is_some_and(|next| next["type"] == "tool_use") {
            mutants.push(("a thought comes behind a call", swapped(place.body, place.pointer)));
        }
    }
    if place.is("text") {
        mutants.push(("a text is empty", place.set("")));
        mutants.push(("a text is blank", place.set(" \n")));
    }
    if place.is("source") {
        mutants.push(("an image is torn", place.set_in("data", "iVBORw0KGgo")));
        mutants.push(("an image lies", place.set_in("media_type", "image/webp")));
    }
    if place.value.get("input_schema").is_some() {
        mutants.push(("a tool has no schema", place.without_in("input_schema")));
    }
    if place.is("max_tokens") {
        mutants.push(("there is no limit", place.gone()));
    }
}

fn gemini(place: &Place<'_>, mutants: &mut Mutants) {
    if place.is("role") {
        mutants.push(("a role is unknown", place.set("assistant")));
        mutants.push(("a role is missing", place.gone()));
    }
    if place.value.get("role").is_some() {
        mutants.push(("a turn comes twice", place.twice()));
        mutants.push(("a turn is empty", place.set_in("parts", json!([]))));
        if place.is_followed() {
            mutants.push(("two turns change places", swapped(place.body, place.pointer)));
            mutants.push(("a turn is lost", place.gone()));
        }
    }
    if place.value.get("functionResponse").is_some() {
        mutants.push(("a result is lost", place.gone()));
        mutants.push(("a result comes twice", place.twice()));
        mutants.push(("a text comes before a result", place.behind(json!({"text": "wait"}))));
        mutants.push(("a result has a strange id", place.set_in("functionResponse/id", "strange")));
        mutants.push(("a result has a strange name", place.set_in("functionResponse/name", "strange")));
        mutants.push(("a result is text", place.set_in("functionResponse/response", "ok")));
        if place.next().is_some_and(|next| next.get("functionResponse").is_some()) {
            mutants.push(("results change places", swapped(place.body, place.pointer)));
        }
    }
    if place.value.get("functionCall").is_some() {
        mutants.push(("a call is lost", place.gone()));
        mutants.push(("a call comes twice", place.twice()));
        mutants.push(("arguments are text", place.set_in("functionCall/args", "{}")));
        mutants.push(("a call has no name", place.set_in("functionCall/name", "")));
    }
    if place.is("thoughtSignature") {
        mutants.push(("a seal is made up", place.set("AAAA")));
        mutants.push(("a seal is another model's", place.set(seal::thought("other", ""))));
    }
    if place.is("text") {
        mutants.push(("a text is empty", place.set("")));
    }
    if place.is("inlineData") {
        mutants.push(("an image is torn", place.set_in("data", "iVBORw0KGgo!")));
        mutants.push(("an image is of no type", place.set_in("mimeType", "image/gif")));
    }
    if place.is("parameters") {
        mutants.push(("a schema has what Google does not know", place.set_in("$schema", "x")));
    }
}
