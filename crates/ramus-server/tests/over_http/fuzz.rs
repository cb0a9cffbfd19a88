//! Requests that nobody would send, to every route: each is answered, none with a failure of the server.

use serde_json::{Value, json};

use crate::http::{Connection, Request};
use crate::world::{World, message};

/// How many requests are sent; a longer run sets another number.
fn requests() -> usize {
    std::env::var("RAMUS_FUZZ_REQUESTS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

/// Numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % sides
    }

    fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[self.roll(from.len())]
    }
}

/// Names and values that things go wrong with.
const WORDS: [&str; 18] = [
    "",
    "#1",
    "#999999",
    "#-1",
    "-",
    "@",
    "start",
    "..",
    "%00",
    "a%2Fb",
    "%F0%9F%92%A9",
    "0",
    "-1",
    "18446744073709551616",
    "true",
    "null",
    "2026-02-30",
    "%22%7B%5B",
];

fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 8 } else { 10 }) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(1e300),
        4 => json!(dice.roll(5)),
        5 => json!(""),
        6 => json!("#1"),
        7 => json!("\u{0}\u{202e}\n"),
        8 => json!([value(dice, depth - 1), value(dice, depth - 1)]),
        _ => json!({"type": "message", "x": value(dice, depth - 1)}),
    }
}

/// What a conversation has, of which the document says only that it is an object.
const CONVERSATION: [&str; 8] =
    ["id", "title", "messages", "branches", "workspace", "createdAt", "updatedAt", "whatever"];

/// What the document says about one route, and what that refers to.
struct Described<'d> {
    document: &'d Value,
    /// Where directories may be made.
    room: String,
}

impl Described<'_> {
    /// What a schema stands for.
    fn resolved<'v>(&'v self, schema: &'v Value) -> &'v Value {
        match schema["$ref"].as_str() {
            Some(name) => self.document.pointer(name.trim_start_matches('#')).unwrap(),
            None => schema,
        }
    }

    /// What the body of a route is.
    fn schema<'v>(&'v self, about: &'v Value) -> &'v Value {
        self.resolved(&about["requestBody"]["content"]["application/json"]["schema"])
    }

    /// The members that the body of a route has, each with what it is.
    fn members(&self, about: &Value) -> Vec<(String, Value)> {
        let schema = self.schema(about);
        let named = schema["properties"].as_object().into_iter().flatten();
        let free: &[&str] = if *schema == json!({"type": "object"}) { &CONVERSATION } else { &[] };
        let free = free.iter().map(|name| ((*name).to_owned(), json!({})));
        named.map(|(name, schema)| (name.clone(), schema.clone())).chain(free).collect()
    }

    /// A body of a route: members that it knows, most of them of the kind that it expects, those that it requires among them.
    fn body(&self, dice: &mut Dice, about: &Value) -> Value {
        let known = self.members(about);
        if known.is_empty() || dice.roll(8) == 0 {
            return if dice.roll(2) == 0 { json!({}) } else { value(dice, 3) };
        }
        let required = self.schema(about)["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut chosen: Vec<&str> = if dice.roll(6) > 0 { required.collect() } else { Vec::new() };
        for _ in 0..dice.roll(4) {
            chosen.push(&known[dice.roll(known.len())].0);
        }
        // Wrong tokens take time, which is tried elsewhere.
        chosen.retain(|name| *name != "token");
        let given = |name: &str, dice: &mut Dice| match (name, dice.roll(4)) {
            // What is made must be made where it does no harm.
            ("cwd", _) => json!("/nowhere/at/all"),
            ("beneath", _) => json!(self.room),
            (_, 0) => value(dice, 3),
            ("entries", 1 | 2) => json!([message("fuzz")]),
            ("entry" | "snapshot" | "parent" | "first" | "last" | "edit", 1 | 2) => json!("#2"),
            ("message" | "prompt", 1 | 2) => json!("fuzz"),
            ("messages", 1 | 2) => json!([{"id": dice.pick(&WORDS), "role": "user", "content": "fuzz"}]),
            ("branches", 1 | 2) => json!({"m": {"versions": [{"messages": [{"id": "m", "content": value(dice, 1)}]}]}}),
            _ => {
                let schema = known.iter().find(|(known, _)| known == name).map(|(_, schema)| schema);
                self.fitting(dice, schema.unwrap_or(&Value::Null), 3)
            }
        };
        let mut object = serde_json::Map::new();
        for name in chosen {
            let given = given(name, dice);
            object.insert(name.to_owned(), given);
        }
        object.into()
    }

    /// A value of the kind that a schema describes.
    fn fitting(&self, dice: &mut Dice, schema: &Value, depth: usize) -> Value {
        let schema = self.resolved(schema);
        let choices = ["oneOf", "anyOf", "allOf"].into_iter().find_map(|name| schema[name].as_array());
        if let Some(choices) = choices {
            let chosen = dice.roll(choices.len());
            return self.fitting(dice, &choices[chosen], depth);
        }
        if let Some(words) = schema["enum"].as_array() {
            return words[dice.roll(words.len())].clone();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[dice.roll(kinds.len())].as_str(),
            kind => kind.as_str(),
        };
        match kind {
            Some("string") => json!(dice.pick(&WORDS)),
            Some("boolean") => json!(dice.roll(2) == 0),
            Some("integer" | "number") => json!(dice.roll(5)),
            Some("array") if depth > 0 => {
                (0..dice.roll(3)).map(|_| self.fitting(dice, &schema["items"], depth - 1)).collect()
            }
            Some("object") if depth > 0 && schema["properties"].is_object() => {
                let properties = schema["properties"].as_object().unwrap();
                let member = |(name, inner): (&String, &Value)| (name.clone(), self.fitting(dice, inner, depth - 1));
                Value::Object(properties.iter().map(member).collect())
            }
            Some("null") => Value::Null,
            _ => value(dice, depth.min(1)),
        }
    }
}

#[test]
fn k7_the_document_names_what_bodies_have() {
    let document: Value = serde_json::from_str(&ramus_server::document()).unwrap();
    let described = Described { document: &document, room: String::new() };
    let members = |path: &str| -> Vec<String> {
        let about = &document["paths"][path]["post"];
        described.members(about).into_iter().map(|(name, _)| name).collect()
    };
    // Those that routes cannot do without, and that were never sent when they were listed by hand.
    for (path, names) in [
        ("/api/v1/sessions/{id}/evict", &["tokens"][..]),
        ("/api/v1/sessions/{id}/replace-segment", &["first", "last"]),
        ("/api/v1/sessions/{id}/runs", &["permission", "edit", "attachments"]),
        ("/api/v1/sessions/{id}/share", &["page"]),
        ("/api/v1/relocate", &["to"]),
    ] {
        assert!(
            names.iter().all(|name| members(path).iter().any(|known| known == name)),
            "{path}: {:?}",
            members(path)
        );
    }
}

/// How many ask at the same time.
const ASKING: usize = 4;

#[test]
fn k7_no_request_makes_the_server_fail() {
    let world = World::start();
    let document: Value = serde_json::from_str(&ramus_server::document()).unwrap();
    let described = Described { document: &document, room: world.workspaces.path().join("fuzz").display().to_string() };
    let routes: Vec<(String, String, Value)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().iter();
            methods.map(move |(method, about)| (method.to_uppercase(), path.clone(), about.clone()))
        })
        // Streams do not end, and deleting the session would leave nothing to ask about.
        .filter(|(method, path, _)| !(path.ends_with("/events") || method == "DELETE" && path.ends_with("{id}")))
        .collect();
    let answered: Vec<Answered> = std::thread::scope(|scope| {
        let asking = (1..=ASKING).map(|seed| {
            let (world, described, routes) = (&world, &described, &routes);
            scope.spawn(move || ask(world, described, routes, seed as u64))
        });
        let asking: Vec<_> = asking.collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    let mut all = Answered::new();
    for (status, count) in answered.into_iter().flatten() {
        *all.entry(status).or_default() += count;
    }
    assert_eq!(Request::new("GET", "/health").send(world.address).status, 200);
    // For whoever measures.
    println!("requests: {}, answers by status: {all:?}", requests());
    assert!(all.get(&200).is_some_and(|count| *count > requests() / 20), "{all:?}");
}

/// How often each status was answered.
type Answered = std::collections::BTreeMap<u16, usize>;

fn ask(world: &World, described: &Described<'_>, routes: &[(String, String, Value)], seed: u64) -> Answered {
    let session = world.session();
    world.append(&session, &["one", "two"]);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
    let mut connection = Connection::open(world.address);
    let mut answered = Answered::new();
    for _ in 0..requests() / ASKING {
        let request = request(world, described, routes, &session, &mut dice);
        let response = connection.ask(&request);
        *answered.entry(response.status).or_default() += 1;
        assert!(response.status < 500, "{request:?}: {}", String::from_utf8_lossy(&response.body));
    }
    answered
}

fn request(
    world: &World,
    described: &Described<'_>,
    routes: &[(String, String, Value)],
    session: &str,
    dice: &mut Dice,
) -> Request {
    let (method, path, about) = &routes[dice.roll(routes.len())];
    let mut target = path.clone();
    while let (Some(start), Some(end)) = (target.find('{'), target.find('}')) {
        let name = match &target[start..=end] {
            "{id}" if dice.roll(4) > 0 => session.to_owned(),
            _ => match dice.pick(&WORDS) {
                "" => "x".to_owned(),
                word => word.replace('#', "%23"),
            },
        };
        target.replace_range(start..=end, &name);
    }
    let parameters = about["parameters"].as_array().cloned().unwrap_or_default();
    let mut asked: Vec<String> = Vec::new();
    for parameter in parameters.iter().filter(|parameter| parameter["in"] == "query") {
        if dice.roll(3) == 0 {
            let name = parameter["name"].as_str().unwrap();
            asked.push(format!("{name}={}", dice.pick(&WORDS).replace('#', "%23")));
        }
    }
    if !asked.is_empty() {
        target = format!("{target}?{}", asked.join("&"));
    }
    let mut request = world.request(method, &target);
    if matches!(method.as_str(), "POST" | "PATCH" | "PUT") {
        request = request.json(&described.body(dice, about));
        // Where it means something, the answer ends with the turn.
        if dice.roll(3) == 0 {
            request = request.header("accept", "text/event-stream");
        }
        if dice.roll(12) == 0 {
            request = request.header("idempotency-key", dice.pick(&["a", "b", "", "\u{e4}"]));
        }
    }
    if dice.roll(6) == 0 {
        request = request.header("if-match", dice.pick(&["\"1\"", "*", "nonsense", "\"99\""]));
    }
    request
}
