//! The description in the repository is the one that is served.

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
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let mut names: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "two operations have one name");
}
