//! Finding who answers to a name.

use std::sync::Arc;

use ramus_provider::wire::Api;
use ramus_provider::{KNOWN, Models, Patience, Providers, ResolveError, Scripted, Secret, Settings};

use crate::requests::name;

fn providers(settings: &[(&str, Settings)]) -> Providers {
    let settings = settings.iter().map(|(name, settings)| ((*name).to_owned(), settings.clone()));
    Providers::new(settings.collect(), Models::known().unwrap(), Patience::default()).unwrap()
}

fn keyed() -> Settings {
    Settings { key: Some(Secret::new("sk-0123456789")), ..Settings::default() }
}

#[test]
fn by_provider_and_model() {
    let providers = providers(&[("openai", keyed()), ("anthropic", keyed()), ("gemini", keyed())]);
    for (full, provider, model, api) in [
        ("openai/gpt-5", "openai", "gpt-5", "openai-completions"),
        ("openai-responses/gpt-5", "openai-responses", "gpt-5", "openai-responses"),
        ("anthropic/claude-opus-5", "anthropic", "claude-opus-5", "anthropic-messages"),
        ("gemini/gemini-2.5-pro", "gemini", "gemini-2.5-pro", "google-generative-ai"),
        ("ollama/hf.co/a/b:q4", "ollama", "hf.co/a/b:q4", "openai-completions"),
    ] {
        let resolved = providers.resolve(full).unwrap();
        assert_eq!(resolved.model, name(provider, model));
        assert_eq!((resolved.provider.name(), resolved.provider.api()), (provider, api));
    }
}

#[test]
fn a_missing_key_is_named_by_its_variable() {
    let providers = providers(&[("anthropic", Settings { key: Some(Secret::new("  ")), ..Settings::default() })]);
    for known in KNOWN.iter().filter(|known| known.key_variable.is_some()) {
        let error = providers.resolve(&format!("{}/m", known.name)).unwrap_err();
        assert!(matches!(error, ResolveError::NoKey { .. }), "{error}");
        assert!(error.hint().contains(known.key_variable.unwrap()), "{}", error.hint());
    }
    assert!(providers.resolve("ollama/m").is_ok());
}

#[test]
fn a_server_of_ones_own_needs_no_key() {
    let own = Settings { base_url: Some("http://127.0.0.1:18181/v1".into()), ..Settings::default() };
    let providers = providers(&[("openai", own)]);
    assert!(providers.resolve("openai/m").is_ok());
    assert!(providers.resolve("openai-responses/m").is_ok(), "both share their settings");
}

#[test]
fn providers_of_ones_own() {
    let own =
        Settings { base_url: Some("https://openrouter.ai/api/v1".into()), api: Some(Api::Completions), ..keyed() };
    let half = Settings { base_url: Some("https://x.example".into()), ..Settings::default() };
    let wrong = Settings { base_url: Some("ftp://x".into()), ..Settings::default() };
    let header = Settings { headers: vec![("no header".into(), Secret::new("x"))], ..keyed() };
    let providers = providers(&[("openrouter", own), ("half", half), ("gemini", wrong), ("anthropic", header)]);
    let resolved = providers.resolve("openrouter/anthropic/claude-opus-5").unwrap();
    assert_eq!(resolved.model, name("openrouter", "anthropic/claude-opus-5"));
    for (model, said) in [("half/m", "api is missing"), ("gemini/m", "base URL"), ("anthropic/m", "no header")] {
        let error = providers.resolve(model).unwrap_err();
        assert!(matches!(error, ResolveError::Settings { .. }) && error.to_string().contains(said), "{error}");
    }
}

#[test]
fn names_that_name_nobody() {
    let mut providers = providers(&[]);
    for wrong in ["", "gpt-5", "/gpt-5", "openai/"] {
        assert!(matches!(providers.resolve(wrong), Err(ResolveError::Name { .. })), "{wrong}");
    }
    let error = providers.resolve("opnai/gpt-5").unwrap_err();
    assert_eq!(error.to_string(), "there is no provider `opnai`");
    assert!(error.hint().contains("openai, openai-responses"), "{}", error.hint());
    assert!(providers.resolve("google/x").unwrap_err().hint().contains("gemini/"));
    assert!(providers.resolve("scripted/x").is_err());
    providers.add(Arc::new(Scripted::new("answers = []", "s").unwrap()));
    assert!(providers.resolve("scripted/x").is_ok());
}
