//! Artefacts: pages that are set aside inside the workspace, and nowhere else.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use ramus_tools::tool::artifact::Gallery;
use ramus_tools::tool::deploy::Deploying;
use ramus_tools::tool::slides::Presenting;
use ramus_tools::{Cancel, Outcome, Tool, Workspace};
use serde_json::{Value, json};

struct World {
    home: tempfile::TempDir,
    gallery: Gallery,
}

impl World {
    fn new(session: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("work/site")).unwrap();
        fs::create_dir(home.path().join("elsewhere")).unwrap();
        fs::write(home.path().join("work/site/index.html"), "<p>").unwrap();
        let workspace = Arc::new(Workspace::open(&home.path().join("work"), &[]).unwrap());
        Self { home, gallery: Gallery { workspace, session: session.to_owned() } }
    }

    fn deploy(&self, source: &str) -> Outcome {
        let tool = Deploying { gallery: self.gallery.clone() };
        self.call(&tool, &json!({"source": source, "name": "The Site"}))
    }

    fn call(&self, tool: &dyn Tool, arguments: &Value) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        match tool.plan(arguments) {
            Ok(plan) => runtime.block_on(plan.run(Cancel::new())),
            Err(refusal) => Outcome::failed(refusal.to_string()),
        }
    }

    fn file(&self, path: &str) -> String {
        fs::read_to_string(self.home.path().join("work").join(path)).unwrap()
    }
}

#[test]
fn every_deployment_has_a_place_of_its_own_and_the_newest_comes_first() {
    let world = World::new("s1");
    assert!(!world.deploy("site").is_error);
    fs::write(world.home.path().join("work/site/index.html"), "<b>").unwrap();
    assert!(!world.deploy("site").is_error);
    assert_eq!(world.file("deployments/s1/the-site/index.html"), "<p>");
    assert_eq!(world.file("deployments/s1/the-site-2/index.html"), "<b>");
    let index: Value = serde_json::from_str(&world.file("deployments/manifest.json")).unwrap();
    let urls: Vec<&str> =
        index["artifacts"].as_array().unwrap().iter().map(|artifact| artifact["url"].as_str().unwrap()).collect();
    assert_eq!(urls, ["deployments/s1/the-site-2/index.html", "deployments/s1/the-site/index.html"]);
}

#[test]
fn nothing_is_written_or_taken_outside() {
    let world = World::new("../../elsewhere");
    symlink("../../elsewhere", world.home.path().join("work/site/away")).unwrap();
    let done = world.deploy("site");
    assert!(!done.is_error, "{}", done.as_text());
    assert_eq!(world.file("deployments/elsewhere/the-site/index.html"), "<p>", "an id is no path");
    assert!(world.deploy("..").is_error && world.deploy("missing").is_error);
    fs::remove_dir_all(world.home.path().join("work/deployments")).unwrap();
    symlink("../elsewhere", world.home.path().join("work/deployments")).unwrap();
    assert!(world.deploy("site").is_error);
    assert_eq!(fs::read_dir(world.home.path().join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn a_page_is_needed_and_an_index_of_others_is_left_alone() {
    let world = World::new("s1");
    let site = world.home.path().join("work/site");
    fs::rename(site.join("index.html"), site.join("a.html")).unwrap();
    fs::write(site.join("b.html"), "<i>").unwrap();
    assert!(world.deploy("site").as_text().contains("exactly one .html"));
    fs::create_dir(world.home.path().join("work/generated_slides")).unwrap();
    fs::write(world.home.path().join("work/generated_slides/manifest.json"), "[1]").unwrap();
    let slides = Presenting { gallery: world.gallery.clone() };
    let refused = world.call(&slides, &json!({"title": "x", "slides": [{"title": "y"}]}));
    assert!(refused.is_error && world.file("generated_slides/manifest.json") == "[1]", "{}", refused.as_text());
    assert!(world.call(&slides, &json!({"title": "x", "slides": []})).is_error);
}
