//! Models that run on this machine: what Ollama and llama.cpp say they have.
//!
//! Only loopback is asked, and only for a moment: nobody there is the usual case and no error.

use std::time::Duration;

use ramus_model::json::{Object, Raw};
use ramus_model::usage::ModelName;
use reqwest::{Client, Url};

use crate::endpoint::base_url;
use crate::http::is_loopback;
use crate::models::{Control, Facts};

/// How long one question may take.
const PATIENCE: Duration = Duration::from_millis(800);

/// The most of an answer that is read.
const MOST: usize = 4 * 1024 * 1024;

/// The most models that are asked about one by one.
const MOST_MODELS: usize = 64;

/// A model that a server on this machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name; the provider is the one that was looked for.
    pub model: ModelName,
    /// What the server says about it.
    pub facts: Facts,
}

/// Asks Ollama which models it has. `host` is as its variable says, none for where it always is.
pub async fn ollama(host: Option<&str>) -> Vec<Local> {
    let Some(asking) = Asking::new(host.unwrap_or("127.0.0.1:11434")) else { return Vec::new() };
    let Some(tags) = asking.get("api/tags").await else { return Vec::new() };
    let mut found = Vec::new();
    for name in names(&tags, "models", "name").into_iter().take(MOST_MODELS) {
        let shown = asking.post("api/show", &serde_json::json!({ "model": name }).to_string()).await;
        let facts = shown.as_deref().and_then(ollama_facts).unwrap_or_default();
        found.push(Local { model: ModelName { provider: "ollama".to_owned(), model: name }, facts });
    }
    found
}

/// Asks a llama.cpp server which model it has. `base` is where it is; `provider` is what it is called in the settings.
pub async fn llama_cpp(base: &str, provider: &str) -> Vec<Local> {
    let base = base.trim().trim_end_matches('/');
    let Some(asking) = Asking::new(base.strip_suffix("/v1").unwrap_or(base)) else { return Vec::new() };
    let Some(listed) = asking.get("v1/models").await else { return Vec::new() };
    let properties = asking.get("props").await;
    let facts = properties.as_deref().and_then(llama_facts).unwrap_or_default();
    let names = names(&listed, "data", "id").into_iter().take(MOST_MODELS);
    let local = |model| Local { model: ModelName { provider: provider.to_owned(), model }, facts: facts.clone() };
    names.map(local).collect()
}

fn names(body: &str, list: &str, member: &str) -> Vec<String> {
    let items = Raw::parse(body.as_bytes()).and_then(|raw| raw.field(list)).into_iter().flat_map(Raw::items);
    let name = |item: Raw<'_>| item.field(member).and_then(Raw::text).map(|name| name.into_owned());
    items.filter_map(name).filter(|name| !name.is_empty()).collect()
}

/// The window's name begins with the family of the model.
fn ollama_facts(body: &str) -> Option<Facts> {
    let shown = Object::parse(body.as_bytes())?;
    let information = shown.field("model_info")?;
    let window = information.fields().find(|(name, _)| name.ends_with(".context_length"));
    let abilities: Vec<String> = shown
        .field("capabilities")
        .into_iter()
        .flat_map(Raw::items)
        .filter_map(Raw::text)
        .map(|ability| ability.into_owned())
        .collect();
    let can = |ability: &str| abilities.iter().any(|known| known == ability);
    Some(Facts {
        window: window.and_then(|(_, length)| length.unsigned()),
        output: None,
        images: abilities.is_empty() || can("vision"),
        control: if can("thinking") || abilities.is_empty() { Control::Unknown } else { Control::Never },
    })
}

fn llama_facts(body: &str) -> Option<Facts> {
    let properties = Raw::parse(body.as_bytes())?;
    let window = properties.field("default_generation_settings").and_then(|settings| settings.field("n_ctx"));
    let sees = properties.field("modalities").and_then(|raw| raw.field("vision")).and_then(Raw::flag);
    Some(Facts { window: window.and_then(Raw::unsigned), images: sees.unwrap_or(true), ..Facts::default() })
}

/// Asks one server.
struct Asking {
    client: Client,
    base: Url,
}

impl Asking {
    /// None for what is not on this machine.
    fn new(base: &str) -> Option<Self> {
        let base = base_url(base).ok().filter(is_loopback)?;
        let client = Client::builder().no_proxy().timeout(PATIENCE).redirect(reqwest::redirect::Policy::none());
        Some(Self { client: client.build().ok()?, base })
    }

    async fn get(&self, path: &str) -> Option<String> {
        self.read(self.client.get(self.url(path)?)).await
    }

    async fn post(&self, path: &str, body: &str) -> Option<String> {
        self.read(self.client.post(self.url(path)?).body(body.to_owned())).await
    }

    fn url(&self, path: &str) -> Option<Url> {
        let base = self.base.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}/{path}")).ok()
    }

    async fn read(&self, request: reqwest::RequestBuilder) -> Option<String> {
        let mut response = request.send().await.ok()?.error_for_status().ok()?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            body.extend_from_slice(&chunk);
            if body.len() > MOST {
                return None;
            }
        }
        String::from_utf8(body).ok()
    }
}
