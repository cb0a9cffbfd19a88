//! The tables of the settings as `config show` tells them. What may be secret is not shown: values of headers and variables,
//! arguments of programs, what stands in an address beside host and path.

use std::collections::BTreeMap;

use ramus_engine::settings::{Agent, Given, Layer, ProviderSettings, Reach, ServerSettings, Settings, kind_name};
use ramus_model::permission::Rule;
use serde_json::{Map, Value, json};

use crate::render::{Text, json, style};

/// All tables, for programs.
pub(super) fn to_json(settings: &Settings) -> Map<String, Value> {
    json::members(json!({
        "permission": rules(settings).map(|(rule, layer)| rule_json(rule, layer)).collect::<Vec<_>>(),
        "agents": settings.agents().iter().map(agent_json).collect::<Vec<_>>(),
        "providers": providers(settings).map(|(name, said, layer)| provider_json(name, said, layer)).collect::<Vec<_>>(),
        "mcp": servers(settings).map(|(name, said, layer)| server_json(name, said, layer)).collect::<Vec<_>>(),
    }))
}

/// All tables, for people. Agents that are only built in are named, not spelled out.
pub(super) fn put(text: &mut Text, settings: &Settings) {
    let mut line = |name: &str, told: &[String], layer: Layer| {
        text.styled(style::BOLD, name).plain("  ").plain(&told.join("  "));
        text.styled(style::DIM, &format!("  ({layer})")).end();
    };
    for agent in settings.agents() {
        line(&format!("[agents.{}]", agent.name), std::slice::from_ref(&agent.description), agent.source);
    }
    for (rule, layer) in rules(settings) {
        line("[permission]", &[rule.to_string()], layer);
    }
    for (name, said, layer) in providers(settings) {
        line(&format!("[providers.{name}]"), &told(provider_json(name, said, layer)), layer);
    }
    for (name, said, layer) in servers(settings) {
        line(&format!("[mcp.{name}]"), &told(server_json(name, said, layer)), layer);
    }
}

/// Members as `key = value`, without those that are told otherwise or are nothing.
fn told(members: Value) -> Vec<String> {
    let members = json::members(members).into_iter();
    let worth = |(key, value): &(String, Value)| {
        !matches!(key.as_str(), "name" | "source") && !value.is_null() && *value != json!([]) && *value != json!({})
    };
    members.filter(worth).map(|(key, value)| format!("{key} = {value}")).collect()
}

fn rules(settings: &Settings) -> impl Iterator<Item = (&Rule, Layer)> {
    let user = settings.user().permission.iter().map(|rule| (rule, Layer::User));
    user.chain(settings.project().permission.iter().map(|rule| (rule, Layer::Project)))
}

fn providers(settings: &Settings) -> impl Iterator<Item = (&String, &ProviderSettings, Layer)> {
    let user = settings.user().providers.iter().map(|(name, said)| (name, said, Layer::User));
    user.chain(settings.project().providers.iter().map(|(name, said)| (name, said, Layer::Project)))
}

fn servers(settings: &Settings) -> impl Iterator<Item = (&String, &ServerSettings, Layer)> {
    let user = settings.user().mcp.iter().map(|(name, said)| (name, said, Layer::User));
    user.chain(settings.project().mcp.iter().map(|(name, said)| (name, said, Layer::Project)))
}

fn rule_json(rule: &Rule, layer: Layer) -> Value {
    json!({
        "permission": rule.permission, "pattern": rule.pattern, "action": rule.action.to_string(),
        "source": layer.to_string(),
    })
}

fn agent_json(agent: &Agent) -> Value {
    json!({
        "name": agent.name,
        "description": agent.description,
        "model": agent.model,
        "thinking": agent.thinking.map(|thinking| thinking.name()),
        "tools": agent.tools(),
        "read_only": agent.is_read_only(),
        "source": agent.source.to_string(),
    })
}

fn provider_json(name: &str, said: &ProviderSettings, layer: Layer) -> Value {
    json!({
        "name": name,
        "kind": said.kind.map(kind_name),
        "base_url": said.base_url.as_deref().map(address),
        "key_env": said.key_env,
        "headers": hidden(&said.headers),
        "source": layer.to_string(),
    })
}

fn server_json(name: &str, said: &ServerSettings, layer: Layer) -> Value {
    let mut members = match &said.reach {
        Reach::Program { command, args, env } => {
            json::members(json!({"name": name, "command": command, "arguments": args.len(), "env": hidden(env)}))
        }
        Reach::Address { url, key_env, headers } => json::members(json!({
            "name": name, "url": address(url), "key_env": key_env, "headers": hidden(headers),
        })),
    };
    members.insert("enabled".into(), said.enabled.into());
    members.insert("source".into(), layer.to_string().into());
    members.into()
}

/// Values by name, each as the variable that holds it or not at all.
fn hidden(values: &BTreeMap<String, Given>) -> Map<String, Value> {
    values.iter().map(|(name, value)| (name.clone(), value.to_string().into())).collect()
}

/// An address without the parts that keep secrets: who asks, and what is asked for.
fn address(url: &str) -> String {
    let bare = url.split(['?', '#']).next().unwrap_or_default();
    match bare.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
        }
        None => bare.rsplit_once('@').map_or(bare, |(_, host)| host).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keep_no_secrets() {
        for (url, shown) in [
            ("https://ada:secret@host.example/v1/a@b?key=secret#x", "https://host.example/v1/a@b"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("ada:secret@host.example", "host.example"),
            ("https://host.example?key=secret", "https://host.example"),
        ] {
            assert_eq!(address(url), shown);
        }
    }
}
