//! Settings: defaults in a TOML file of the source, a file of the user's, the environment, the call. The latter win.
//!
//! The engine reads no environment: whoever drives it hands the layers in.

mod cascade;

use std::collections::BTreeMap;
use std::fmt;

pub use cascade::{Resolved, Source, resolve_model, resolve_provider};

use crate::error::EngineError;

const DEFAULTS: &str = include_str!("settings.toml");

/// Where the value of a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The defaults of the program.
    Default,
    /// The user's file.
    User,
    /// The environment.
    Environment,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::User => "user",
            Self::Environment => "environment",
        })
    }
}

/// All settings with where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    values: BTreeMap<String, (String, Layer)>,
}

impl Settings {
    /// Reads the defaults.
    pub fn defaults() -> Result<Self, EngineError> {
        let mut settings = Self { values: BTreeMap::new() };
        for (key, value) in table(DEFAULTS, "the defaults")? {
            settings.values.insert(key, (value, Layer::Default));
        }
        Ok(settings)
    }

    /// Lays the user's file over what is there. Unknown keys are errors.
    pub fn with_user_file(mut self, text: &str, name: &str) -> Result<Self, EngineError> {
        for (key, value) in table(text, name)? {
            self.set(&key, value, Layer::User)?;
        }
        Ok(self)
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

    /// Checks a value and lays it over what is there.
    pub fn set(&mut self, key: &str, value: String, layer: Layer) -> Result<(), EngineError> {
        self.check(key, &value)?;
        self.values.insert(key.to_owned(), (value, layer));
        Ok(())
    }

    /// Returns the user's file with one value changed and everything else, comments included, as it was.
    pub fn edit_user_file(&self, text: &str, key: &str, value: &str) -> Result<String, EngineError> {
        self.check(key, value)?;
        let mut document: toml_edit::DocumentMut = text.parse().map_err(|error| broken("config.toml", error))?;
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
            "durability" if crate::Durability::named(value).is_none() => {
                wrong(format!("durability is \"full\", \"turn\" or \"os\", not {value:?}"))
            }
            "default_model" if !value.is_empty() && !value.contains('/') => {
                wrong(format!("a model is named PROVIDER/NAME, not {value:?}"))
            }
            "token_counter" if !matches!(value, "heuristic" | "bpe") => {
                wrong(format!("token_counter is \"heuristic\" or \"bpe\", not {value:?}"))
            }
            "titles" if !matches!(value, "on" | "off") => wrong(format!("titles is \"on\" or \"off\", not {value:?}")),
            "owner" if value.is_empty() => wrong("the owner cannot be empty".into()),
            _ => Ok(()),
        }
    }

    fn unknown(&self, key: &str) -> EngineError {
        let nearest = self.keys().min_by_key(|known| distance(known, key));
        let near = nearest.filter(|known| distance(known, key) <= 3);
        let hint = match near {
            Some(known) => format!("did you mean {known:?}?"),
            None => format!("the settings are {}", self.keys().collect::<Vec<_>>().join(", ")),
        };
        EngineError::Setting { message: format!("there is no setting {key:?}"), hint: Some(hint) }
    }
}

/// Reads a flat table of texts.
fn table(text: &str, name: &str) -> Result<Vec<(String, String)>, EngineError> {
    let table: toml::Table = text.parse().map_err(|error| broken(name, error))?;
    let entries = table.into_iter().map(|(key, value)| match value {
        toml::Value::String(text) => Ok((key, text)),
        other => Err(EngineError::Setting {
            message: format!("{name}: {key} must be text, not {}", other.type_str()),
            hint: None,
        }),
    });
    entries.collect()
}

fn broken(name: &str, error: impl fmt::Display) -> EngineError {
    EngineError::Setting { message: format!("{name} is not valid TOML: {error}"), hint: None }
}

/// The number of single-character changes between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row.get(j + 1).copied().unwrap_or_default();
            let here = (above + 1).min(left + 1).min(diagonal + usize::from(x != *y));
            if let Some(slot) = row.get_mut(j) {
                *slot = left;
            }
            diagonal = above;
            left = here;
        }
        if let Some(slot) = row.last_mut() {
            *slot = left;
        }
    }
    row.last().copied().unwrap_or_default()
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
    fn editing_keeps_comments() -> Result<(), EngineError> {
        let settings = Settings::defaults()?;
        let text = settings.edit_user_file("# mine\nlayout = \"pi\" # why\n", "default_model", "openai/gpt")?;
        assert_eq!(text, "# mine\nlayout = \"pi\" # why\ndefault_model = \"openai/gpt\"\n");
        Ok(())
    }
}
