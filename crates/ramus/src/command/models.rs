//! `models`: which models there are, and which can be asked now.

use clap::Args;
use ramus_engine::settings::Settings;
use ramus_model::usage::{ModelName, Price};
use ramus_provider::discover::Local;
use ramus_provider::{Facts, Models as Table, Providers};
use serde_json::{Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::providers;
use crate::render::{Text, json, quantity, style};

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

/// One line of the list.
struct Row {
    model: ModelName,
    facts: Facts,
    price: Option<Price>,
    /// Why it cannot be asked; none when it can.
    obstacle: Option<String>,
}

impl Models {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let directory = invocation.cwd.clone();
        let settings = invocation.settings_in(&directory)?;
        let providers = providers::providers(&invocation.home, &settings)?;
        let prices = invocation.prices()?;
        let local = self.local(&settings)?;
        let mut all: Vec<(ModelName, Facts)> = known(providers.models());
        all.extend(local.into_iter().map(|local| (local.model, local.facts)));
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all.dedup_by(|(a, _), (b, _)| a == b);
        let rows = all.into_iter().filter(|(model, _)| self.is_wanted(model)).map(|(model, facts)| {
            let (price, obstacle) = (prices.price(&model), obstacle(&providers, &model));
            Row { model, facts, price, obstacle }
        });
        let rows: Vec<Row> = rows.filter(|row| !self.available || row.obstacle.is_none()).collect();
        if invocation.screen.wants_json() {
            let models: Vec<Value> = rows.iter().map(Row::to_json).collect();
            let as_of = providers.models().as_of();
            invocation.screen.json(json::members(json!({"models": models, "as_of": as_of})))?;
            return Ok(Exit::Done);
        }
        show(invocation, &rows)
    }

    fn is_wanted(&self, model: &ModelName) -> bool {
        let name = format!("{}/{}", model.provider, model.model).to_lowercase();
        self.text.as_ref().is_none_or(|text| name.contains(&text.to_lowercase()))
            && self.provider.as_ref().is_none_or(|provider| *provider == model.provider)
    }

    /// Asks the servers of this machine what they have, all at once. Nobody there is the usual case.
    fn local(&self, settings: &Settings) -> anyhow::Result<Vec<Local>> {
        let said = providers::all(settings)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let is_wanted = |name: &String| self.provider.as_ref().is_none_or(|provider| provider == name);
        let wanted = said.into_iter().filter(|(name, _)| is_wanted(name));
        let asked = wanted.filter_map(|(name, said)| providers::local(&name, said));
        Ok(runtime.block_on(futures_util::future::join_all(asked)).into_iter().flatten().collect())
    }
}

/// What the table knows.
fn known(table: &Table) -> Vec<(ModelName, Facts)> {
    table.iter().map(|(model, facts)| (model.clone(), facts.clone())).collect()
}

fn obstacle(providers: &Providers, model: &ModelName) -> Option<String> {
    let refused = providers.resolve(&format!("{}/{}", model.provider, model.model)).err()?;
    Some(format!("{refused}: {}", refused.hint()))
}

impl Row {
    fn to_json(&self) -> Value {
        let price = self.price.map(|price| {
            json!({
                "input": price.input, "output": price.output,
                "cache_read": price.cache_read, "cache_write": price.cache_write,
            })
        });
        json!({
            "provider": self.model.provider,
            "name": self.model.model,
            "window": self.facts.window,
            "output": self.facts.output,
            "images": self.facts.images,
            "prices": price,
            "available": self.obstacle.is_none(),
            "reason": self.obstacle,
        })
    }
}

fn show(invocation: &mut Invocation<'_>, rows: &[Row]) -> anyhow::Result<Exit> {
    let name = |row: &Row| format!("{}/{}", row.model.provider, row.model.model);
    let width = rows.iter().map(|row| name(row).chars().count()).max().unwrap_or_default();
    let mut text = Text::new();
    for row in rows {
        let shade = if row.obstacle.is_none() { style::BOLD } else { style::DIM };
        text.padded(shade, &name(row), width).plain("  ");
        text.right(style::NONE, &row.facts.window.map_or_else(|| "?".to_owned(), quantity::grouped), 10);
        text.right(style::DIM, &row.price.map_or_else(|| "?".to_owned(), price), 18).end();
    }
    // What is missing is said once for each provider.
    let mut obstacles: Vec<&String> = rows.iter().filter_map(|row| row.obstacle.as_ref()).collect();
    obstacles.dedup();
    for obstacle in &obstacles {
        text.styled(style::DIM, obstacle).end();
    }
    if rows.is_empty() {
        invocation.screen.note(text.plain("there are no such models").end())?;
        return Ok(Exit::Done);
    }
    invocation.screen.text(&text)?;
    Ok(Exit::Done)
}

/// Dollars per million tokens, in and out.
fn price(price: Price) -> String {
    if price == Price::default() {
        return "free".to_owned();
    }
    let dollars = |micros: u64| format!("{:.2}", micros as f64 / 1e6);
    format!("${} / ${}", dollars(price.input), dollars(price.output))
}
