//! `config`: settings and where they come from.

mod tables;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use ramus_engine::settings::{Layer, Settings};
use serde_json::{Value, json};

use crate::failure::Exit;
use crate::file::{self, Access};
use crate::invocation::Invocation;
use crate::render::{Text, json, style};

const EXAMPLES: &str = "\
Settings come from the program, then config.toml in the home directory, then .ramus/config.toml of the project if it is \
trusted, then the environment (RAMUS_DEFAULT_MODEL and so on); the latter win. Tables for rules, agents, providers and MCP \
servers are written by hand: docs/settings.md.

Examples:
  ramus config show
  ramus config get default_model
  ramus config set default_model anthropic/claude-sonnet-5";

/// Show or change settings
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Config {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show all settings and where each comes from
    Show,
    /// Print the value of a setting
    Get {
        /// The setting
        key: String,
    },
    /// Change a setting in config.toml
    Set {
        /// The setting
        key: String,
        /// The value
        value: String,
    },
}

impl Config {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        match &self.action {
            Action::Show => show(invocation)?,
            Action::Get { key } => get(invocation, key)?,
            Action::Set { key, value } => set(invocation, key, value)?,
        }
        Ok(Exit::Done)
    }
}

fn setting_json(settings: &Settings, key: &str) -> anyhow::Result<Value> {
    let (value, layer) = settings.get(key)?;
    Ok(json!({"key": key, "value": value, "source": layer.to_string()}))
}

fn show(invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
    let directory = invocation.cwd.clone();
    let settings = invocation.settings_in(&directory)?;
    let keys: Vec<&str> = settings.keys().collect();
    if invocation.screen.wants_json() {
        let all = keys.iter().map(|key| setting_json(&settings, key)).collect::<anyhow::Result<Vec<_>>>()?;
        let (home, file) = (invocation.home.root(), invocation.home.settings_file());
        let mut members = json::members(json!({"settings": all, "home": home, "file": file}));
        members.extend(tables::to_json(&settings));
        return invocation.screen.json(members);
    }
    let mut text = Text::new();
    let width = keys.iter().map(|key| key.len()).max().unwrap_or_default();
    for key in keys {
        let (value, layer) = settings.get(key)?;
        text.padded(style::BOLD, key, width).plain(" = ").plain(&format!("{value:?}"));
        text.styled(style::DIM, &format!("  ({layer})")).end();
    }
    tables::put(&mut text, &settings);
    text.styled(style::DIM, &format!("file: {}", invocation.home.settings_file().display())).end();
    invocation.screen.text(&text)
}

fn get(invocation: &mut Invocation<'_>, key: &str) -> anyhow::Result<()> {
    let settings = invocation.home.settings();
    if invocation.screen.wants_json() {
        let setting = setting_json(settings, key)?;
        return invocation.screen.json(json::members(setting));
    }
    let mut text = Text::new();
    text.plain(settings.get(key)?.0).end();
    invocation.screen.text(&text)
}

fn set(invocation: &mut Invocation<'_>, key: &str, value: &str) -> anyhow::Result<()> {
    let path = invocation.home.settings_file();
    let old = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let new = invocation.home.settings().edit_user_file(&old, key, value)?;
    invocation.home.make()?;
    file::write_whole(&path, new.as_bytes(), Access::Private)
        .with_context(|| format!("cannot write {}", path.display()))?;
    if invocation.home.settings().get(key)?.1 == Layer::Environment {
        let variable = format!("RAMUS_{}", key.to_uppercase());
        invocation.screen.warn(&format!("the environment variable {variable} is set and wins over the file"))?;
    }
    if invocation.screen.wants_json() {
        return invocation
            .screen
            .json(json::members(json!({"key": key, "value": value, "source": "user", "file": path})));
    }
    let mut text = Text::new();
    text.plain(&format!("{key} = {value:?} in ")).plain(&path.display().to_string()).end();
    invocation.screen.note(&text)
}
