//! `deploy`: a copy of a directory with a web page, set aside under `deployments/` where it stays as it is.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use ramus_model::request::ToolDefinition;
use ramus_witness::Reach;

use super::artifact::{Gallery, slug};
use super::read::contents;
use super::{Effect, Plan, Refusal, Tool, about, arguments, define};
use crate::cancel::Cancel;
use crate::outcome::Outcome;
use crate::walk::walk;
use crate::workspace::{Intent, Place, PlaceError};

const KIND: &str = "deployments";

/// How many files a deployment may have.
const MOST_FILES: usize = 2000;

/// How many bytes a deployment may have.
const MOST_BYTES: usize = 100 << 20;

/// Deploys directories.
#[derive(Clone, Debug)]
pub struct Deploying {
    /// Where deployments are.
    pub gallery: Gallery,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    source: String,
    name: String,
}

impl Tool for Deploying {
    fn definition(&self) -> ToolDefinition {
        let properties = json!({
            "source": {"type": "string", "description": "Directory with the page: index.html, or the only .html file in it"},
            "name": {"type": "string", "description": "What the deployment is called"},
        });
        let description = "Sets a copy of a directory with a web page aside, for people to look at.";
        define("deploy", description, properties, &["source", "name"])
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let Arguments { source, name } = arguments(value)?;
        let place = self.gallery.workspace.resolve(&source, Intent::Read)?;
        // Refused here rather than half way: where the copy goes must be in reach too.
        self.gallery.workspace.resolve(KIND, Intent::Write)?;
        let questions = about("deploy", &place.text(), value);
        let mut reach = Reach::default();
        reach.add_tree(self.gallery.workspace.path().join(KIND));
        let this = self.clone();
        Ok(Plan::blocking(questions, Effect::Changes, move |cancel| match this.deploy(&place, &name, cancel) {
            Ok(outcome) => outcome,
            Err(error) => Outcome::failed(error.to_string()),
        })
        .within(reach))
    }
}

impl Deploying {
    fn deploy(&self, source: &Place, name: &str, cancel: &Cancel) -> Result<Outcome, PlaceError> {
        let workspace = &self.gallery.workspace;
        workspace.open_directory(source)?;
        let files: Vec<Place> = walk(workspace, source).take(MOST_FILES + 1).collect();
        let files = files.into_iter().filter(|file| !file.path().starts_with(KIND)).collect::<Vec<_>>();
        if files.len() > MOST_FILES {
            return Ok(Outcome::failed(format!("{} has more than {MOST_FILES} files", source.text())));
        }
        let Some(page) = page(source, &files) else {
            let reason = "has neither an index.html nor exactly one .html file";
            return Ok(Outcome::failed(format!("{} {reason}", source.text())));
        };
        let target = self.gallery.vacant(KIND, name)?;
        let mut bytes = 0;
        for file in &files {
            if cancel.is_cancelled() {
                return Ok(Outcome::cancelled());
            }
            let (content, _) = contents(workspace, file)?;
            bytes += content.len();
            if bytes > MOST_BYTES {
                return Ok(Outcome::failed(format!("{} has more than {MOST_BYTES} bytes", source.text())));
            }
            let inner = if *file == page { "index.html".to_owned() } else { beneath(source, file) };
            self.gallery.write(&format!("{target}/{inner}"), &content)?;
        }
        let artifact = self.manifest(name, source, &target, files.len());
        let mut text = format!("{:#}", Value::Object(artifact.clone()));
        text.push('\n');
        self.gallery.write(&format!("{target}/deployment.json"), text.as_bytes())?;
        self.gallery.register(KIND, &artifact)?;
        let said = format!("Deployed {} files to {target}/index.html", files.len());
        Ok(Outcome::text(said).with_details(json!({"path": target, "artifacts": [artifact]})))
    }

    fn manifest(&self, name: &str, source: &Place, target: &str, files: usize) -> Map<String, Value> {
        Map::from_iter([
            ("type".to_owned(), Value::from("web")),
            ("name".to_owned(), Value::from(name)),
            ("slug".to_owned(), Value::from(slug(name))),
            ("session_id".to_owned(), Value::from(self.gallery.session.clone())),
            ("source".to_owned(), Value::from(source.text())),
            ("target".to_owned(), Value::from(target)),
            ("url".to_owned(), Value::from(format!("{target}/index.html"))),
            ("files".to_owned(), Value::from(files)),
        ])
    }
}

/// Finds the page that is shown first.
fn page(source: &Place, files: &[Place]) -> Option<Place> {
    let top = |file: &&Place| !beneath(source, file).contains('/');
    let is_page =
        |file: &&Place| file.path().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html"));
    let mut pages = files.iter().filter(top).filter(is_page);
    let index = files.iter().find(|file| beneath(source, file) == "index.html");
    match (index, pages.next(), pages.next()) {
        (Some(index), ..) => Some(index.clone()),
        (None, Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

/// The path of a file from the directory it is deployed from.
fn beneath(source: &Place, file: &Place) -> String {
    let inner = file.path().strip_prefix(source.path()).unwrap_or(file.path());
    inner.to_string_lossy().into_owned()
}
