//! Tokens and money, added up. What answers report is summed; the tokens of answers that report no cost are kept by model,
//! so that prices apply when something is shown, not when it is stored. A cost that nobody knows is never 0.

mod price;

use std::collections::BTreeMap;
use std::fmt;

pub use price::{Price, Prices};

use serde::{Deserialize, Serialize};

use crate::message::{Answer, Usage};

/// The name of a model: who runs it, and what it is called there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelName {
    /// The provider; empty when the log does not say.
    pub provider: String,
    /// The model; empty when the log does not say.
    pub model: String,
}

impl ModelName {
    /// Returns the model that gave an answer.
    pub fn of(answer: &Answer) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Self { provider: text(&answer.provider), model: text(&answer.model) }
    }
}

/// `provider/model`, with `?` for what is not known.
impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &'_ str| if text.is_empty() { "?".to_owned() } else { text.to_owned() };
        write!(f, "{}/{}", shown(&self.provider), shown(&self.model))
    }
}

/// Counts of tokens by what they are charged as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Prompt tokens that were not cached.
    pub input: u64,
    /// Tokens of answers.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
}

impl Tokens {
    /// Adds counts that come from files, which can be any.
    pub fn add(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
    }

    /// Returns all of them.
    pub fn sum(self) -> u64 {
        let prompt = self.input.saturating_add(self.cache_read).saturating_add(self.cache_write);
        prompt.saturating_add(self.output)
    }
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        let Usage { input, output, cache_read, cache_write, .. } = *usage;
        Self { input, output, cache_read, cache_write }
    }
}

/// What answers of one model used without reporting a cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreported {
    /// The tokens.
    pub tokens: Tokens,
    /// How many answers.
    pub answers: u64,
}

/// Tokens and cost, added up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageTotals {
    /// All tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// How many answers say what they used.
    pub answers: u64,
    /// What answers report to have cost, in millionths of a US dollar.
    pub reported_micros: u64,
    /// What the other answers used, by model.
    #[serde(with = "pairs")]
    pub unreported: BTreeMap<ModelName, Unreported>,
}

/// What something cost, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Millionths of a US dollar; none when no part of it is known.
    pub micros: Option<u64>,
    /// How many answers cost something nobody knows, which is missing in the sum.
    pub unpriced: u64,
}

impl UsageTotals {
    /// Adds one answer.
    pub fn add(&mut self, model: &ModelName, usage: &Usage) {
        let tokens = Tokens::from(usage);
        self.tokens.add(tokens);
        self.answers = self.answers.saturating_add(1);
        match usage.cost_micros {
            Some(micros) => self.reported_micros = self.reported_micros.saturating_add(micros),
            None => self.unreported(model).take_in(Unreported { tokens, answers: 1 }),
        }
    }

    /// Adds everything another one counted.
    pub fn merge(&mut self, other: &Self) {
        self.tokens.add(other.tokens);
        self.answers = self.answers.saturating_add(other.answers);
        self.reported_micros = self.reported_micros.saturating_add(other.reported_micros);
        for (model, more) in &other.unreported {
            self.unreported(model).take_in(*more);
        }
    }

    /// Returns what answers report to have cost; none when they used something and none of them says.
    pub fn reported(&self) -> Option<u64> {
        (self.reported_micros > 0 || self.unreported.is_empty()).then_some(self.reported_micros)
    }

    /// Returns what all of it cost: what was reported, and what the prices say about the rest.
    pub fn cost(&self, prices: &Prices) -> Cost {
        let mut cost = Cost { micros: Some(self.reported_micros), unpriced: 0 };
        let mut priced = self.answers;
        for (model, used) in &self.unreported {
            match prices.price(model) {
                Some(price) => {
                    cost.micros = cost.micros.map(|sum| sum.saturating_add(price.of(used.tokens)));
                }
                None => {
                    cost.unpriced = cost.unpriced.saturating_add(used.answers);
                    priced = priced.saturating_sub(used.answers);
                }
            }
        }
        if cost.unpriced > 0 && priced == 0 {
            cost.micros = None;
        }
        cost
    }

    fn unreported(&mut self, model: &ModelName) -> &mut Unreported {
        self.unreported.entry(model.clone()).or_default()
    }
}

impl Unreported {
    fn take_in(&mut self, more: Self) {
        self.tokens.add(more.tokens);
        self.answers = self.answers.saturating_add(more.answers);
    }
}

/// Names of models are no keys of JSON objects, so a table is written as a list.
mod pairs {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::{BTreeMap, ModelName, Unreported};

    pub(super) fn serialize<S: Serializer>(
        table: &BTreeMap<ModelName, Unreported>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(table)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<ModelName, Unreported>, D::Error> {
        Ok(Vec::<(ModelName, Unreported)>::deserialize(deserializer)?.into_iter().collect())
    }
}
