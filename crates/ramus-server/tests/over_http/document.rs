//! The description in the repository is the one that is served.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::world::World;

#[test]
fn the_description_in_the_repository_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let made = format!("{}\n", ramus_server::document());
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(&file, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == made, "docs/openapi.json is not current; run the tests with INSTA_UPDATE=always");
}

#[test]
fn the_description_is_served_and_is_of_openapi_3_1() {
    let world = World::start();
    let served = world.get("/openapi.json");
    assert_eq!(String::from_utf8(served.body.clone()).unwrap(), ramus_server::document());
    let document = served.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    for status in [401, 405, 501, 507] {
        assert!(document["components"]["responses"][format!("Refused{status}")].is_object(), "{status}");
    }
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let mut names: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two operations have one name");
}

/// The document keeps one of two types that describe themselves under one name, for both.
#[test]
fn no_two_types_describe_themselves_under_one_name() {
    let mut names = BTreeSet::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for text in [folder.join("src"), folder.join("../ramus-wire/src")].iter().flat_map(|folder| sources(folder)) {
        let mut lines = text.lines();
        while let Some(derive) = lines.next() {
            if !derive.starts_with("#[derive(") || !derive.contains("ToSchema") {
                continue;
            }
            let mut called = None;
            for line in lines.by_ref() {
                let other = line.strip_prefix("#[schema(as = ").and_then(|rest| rest.strip_suffix(")]"));
                called = called.or(other.map(str::to_owned));
                if let Some((_, declared)) = line.split_once("struct ").or_else(|| line.split_once("enum ")) {
                    let own = declared.chars().take_while(|letter| letter.is_alphanumeric()).collect();
                    let name = called.unwrap_or(own);
                    assert!(
                        names.insert(name.clone()),
                        "two types are called {name}: give one of them #[schema(as = …)]"
                    );
                    break;
                }
            }
        }
    }
    assert!(names.len() > 20, "{names:?}");
}

fn sources(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(fs::read_to_string(&path).unwrap());
        }
    }
    found
}
