//! `models`: which models there are, and which can be asked now.

use clap::Args;
use ramus_client::Error;
use ramus_server::ModelQuery;
use serde_json::{Map, Value};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::models;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, quantity, style};

const EXAMPLES: &str = "\
Known models are data with a date, which models.toml in the home overrides and extends; what they cost is in prices.toml. \
Ollama and llama.cpp are asked what they have, on this machine only. Providers of your own are named in config.toml \
(docs/settings.md).

Examples:
  ramus models
  ramus models sonnet
  ramus models --provider ollama --json";

/// List models and whether they can be asked
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Models {
    /// Show only models with this in their name
    text: Option<String>,
    /// Show only the models of this provider
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Show only what can be asked now
    #[arg(long)]
    available: bool,
}

impl Models {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let directory = invocation.cwd.clone();
        let answer = match invocation.remote() {
            Some(remote) => self.ask(&remote, &directory)?,
            None => {
                let (text, provider) = (self.text.clone(), self.provider.clone());
                let query = ModelQuery { text, provider, available: self.available, cwd: None };
                models::list(invocation, &query, &directory)?
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        show(invocation, answer.items("models"))
    }

    /// Asks a server what it can ask.
    fn ask(&self, remote: &Remote, directory: &str) -> anyhow::Result<Map<String, Value>> {
        let request = |cwd: Option<&str>| {
            let request = remote.get(&["models"]).maybe("text", self.text.as_ref()).maybe("cwd", cwd);
            request.maybe("provider", self.provider.as_ref()).flag("available", self.available).answer()
        };
        let told = match remote.wait(request(Some(directory))) {
            // Who may not choose a directory is told what holds where the server is.
            Err(error) if error.downcast_ref().and_then(Error::status) == Some(403) => remote.wait(request(None))?,
            told => told?,
        };
        Ok(told.into_members())
    }
}

fn show(invocation: &mut Invocation<'_>, models: &[Value]) -> anyhow::Result<Exit> {
    let name = |model: &Value| format!("{}/{}", model.word("provider"), model.word("name"));
    let width = models.iter().map(|model| name(model).chars().count()).max().unwrap_or_default();
    let mut text = Text::new();
    for model in models {
        let shade = if model.says("available") { style::BOLD } else { style::DIM };
        text.padded(shade, &name(model), width).plain("  ");
        let window = model.get("window").and_then(Value::as_u64);
        text.right(style::NONE, &window.map_or_else(|| "?".to_owned(), quantity::grouped), 10);
        let prices = model.get("prices").filter(|prices| !prices.is_null());
        text.right(style::DIM, &prices.map_or_else(|| "?".to_owned(), price), 18).end();
    }
    // What is missing is said once for each provider.
    let mut obstacles: Vec<&str> = models.iter().filter_map(|model| model.maybe("reason")).collect();
    obstacles.dedup();
    for obstacle in &obstacles {
        text.styled(style::DIM, obstacle).end();
    }
    if models.is_empty() {
        invocation.screen.note(text.plain("there are no such models").end())?;
        return Ok(Exit::Done);
    }
    invocation.screen.text(&text)?;
    Ok(Exit::Done)
}

/// Dollars per million tokens, in and out.
fn price(prices: &Value) -> String {
    let names = ["input", "output", "cache_read", "cache_write"];
    if names.iter().all(|name| prices.number(name) == 0) {
        return "free".to_owned();
    }
    let dollars = |name: &str| format!("{:.2}", prices.number(name) as f64 / 1e6);
    format!("${} / ${}", dollars("input"), dollars("output"))
}
