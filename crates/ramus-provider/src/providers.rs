//! The providers that are set up: where they are, which key they want, and how a name finds one.
//!
//! Settings are handed in; nothing is read from the environment here. The variables are named so that whoever is told that
//! something is missing knows where to put it.

use std::collections::BTreeMap;
use std::sync::Arc;

use ramus_model::usage::ModelName;
use reqwest::header::HeaderName;
use thiserror::Error;

use crate::endpoint::{self, Endpoint};
use crate::http::{Http, Patience};
use crate::models::Models;
use crate::provider::{Provider, Remote};
use crate::secret::Secret;
use crate::wire::Api;

/// What is said about one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Where it is; none for where it always is.
    pub base_url: Option<String>,
    /// The key.
    pub key: Option<Secret>,
    /// The variable that should hold the key, for whoever is told that it does not.
    pub key_variable: Option<String>,
    /// Headers that are sent along.
    pub headers: Vec<(String, Secret)>,
    /// How it speaks; only for providers that are not known by name.
    pub api: Option<Api>,
}

/// A provider that is known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// How it speaks.
    pub api: Api,
    /// Where it is.
    pub base_url: &'static str,
    /// The variable that says where it is instead.
    pub url_variable: &'static str,
    /// The variable that holds the key; none when it wants none.
    pub key_variable: Option<&'static str>,
    /// What is behind the base URL that people set.
    suffix: &'static str,
}

/// The providers that are known by name.
pub const KNOWN: [Known; 6] = [
    Known {
        name: "openai",
        api: Api::Completions,
        base_url: "https://api.openai.com/v1",
        url_variable: "OPENAI_BASE_URL",
        key_variable: Some("OPENAI_API_KEY"),
        suffix: "",
    },
    Known {
        name: "openai-responses",
        api: Api::Responses,
        base_url: "https://api.openai.com/v1",
        url_variable: "OPENAI_BASE_URL",
        key_variable: Some("OPENAI_API_KEY"),
        suffix: "",
    },
    Known {
        name: "anthropic",
        api: Api::Anthropic,
        base_url: "https://api.anthropic.com",
        url_variable: "ANTHROPIC_BASE_URL",
        key_variable: Some("ANTHROPIC_API_KEY"),
        suffix: "",
    },
    Known {
        name: "gemini",
        api: Api::Gemini,
        base_url: "https://generativelanguage.googleapis.com",
        url_variable: "GEMINI_BASE_URL",
        key_variable: Some("GEMINI_API_KEY"),
        suffix: "",
    },
    Known {
        name: "ollama",
        api: Api::Completions,
        base_url: "http://127.0.0.1:11434",
        url_variable: "OLLAMA_HOST",
        key_variable: None,
        suffix: "/v1",
    },
    Known {
        name: "llama-cpp",
        api: Api::Completions,
        base_url: "http://127.0.0.1:8080",
        url_variable: "LLAMA_CPP_BASE_URL",
        key_variable: None,
        suffix: "/v1",
    },
];

/// Why there is no provider for a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResolveError {
    /// The name does not say which provider and which model.
    #[error("`{name}` names no model")]
    Name {
        /// The name.
        name: String,
        /// What to do.
        hint: String,
    },
    /// Nobody is called that.
    #[error("there is no provider `{provider}`")]
    Unknown {
        /// The provider's name.
        provider: String,
        /// What to do.
        hint: String,
    },
    /// It wants a key, and there is none.
    #[error("{provider} needs a key")]
    NoKey {
        /// The provider's name.
        provider: String,
        /// What to do.
        hint: String,
    },
    /// Its settings make no sense.
    #[error("the settings of {provider}: {message}")]
    Settings {
        /// The provider's name.
        provider: String,
        /// What is wrong with them.
        message: String,
        /// What to do.
        hint: String,
    },
}

impl ResolveError {
    /// Returns what to do.
    pub fn hint(&self) -> &str {
        match self {
            Self::Name { hint, .. }
            | Self::Unknown { hint, .. }
            | Self::NoKey { hint, .. }
            | Self::Settings { hint, .. } => hint,
        }
    }
}

/// A name that was understood.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// Which model is asked.
    pub model: ModelName,
}

/// The providers that are set up.
#[derive(Clone, Debug)]
pub struct Providers {
    settings: BTreeMap<String, Settings>,
    added: BTreeMap<String, Arc<dyn Provider>>,
    http: Http,
    models: Arc<Models>,
}

impl Providers {
    /// Sets up providers by name. Those that are known need no settings but a key.
    pub fn new(settings: BTreeMap<String, Settings>, models: Models, patience: Patience) -> Result<Self, ResolveError> {
        let http = Http::new(patience).map_err(|message| ResolveError::Settings {
            provider: "HTTP".to_owned(),
            message,
            hint: "check the certificates and proxies of this system".to_owned(),
        })?;
        Ok(Self { settings, added: BTreeMap::new(), http, models: Arc::new(models) })
    }

    /// Adds somebody who answers, such as a script. It comes before others of its name.
    pub fn add(&mut self, provider: Arc<dyn Provider>) {
        self.added.insert(provider.name().to_owned(), provider);
    }

    /// Returns what models can do.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Finds who answers to `PROVIDER/MODEL`. The model's name may have slashes of its own.
    pub fn resolve(&self, name: &str) -> Result<Resolved, ResolveError> {
        let wrong = || ResolveError::Name {
            name: name.to_owned(),
            hint: "models are named PROVIDER/MODEL, for example anthropic/claude-sonnet-5".to_owned(),
        };
        let (provider, model) = name.trim().split_once('/').ok_or_else(wrong)?;
        if provider.is_empty() || model.is_empty() {
            return Err(wrong());
        }
        let model = ModelName { provider: provider.to_owned(), model: model.to_owned() };
        if let Some(added) = self.added.get(provider) {
            return Ok(Resolved { provider: Arc::clone(added), model });
        }
        let endpoint = self.endpoint(provider)?;
        let remote = Remote { endpoint, http: self.http.clone(), models: Arc::clone(&self.models) };
        Ok(Resolved { provider: Arc::new(remote), model })
    }

    fn endpoint(&self, name: &str) -> Result<Endpoint, ResolveError> {
        let known = KNOWN.iter().find(|known| known.name == name);
        // Both ways to speak to OpenAI share what is said about it.
        let shared = if name == "openai-responses" { "openai" } else { name };
        let settings = self.settings.get(name).or_else(|| self.settings.get(shared)).cloned().unwrap_or_default();
        let wrong = |message: String, hint: &str| ResolveError::Settings {
            provider: name.to_owned(),
            message,
            hint: hint.to_owned(),
        };
        let (api, given) = match (known, settings.api, &settings.base_url) {
            (Some(known), ..) => (known.api, settings.base_url.as_deref().unwrap_or(known.base_url)),
            (None, Some(api), Some(url)) => (api, url.as_str()),
            (None, None, None) => return Err(self.unknown(name)),
            (None, ..) => {
                return Err(wrong("base_url or api is missing".to_owned(), "a provider of your own needs both"));
            }
        };
        let address_hint = known.map_or("base_url", |known| known.url_variable);
        let mut base = endpoint::base_url(given)
            .map_err(|message| wrong(format!("the base URL {message}"), &format!("{address_hint} says where it is")))?;
        if let Some(known) = known {
            base.set_path(&format!("{}{}", base.path().trim_end_matches('/'), known.suffix));
        }
        let key = settings.key.filter(|key| !key.is_empty());
        if key.is_none() {
            let no_key = |hint: String| Err(ResolveError::NoKey { provider: name.to_owned(), hint });
            match (&settings.key_variable, known.and_then(|known| known.key_variable)) {
                (Some(variable), _) => return no_key(format!("set {variable}, which the settings name")),
                (None, Some(variable)) if settings.base_url.is_none() => {
                    return no_key(format!("set {variable}, or {address_hint} for a server that wants no key"));
                }
                _ => {}
            }
        }
        let headers = settings.headers.into_iter().map(|(header, value)| {
            let header = HeaderName::from_bytes(header.as_bytes())
                .map_err(|_| wrong(format!("`{header}` is no name of a header"), "headers are named like x-example"))?;
            Ok((header, value))
        });
        Ok(Endpoint { name: name.to_owned(), api, base, key, headers: headers.collect::<Result<_, _>>()? })
    }

    fn unknown(&self, provider: &str) -> ResolveError {
        let mut names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        names.extend(self.settings.keys().map(String::as_str));
        names.extend(self.added.keys().map(String::as_str));
        names.sort_unstable();
        names.dedup();
        let hint = match provider {
            "google" => "Google's models are gemini/MODEL".to_owned(),
            "scripted" => "a script must be given with it".to_owned(),
            _ => format!("there are {}", names.join(", ")),
        };
        ResolveError::Unknown { provider: provider.to_owned(), hint }
    }
}
