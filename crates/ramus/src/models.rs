//! Which models there are, and which can be asked from here: what `models` lists, and what a server answers.

use ramus_engine::settings::Settings;
use ramus_model::usage::ModelName;
use ramus_provider::discover::Local;
use ramus_provider::{Facts, Models as Table, Providers};
use ramus_server::ModelQuery;
use ramus_wire::model::{self as shape, Listed};
use serde_json::{Map, Value};

use crate::invocation::Invocation;
use crate::providers;

/// Lists models as programs are told.
pub(crate) fn list(
    invocation: &mut Invocation<'_>,
    query: &ModelQuery,
    directory: &str,
) -> anyhow::Result<Map<String, Value>> {
    let settings = invocation.settings_in(directory)?;
    let providers = providers::providers(&invocation.home, &settings)?;
    let prices = invocation.prices()?;
    let local = local(&settings, query)?;
    let mut all: Vec<(ModelName, Facts)> = known(providers.models());
    all.extend(local.into_iter().map(|local| (local.model, local.facts)));
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all.dedup_by(|(a, _), (b, _)| a == b);
    let wanted = all.into_iter().filter(|(model, _)| is_wanted(query, model)).map(|(model, facts)| {
        let (price, obstacle) = (prices.price(&model), obstacle(&providers, &model));
        Listed { model, facts, price, obstacle }
    });
    let listed: Vec<Listed> = wanted.filter(|one| !query.available || one.obstacle.is_none()).collect();
    Ok(shape::list(&listed, providers.models().as_of()))
}

fn is_wanted(query: &ModelQuery, model: &ModelName) -> bool {
    let name = format!("{}/{}", model.provider, model.model).to_lowercase();
    query.text.as_ref().is_none_or(|text| name.contains(&text.to_lowercase()))
        && query.provider.as_ref().is_none_or(|provider| *provider == model.provider)
}

/// Asks the servers of this machine what they have, all at once. Nobody there is the usual case.
fn local(settings: &Settings, query: &ModelQuery) -> anyhow::Result<Vec<Local>> {
    let said = providers::all(settings)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let is_wanted = |name: &String| query.provider.as_ref().is_none_or(|provider| provider == name);
    let wanted = said.into_iter().filter(|(name, _)| is_wanted(name));
    let asked = wanted.filter_map(|(name, said)| providers::local(&name, said));
    Ok(runtime.block_on(futures_util::future::join_all(asked)).into_iter().flatten().collect())
}

/// What the table knows.
fn known(table: &Table) -> Vec<(ModelName, Facts)> {
    table.iter().map(|(model, facts)| (model.clone(), facts.clone())).collect()
}

fn obstacle(providers: &Providers, model: &ModelName) -> Option<String> {
    let refused = providers.resolve(&format!("{}/{}", model.provider, model.model)).err()?;
    Some(format!("{refused}: {}", refused.hint()))
}
