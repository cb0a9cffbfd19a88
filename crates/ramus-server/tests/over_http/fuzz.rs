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

/// Bodies with members that routes know.
fn body(dice: &mut Dice) -> Value {
    const MEMBERS: [&str; 42] = [
        "entries",
        "parent",
        "title",
        "model",
        "cwd",
        "tags",
        "starred",
        "metadata",
        "entry",
        "summary",
        "name",
        "label",
        "snapshot",
        "force",
        "dry_run",
        "keep_messages",
        "prompt",
        "text",
        "answer",
        "pattern",
        "set",
        "add",
        "done",
        "remove",
        "include",
        "expires_in",
        "from",
        "messages",
        "branch",
        "history",
        "welcome",
        "system",
        "message",
        "replace_last",
        "stream",
        "snapshot_id",
        "checkout",
        "id",
        "branches",
        "workspace",
        "createdAt",
        "updatedAt",
    ];
    if dice.roll(8) == 0 {
        return value(dice, 3);
    }
    let mut object = serde_json::Map::new();
    for _ in 0..dice.roll(4) {
        let member = dice.pick(&MEMBERS);
        let given = match (member, dice.roll(3)) {
            ("entries", 0) => json!([message("fuzz")]),
            ("entry" | "snapshot" | "parent", 0) => json!("#2"),
            ("messages", 0) => json!([{"id": dice.pick(&WORDS), "role": "user", "content": "fuzz"}]),
            ("branches", 0) => json!({"m": {"versions": [{"messages": [{"id": "m", "content": value(dice, 1)}]}]}}),
            ("cwd", _) => json!("/nowhere/at/all"),
            _ => value(dice, 3),
        };
        object.insert(member.to_owned(), given);
    }
    object.into()
}

/// How many ask at the same time.
const ASKING: usize = 4;

#[test]
fn k7_no_request_makes_the_server_fail() {
    let world = World::start();
    let document: Value = serde_json::from_str(&ramus_server::document()).unwrap();
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
            let (world, routes) = (&world, &routes);
            scope.spawn(move || ask(world, routes, seed as u64))
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

fn ask(world: &World, routes: &[(String, String, Value)], seed: u64) -> Answered {
    let session = world.session();
    world.append(&session, &["one", "two"]);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
    let mut connection = Connection::open(world.address);
    let mut answered = Answered::new();
    for _ in 0..requests() / ASKING {
        let request = request(world, routes, &session, &mut dice);
        let response = connection.ask(&request);
        *answered.entry(response.status).or_default() += 1;
        assert!(response.status < 500, "{request:?}: {}", String::from_utf8_lossy(&response.body));
    }
    answered
}

fn request(world: &World, routes: &[(String, String, Value)], session: &str, dice: &mut Dice) -> Request {
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
        request = request.json(&body(dice));
    }
    if dice.roll(6) == 0 {
        request = request.header("if-match", dice.pick(&["\"1\"", "*", "nonsense", "\"99\""]));
    }
    request
}
