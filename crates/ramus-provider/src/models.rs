//! What models can do: a file of the source with a date, and what others lay over it.

use std::collections::BTreeMap;

use ramus_model::usage::ModelName;
use serde::Deserialize;
use thiserror::Error;

use crate::wire::is_dated;

const TABLE: &str = include_str!("models.toml");

/// What is known about a model. What is not known is left to the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// How many tokens the prompt and the answer may have together.
    pub window: Option<u64>,
    /// How many tokens an answer may have.
    pub output: Option<u64>,
    /// Whether it can be shown pictures.
    pub images: bool,
    /// How its thinking is controlled.
    pub control: Control,
}

/// How it is said how much a model shall think.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// It does not think.
    Never,
    /// By a number of tokens, of at least so many.
    Budget {
        /// The smallest number; 0 means that it can do without.
        least: u64,
    },
    /// By one of these words.
    Levels(Vec<String>),
    /// Nobody knows.
    Unknown,
}

impl Default for Facts {
    fn default() -> Self {
        Self { window: None, output: None, images: true, control: Control::Unknown }
    }
}

/// Why a table of models cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name}: {message}")]
pub struct ModelsError {
    name: String,
    message: String,
}

/// Models by provider and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Models {
    as_of: String,
    same_as: BTreeMap<String, String>,
    facts: BTreeMap<ModelName, Facts>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: Option<String>,
    #[serde(default)]
    same_as: BTreeMap<String, String>,
    #[serde(default)]
    models: BTreeMap<String, BTreeMap<String, Row>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    window: Option<u64>,
    output: Option<u64>,
    #[serde(default = "yes")]
    images: bool,
    /// Words, parted by spaces.
    thinking: Option<String>,
    /// The smallest budget.
    budget: Option<u64>,
}

fn yes() -> bool {
    true
}

impl Models {
    /// Reads the table of the source.
    pub fn known() -> Result<Self, ModelsError> {
        let mut models = Self::default();
        models.lay_over(TABLE, "the table of models")?;
        Ok(models)
    }

    /// Lays a file of the same form over what is there. `name` is what errors call it.
    pub fn lay_over(&mut self, text: &str, name: &str) -> Result<(), ModelsError> {
        let wrong = |message: String| ModelsError { name: name.to_owned(), message };
        let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
        for (provider, rows) in file.models {
            for (model, row) in rows {
                let facts = row.facts().map_err(|message| wrong(format!("{provider}/{model}: {message}")))?;
                self.facts.insert(ModelName { provider: provider.clone(), model }, facts);
            }
        }
        self.same_as.extend(file.same_as);
        if let Some(day) = file.as_of {
            self.as_of = day;
        }
        Ok(())
    }

    /// Says what is known about a model, such as what a server told about itself.
    pub fn set(&mut self, model: ModelName, facts: Facts) {
        self.facts.insert(model, facts);
    }

    /// Returns what is known about a model. A date at the end of its name does not make it another one.
    pub fn facts(&self, model: &ModelName) -> Option<&Facts> {
        let provider = self.same_as.get(&model.provider).unwrap_or(&model.provider);
        let named = |provider: &str| {
            self.facts.get(&ModelName { provider: provider.to_owned(), model: model.model.clone() }).or_else(|| {
                let dated =
                    |(known, _): &(&ModelName, _)| known.provider == provider && is_dated(&known.model, &model.model);
                self.facts.iter().find(dated).map(|(_, facts)| facts)
            })
        };
        named(&model.provider).or_else(|| named(provider))
    }

    /// Iterates over all models, by provider and name.
    pub fn iter(&self) -> impl Iterator<Item = (&ModelName, &Facts)> {
        self.facts.iter()
    }

    /// Returns the day that the table describes.
    pub fn as_of(&self) -> &str {
        &self.as_of
    }
}

impl Row {
    fn facts(self) -> Result<Facts, String> {
        let control = match (self.thinking, self.budget) {
            (Some(_), Some(_)) => return Err("thinking is said by words or by a budget, not both".to_owned()),
            (None, Some(least)) => Control::Budget { least },
            (None, None) => Control::Never,
            (Some(words), None) => Control::Levels(words.split_whitespace().map(str::to_owned).collect()),
        };
        Ok(Facts { window: self.window, output: self.output, images: self.images, control })
    }
}
