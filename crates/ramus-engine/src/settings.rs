//! Settings: defaults in a TOML file of the source, a file of the user's, the environment, the call. The latter win.
//!
//! The engine reads no environment: whoever drives it hands the layers in.

mod agent;
mod cascade;
mod nearest;
pub mod project;
mod read;
mod tables;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

pub use agent::{Agent, DEFAULT_AGENT, is_mode_of};
pub use cascade::{Resolved, Source, choose_model, resolve_model, resolve_provider};
pub use tables::{AgentSettings, Given, ProviderSettings, Reach, ServerSettings, Tables, kind_name};

use crate::error::EngineError;
use ramus_model::budget::Triggers;
use read::Reader;

const DEFAULTS: &str = include_str!("settings.toml");

const AGENTS: &str = include_str!("settings/agents.toml");

/// What a project may choose. Where things are kept, and when they are, is the user's to say.
const OF_PROJECTS: [&str; 4] = ["default_agent", "default_model", "default_provider", "default_thinking"];

/// What is on or off, in a file also true or false.
const SWITCHES: [&str; 2] = ["snapshots", "titles"];

/// Where the value of a setting comes from. The later wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The defaults of the program.
    Default,
    /// The user's file.
    User,
    /// The project's file, once it is trusted.
    Project,
    /// The environment.
    Environment,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
        })
    }
}

/// All settings with where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    values: BTreeMap<String, (String, Layer)>,
    built_in: Tables,
    user: Tables,
    project: Tables,
}

impl Settings {
    /// Reads the defaults.
    pub fn defaults() -> Result<Self, EngineError> {
        let nothing = Tables::default;
        let mut settings = Self { values: BTreeMap::new(), built_in: nothing(), user: nothing(), project: nothing() };
        let reader = Reader::new(DEFAULTS, "the defaults");
        reader.members(reader.document()?.as_table(), |member| {
            settings.values.insert(member.path.to_owned(), (member.text()?, Layer::Default));
            Ok(())
        })?;
        settings.built_in = settings.read(AGENTS, "the agents", Layer::Default)?;
        Ok(settings)
    }

    /// Lays the user's file over what is there. Unknown keys are errors.
    pub fn with_user_file(mut self, text: &str, name: &str) -> Result<Self, EngineError> {
        self.user = self.read(text, name, Layer::User)?;
        Ok(self)
    }

    /// Lays a file of the project over what is there. Whoever calls this has made sure that it is trusted.
    pub fn with_project_file(mut self, text: &str, name: &str) -> Result<Self, EngineError> {
        let tables = self.read(text, name, Layer::Project)?;
        project::check(&tables, &self.user, name)?;
        self.project.permission.extend(tables.permission);
        self.project.agents.extend(tables.agents);
        self.project.providers.extend(tables.providers);
        self.project.mcp.extend(tables.mcp);
        Ok(self)
    }

    /// Reads a file: its values are laid over what is there, its tables returned.
    fn read(&mut self, text: &str, name: &str, layer: Layer) -> Result<Tables, EngineError> {
        let reader = Reader::new(text, name);
        let mut tables = Tables::default();
        reader.members(reader.document()?.as_table(), |member| {
            if tables::TABLES.contains(&member.path) {
                return tables.take(member);
            }
            if !self.values.contains_key(member.path) {
                let known: Vec<&str> = self.keys().chain(tables::TABLES).collect();
                return Err(member.unknown("the file", known));
            }
            if layer == Layer::Project && !OF_PROJECTS.contains(&member.path) {
                return Err(member.wrong(&format!("{} is the user's to choose, not a project's", member.path)));
            }
            let value = if SWITCHES.contains(&member.path) { member.switch()? } else { member.scalar()? };
            self.set(member.path, value, layer).map_err(|error| member.wrong(&error.to_string()))
        })?;
        Ok(tables)
    }

    /// Returns what the user's file says in tables.
    pub fn user(&self) -> &Tables {
        &self.user
    }

    /// Returns what the project's trusted files say in tables.
    pub fn project(&self) -> &Tables {
        &self.project
    }

    /// Lays the environment over what is there: `RAMUS_DEFAULT_MODEL` and so on, by upper-case key.
    pub fn with_environment(mut self, variable: impl Fn(&str) -> Option<String>) -> Result<Self, EngineError> {
        for key in self.keys().map(str::to_owned).collect::<Vec<_>>() {
            if let Some(value) = variable(&format!("RAMUS_{}", key.to_uppercase())) {
                self.set(&key, value, Layer::Environment)?;
            }
        }
        Ok(self)
    }

    /// Iterates over the keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Returns a value and where it comes from.
    pub fn get(&self, key: &str) -> Result<(&str, Layer), EngineError> {
        let found = self.values.get(key).map(|(value, layer)| (value.as_str(), *layer));
        found.ok_or_else(|| self.unknown(key))
    }

    /// Returns a value that counts: an empty one is absent.
    pub fn value(&self, key: &str) -> Option<(&str, Layer)> {
        self.get(key).ok().filter(|(value, _)| !value.is_empty())
    }

    /// Checks a value and lays it over what is there, unless that is of a later layer.
    pub fn set(&mut self, key: &str, value: String, layer: Layer) -> Result<(), EngineError> {
        self.check(key, &value)?;
        if self.values.get(key).is_none_or(|(_, known)| *known <= layer) {
            self.values.insert(key.to_owned(), (value, layer));
        }
        Ok(())
    }

    /// Returns the user's file with one value changed and everything else, comments included, as it was.
    pub fn edit_user_file(&self, text: &str, key: &str, value: &str) -> Result<String, EngineError> {
        self.check(key, value)?;
        let mut document: toml_edit::DocumentMut = text.parse().map_err(|error| EngineError::Setting {
            message: format!("config.toml is not TOML: {error}"),
            hint: None,
        })?;
        document.insert(key, toml_edit::value(value));
        Ok(document.to_string())
    }

    fn check(&self, key: &str, value: &str) -> Result<(), EngineError> {
        if !self.values.contains_key(key) {
            return Err(self.unknown(key));
        }
        let wrong = |message: String| Err(EngineError::Setting { message, hint: None });
        match key {
            "layout" if !matches!(value, "pi" | "omp") => wrong(format!("layout is \"pi\" or \"omp\", not {value:?}")),
            "largest_upload" if crate::verb::retain::bytes(value).is_none() => {
                wrong(format!("largest_upload is a size such as 500MB or 4GB, not {value:?}"))
            }
            "retention_bytes" if !value.is_empty() => crate::verb::retain::size(key, value).map(drop),
            "retention_drafts" | "retention_archived" | "retention_sessions" | "retention_quarantine"
                if !value.is_empty() =>
            {
                crate::verb::retain::age(key, value).map(drop)
            }
            "durability" if crate::Durability::named(value).is_none() => {
                wrong(format!("durability is \"full\", \"turn\" or \"os\", not {value:?}"))
            }
            "default_model" if !value.is_empty() && !value.contains('/') => {
                wrong(format!("a model is named PROVIDER/NAME, not {value:?}"))
            }
            "token_counter" if !matches!(value, "heuristic" | "bpe") => {
                wrong(format!("token_counter is \"heuristic\" or \"bpe\", not {value:?}"))
            }
            key if SWITCHES.contains(&key) && !matches!(value, "on" | "off") => {
                wrong(format!("{key} is \"on\" or \"off\", not {value:?}"))
            }
            "child_depth" if value.is_empty() || !is_number(value, 1..=8) => {
                wrong(format!("child_depth is a number from 1 to 8, not {value:?}"))
            }
            "patience" if value.is_empty() || !is_number(value, 1..=86_400) => {
                wrong(format!("patience is a number of seconds from 1 to 86400, not {value:?}"))
            }
            "compact_at_percent" if !is_number(value, 1..=100) => {
                wrong(format!("compact_at_percent is a number from 1 to 100, or empty, not {value:?}"))
            }
            "compact_at_tokens" | "compact_at_messages" if !is_number(value, 2..=u64::MAX) => {
                wrong(format!("{key} is a number from 2 on, or empty, not {value:?}"))
            }
            "default_thinking" if !value.is_empty() && ramus_model::request::Thinking::named(value).is_none() => {
                wrong(format!("default_thinking is off, minimal, low, medium, high or max, not {value:?}"))
            }
            "owner" if value.is_empty() => wrong("the owner cannot be empty".into()),
            _ => Ok(()),
        }
    }

    /// Returns how deep children may be.
    pub fn child_depth(&self) -> usize {
        self.value("child_depth").and_then(|(value, _)| value.parse().ok()).unwrap_or(1)
    }

    /// Returns how large a bundle may be that comes in over HTTP.
    pub fn largest_upload(&self) -> u64 {
        self.value("largest_upload").and_then(|(value, _)| crate::verb::retain::bytes(value)).unwrap_or(4_000_000_000)
    }

    /// Returns how long a model may say nothing.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.value("patience").and_then(|(value, _)| value.parse().ok()).unwrap_or(300))
    }

    /// Returns what makes room be made.
    pub fn triggers(&self) -> Triggers {
        let number = |key| self.value(key).and_then(|(value, _)| value.parse().ok());
        Triggers {
            percent: number("compact_at_percent"),
            tokens: number("compact_at_tokens"),
            messages: number("compact_at_messages"),
        }
    }

    fn unknown(&self, key: &str) -> EngineError {
        let hint = nearest::hint(key, self.keys(), "the settings");
        EngineError::Setting { message: format!("there is no setting {key:?}"), hint: Some(hint) }
    }
}

fn is_number(value: &str, range: std::ops::RangeInclusive<u64>) -> bool {
    value.is_empty() || value.parse().is_ok_and(|number| range.contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latter_layers_win_and_unknown_keys_are_errors() -> Result<(), EngineError> {
        let settings = Settings::defaults()?
            .with_user_file("default_model = \"openai/gpt\"\nlayout = \"omp\"\n", "config.toml")?
            .with_environment(|name| (name == "RAMUS_DEFAULT_MODEL").then(|| "anthropic/claude".to_owned()))?;
        assert_eq!(settings.get("default_model")?, ("anthropic/claude", Layer::Environment));
        assert_eq!(settings.get("layout")?, ("omp", Layer::User));
        assert_eq!(settings.get("owner")?, ("default", Layer::Default));
        assert_eq!(settings.value("default_provider"), None);
        let error = settings.get("defalt_model").map(drop).map_err(|error| error.hint());
        assert_eq!(error, Err(Some("did you mean \"default_model\"?".to_owned())));
        Ok(())
    }

    #[test]
    fn triggers_are_numbers_or_off() -> Result<(), EngineError> {
        assert_eq!(Settings::defaults()?.triggers(), Triggers::default());
        let text = "compact_at_percent = \"\"\ncompact_at_tokens = 50000\ncompact_at_messages = \"100\"\n";
        let settings = Settings::defaults()?.with_user_file(text, "config.toml")?;
        let expected = Triggers { percent: None, tokens: Some(50_000), messages: Some(100) };
        assert_eq!(settings.triggers(), expected);
        for wrong in ["compact_at_percent = 101", "compact_at_tokens = -1", "compact_at_messages = \"many\""] {
            assert!(Settings::defaults()?.with_user_file(wrong, "config.toml").is_err(), "{wrong}");
        }
        Ok(())
    }

    #[test]
    fn editing_keeps_comments() -> Result<(), EngineError> {
        let settings = Settings::defaults()?;
        let text = settings.edit_user_file("# mine\nlayout = \"pi\" # why\n", "default_model", "openai/gpt")?;
        assert_eq!(text, "# mine\nlayout = \"pi\" # why\ndefault_model = \"openai/gpt\"\n");
        Ok(())
    }
}
