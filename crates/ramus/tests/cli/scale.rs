//! Long sessions: deep chains and wide trees are drawn without recursion.

use std::fmt::Write as _;

use crate::world::World;

const COUNT: u32 = 100_000;

fn session(world: &World, name: &str, parent: impl Fn(u32) -> Option<u32>) -> String {
    let mut file =
        String::from("{\"type\":\"session\",\"version\":3,\"id\":\"big\",\"timestamp\":\"\",\"cwd\":\"/\"}\n");
    for number in 0..COUNT {
        let parent = parent(number).map_or_else(|| "null".to_owned(), |parent| format!("\"{parent:08x}\""));
        writeln!(
            file,
            "{{\"type\":\"message\",\"id\":\"{number:08x}\",\"parentId\":{parent},\"timestamp\":\"\",\"message\":{{\"role\":\"user\",\"content\":\"{number}\"}}}}"
        )
        .unwrap();
    }
    world.file(name, &file)
}

#[test]
fn deep_and_wide_trees_are_drawn() {
    let world = World::new();
    for path in [
        session(&world, "chain.jsonl", |number| number.checked_sub(1)),
        session(&world, "comb.jsonl", |number| number.checked_sub(if number % 2 == 0 { 2 } else { 1 })),
        session(&world, "star.jsonl", |number| (number > 0).then_some(0)),
        session(&world, "roots.jsonl", |_| None),
    ] {
        let drawn = world.ok(&["tree", &path]);
        assert!(drawn.ends_with("hidden") || drawn.contains(" hidden, "), "{}", drawn.lines().last().unwrap());
        let widest = drawn.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(110), "{path}: {widest:?}");
        assert!(world.ok(&["tree", &path, "--all"]).lines().count() >= COUNT as usize);
        assert_eq!(world.json(&["tree", &path])["entries"].as_array().map(Vec::len), Some(COUNT as usize));
    }
}

#[test]
fn long_conversations_are_shown_in_pages() {
    let world = World::new();
    let path = session(&world, "chain.jsonl", |number| number.checked_sub(1));
    let page = world.json(&["show", &path, "--limit", "10", "--cursor", "0001869a"]);
    assert_eq!(page["messages"].as_array().map(Vec::len), Some(5));
    assert_eq!(page["next_cursor"], serde_json::Value::Null);
    assert_eq!(world.json(&["context", &path])["messages"].as_array().map(Vec::len), Some(COUNT as usize));
}
