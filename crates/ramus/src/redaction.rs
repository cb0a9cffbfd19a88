//! What this machine would rather keep to itself: values of the environment and of the settings that are secrets, the user,
//! the home directory and the name of the machine.

use std::collections::BTreeMap;

use ramus_engine::settings::{Given, Reach, Settings};
use ramus_redact::{Identity, Redactor};

use crate::providers::variable;

/// Makes a redactor that knows this process.
pub(crate) fn redactor(settings: &Settings) -> Redactor {
    let named =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut secrets: Vec<String> =
        named.filter(|(name, _)| Redactor::is_secret_name(name)).map(|(_, value)| value).collect();
    secrets.extend(of_settings(settings));
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let text = |name: &str| variable(name).unwrap_or_default();
    let identity = Identity { user: text("USER"), home: text("HOME"), host };
    Redactor::new().with_secrets(&secrets).with_identity(&identity)
}

/// What the settings hold back, whatever it is called: values of variables that they name, and texts with a telling name.
fn of_settings(settings: &Settings) -> Vec<String> {
    let mut secrets = Vec::new();
    for tables in [settings.user(), settings.project()] {
        for provider in tables.providers.values() {
            secrets.extend(provider.key_env.as_deref().and_then(variable));
            secrets.extend(given(&provider.headers));
        }
        for server in tables.mcp.values() {
            match &server.reach {
                Reach::Program { env, .. } => secrets.extend(given(env)),
                Reach::Address { key_env, headers, .. } => {
                    secrets.extend(key_env.as_deref().and_then(variable));
                    secrets.extend(given(headers));
                }
            }
        }
    }
    secrets
}

fn given(values: &BTreeMap<String, Given>) -> impl Iterator<Item = String> {
    values.iter().filter_map(|(name, value)| match value {
        Given::Variable(name) => variable(name),
        // `Authorization: Bearer …`: what is secret is the last word.
        Given::Text(text) if is_telling(name) => text.split_whitespace().next_back().map(str::to_owned),
        Given::Text(_) => None,
    })
}

fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_uppercase().replace('-', "_");
    name == "AUTHORIZATION" || name == "COOKIE" || Redactor::is_secret_name(&name)
}
