//! Who can be asked: the providers that are known and those of the settings, with keys and addresses from the environment.

use std::collections::BTreeMap;
use std::fs;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use ramus_engine::settings::{Given, ProviderSettings, Settings};
use ramus_provider::discover::{self, Local};
use ramus_provider::wire::Api;
use ramus_provider::{KNOWN, Known, Models, Patience, Providers, ResolveError, Secret};

use crate::failure::Refusal;
use crate::home::Home;

/// Reads a variable; one that holds nothing is not there.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Returns what a value of the settings stands for; the variable that is missing otherwise.
pub(crate) fn given(value: &Given) -> Result<String, Refusal> {
    match value {
        Given::Text(text) => Ok(text.clone()),
        Given::Variable(name) => {
            let missing = || Refusal::usage(format!("the variable {name} is not set")).hint("the settings name it");
            variable(name).ok_or_else(missing)
        }
    }
}

/// Reads what is known about models, and what the user's own table adds.
pub(crate) fn models(home: &Home) -> anyhow::Result<Models> {
    let mut models = Models::known()?;
    let own = home.root().join("models.toml");
    match fs::read_to_string(&own) {
        Ok(text) => models.lay_over(&text, &own.display().to_string())?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(anyhow::Error::new(error).context(format!("cannot read {}", own.display()))),
    }
    Ok(models)
}

/// Sets up everyone who can be asked.
pub(crate) fn providers(home: &Home, settings: &Settings) -> anyhow::Result<Providers> {
    let patience = Patience { idle: settings.patience(), ..Patience::default() };
    Ok(Providers::new(all(settings)?, models(home)?, patience).map_err(refused)?)
}

/// What is said about every provider.
pub(crate) fn all(settings: &Settings) -> anyhow::Result<BTreeMap<String, ramus_provider::Settings>> {
    let nothing = ProviderSettings::default();
    let (user, project) = (&settings.user().providers, &settings.project().providers);
    let mut all = BTreeMap::new();
    for known in &KNOWN {
        all.insert(known.name.to_owned(), known_provider(known, user.get(known.name).unwrap_or(&nothing))?);
    }
    for (name, said) in user.iter().chain(project) {
        if !all.contains_key(name) {
            all.insert(name.clone(), own_provider(name, said)?);
        }
    }
    Ok(all)
}

/// The environment comes before the settings, except where they name another variable.
fn known_provider(known: &Known, said: &ProviderSettings) -> anyhow::Result<ramus_provider::Settings> {
    if said.kind.is_some_and(|kind| kind != known.api) {
        let message = format!("{} is known, and speaks otherwise than the settings say", known.name);
        return Err(Refusal::usage(message).hint("give a provider of your own another name").into());
    }
    let key = said.key_env.as_deref().or(known.key_variable).and_then(variable);
    Ok(ramus_provider::Settings {
        base_url: variable(known.url_variable).or_else(|| said.base_url.clone()),
        key: key.map(Secret::new),
        key_variable: said.key_env.clone(),
        headers: headers(said)?,
        api: None,
    })
}

fn own_provider(name: &str, said: &ProviderSettings) -> anyhow::Result<ramus_provider::Settings> {
    if said.base_url.is_none() {
        let message = format!("the settings of the provider {name} do not say where it is");
        return Err(Refusal::usage(message).hint(format!("add base_url to [providers.{name}]")).into());
    }
    Ok(ramus_provider::Settings {
        base_url: said.base_url.clone(),
        key: said.key_env.as_deref().and_then(variable).map(Secret::new),
        key_variable: said.key_env.clone(),
        headers: headers(said)?,
        // Nearly everyone speaks it.
        api: Some(said.kind.unwrap_or(Api::Completions)),
    })
}

fn headers(said: &ProviderSettings) -> anyhow::Result<Vec<(String, Secret)>> {
    let header = |(name, value): (&String, &Given)| Ok((name.clone(), Secret::new(given(value)?)));
    said.headers.iter().map(header).collect()
}

/// Makes the question which models a server of this machine has; none for providers that are not asked: those that are known
/// and elsewhere, and those that want a key. Only loopback is asked.
pub(crate) fn local(name: &str, said: ramus_provider::Settings) -> Option<BoxFuture<'static, Vec<Local>>> {
    let name = name.to_owned();
    match (name.as_str(), said.base_url) {
        ("ollama", base) => Some(async move { discover::ollama(base.as_deref()).await }.boxed()),
        ("llama-cpp", base) => {
            let base = base.unwrap_or_else(|| "http://127.0.0.1:8080".to_owned());
            Some(async move { discover::llama_cpp(&base, &name).await }.boxed())
        }
        (_, Some(base)) if said.key_variable.is_none() && !KNOWN.iter().any(|known| known.name == name) => {
            Some(async move { discover::llama_cpp(&base, &name).await }.boxed())
        }
        _ => None,
    }
}

/// Says why nobody answers to a name.
pub(crate) fn refused(error: ResolveError) -> Refusal {
    let hint = match &error {
        ResolveError::Settings { hint, .. } | ResolveError::Name { hint, .. } => hint.clone(),
        ResolveError::NoKey { hint, .. } | ResolveError::Unknown { hint, .. } => {
            format!("{hint}; `ramus models` shows what can be used")
        }
    };
    Refusal::usage(error.to_string()).hint(hint)
}
