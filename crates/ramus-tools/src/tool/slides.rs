//! `slides`: a presentation as one page that needs nothing else, under `generated_slides/`.

use std::fmt::Write as _;

use ramus_model::request::ToolDefinition;
use ramus_witness::Reach;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::artifact::{Gallery, slug};
use super::{Effect, Plan, Refusal, Tool, about, arguments, define};
use crate::outcome::Outcome;
use crate::workspace::{Intent, PlaceError};

const KIND: &str = "generated_slides";

/// How many slides a presentation may have.
const MOST_SLIDES: usize = 200;

const STYLE: &str = "body{margin:0;font:1.5rem/1.5 system-ui,sans-serif;color:#1c1c1c;background:#e9e9e9}\
section{box-sizing:border-box;min-height:100vh;padding:10vh 12vw;margin-bottom:1rem;background:#fff}\
h1{font-size:2.6rem;margin:0 0 1em}aside{margin-top:2em;font-size:1rem;color:#777}\
@media print{section{page-break-after:always}aside{display:none}}";

/// Makes presentations.
#[derive(Clone, Debug)]
pub struct Presenting {
    /// Where presentations are.
    pub gallery: Gallery,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    title: String,
    slides: Vec<Slide>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slide {
    title: String,
    #[serde(default)]
    points: Vec<String>,
    #[serde(default)]
    notes: String,
}

impl Tool for Presenting {
    fn definition(&self) -> ToolDefinition {
        let slide = json!({
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "points": {"type": "array", "items": {"type": "string"}},
                "notes": {"type": "string", "description": "What is said about it"},
            },
            "required": ["title"],
            "additionalProperties": false,
        });
        let properties = json!({
            "title": {"type": "string", "description": "The title of the presentation"},
            "slides": {"type": "array", "items": slide, "minItems": 1, "maxItems": MOST_SLIDES},
        });
        define("slides", "Makes a presentation, for people to look at.", properties, &["title", "slides"])
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let asked: Arguments = arguments(value)?;
        if asked.slides.is_empty() || asked.slides.len() > MOST_SLIDES {
            return Err(Refusal::Arguments(format!("a presentation has 1 to {MOST_SLIDES} slides")));
        }
        self.gallery.workspace.resolve(KIND, Intent::Write)?;
        let questions = about("slides", &asked.title, value);
        let mut reach = Reach::default();
        reach.add_tree(self.gallery.workspace.path().join(KIND));
        let this = self.clone();
        Ok(Plan::blocking(questions, Effect::Changes, move |_| match this.present(&asked) {
            Ok(outcome) => outcome,
            Err(error) => Outcome::failed(error.to_string()),
        })
        .within(reach))
    }
}

impl Presenting {
    fn present(&self, asked: &Arguments) -> Result<Outcome, PlaceError> {
        let target = self.gallery.vacant(KIND, &asked.title)?;
        let url = format!("{target}/index.html");
        self.gallery.write(&url, page(asked).as_bytes())?;
        let artifact = Map::from_iter([
            ("type".to_owned(), Value::from("slides")),
            ("name".to_owned(), Value::from(asked.title.clone())),
            ("slug".to_owned(), Value::from(slug(&asked.title))),
            ("session_id".to_owned(), Value::from(self.gallery.session.clone())),
            ("target".to_owned(), Value::from(target.clone())),
            ("url".to_owned(), Value::from(url.clone())),
            ("slides".to_owned(), Value::from(asked.slides.len())),
        ]);
        let mut text = format!("{:#}", Value::Object(artifact.clone()));
        text.push('\n');
        self.gallery.write(&format!("{target}/slides.json"), text.as_bytes())?;
        self.gallery.register(KIND, &artifact)?;
        let said = format!("Made {url} with {} slides", asked.slides.len());
        Ok(Outcome::text(said).with_details(json!({"path": target, "artifacts": [artifact]})))
    }
}

/// Writes the page. Texts of the model stay texts.
fn page(asked: &Arguments) -> String {
    let mut page = format!(
        "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        escaped(&asked.title)
    );
    for slide in &asked.slides {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "<section>\n<h1>{}</h1>", escaped(&slide.title));
        if !slide.points.is_empty() {
            page.push_str("<ul>\n");
            for point in &slide.points {
                let _ = writeln!(page, "<li>{}</li>", escaped(point));
            }
            page.push_str("</ul>\n");
        }
        if !slide.notes.is_empty() {
            let _ = writeln!(page, "<aside>{}</aside>", escaped(&slide.notes));
        }
        page.push_str("</section>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
