//! Prices of models. Amounts are whole numbers throughout: millionths of a US dollar per million tokens.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{ModelName, Tokens};

/// What a model costs, in millionths of a US dollar per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Prompt tokens that were not cached.
    pub input: u64,
    /// Tokens of answers.
    pub output: u64,
    /// Prompt tokens read from a cache.
    pub cache_read: u64,
    /// Prompt tokens written to a cache.
    pub cache_write: u64,
}

impl Price {
    /// Returns what tokens cost, in millionths of a US dollar, rounded once.
    pub fn of(&self, tokens: Tokens) -> u64 {
        let parts = [
            (tokens.input, self.input),
            (tokens.output, self.output),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write, self.cache_write),
        ];
        // Four products of two 64-bit numbers can exceed 128 bits only by a hair; hostile files may try.
        let product = |(count, rate): (u64, u64)| u128::from(count) * u128::from(rate);
        let sum = parts.into_iter().map(product).fold(0u128, u128::saturating_add);
        u64::try_from(sum.saturating_add(500_000) / 1_000_000).unwrap_or(u64::MAX)
    }
}

/// A table of prices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// The day the prices were looked up.
    pub as_of: String,
    models: BTreeMap<ModelName, Price>,
    free: BTreeSet<String>,
    same_as: BTreeMap<String, String>,
}

impl Prices {
    /// Names what a model costs; a name that was known is overridden.
    pub fn set(&mut self, model: ModelName, price: Price) {
        self.models.insert(model, price);
    }

    /// Says that a provider charges nothing: it runs on the user's own machine.
    pub fn set_free(&mut self, provider: String) {
        self.free.insert(provider);
    }

    /// Says that a provider charges what another one does.
    pub fn set_same_as(&mut self, provider: String, other: String) {
        self.same_as.insert(provider, other);
    }

    /// Finds the price of a model: by its name, without the date at its end, or as of the provider it is charged by.
    pub fn price(&self, name: &ModelName) -> Option<Price> {
        let (provider, model) = match name.model.split_once('/') {
            Some((provider, model)) if name.provider.is_empty() => (provider, model),
            _ => (name.provider.as_str(), name.model.as_str()),
        };
        if self.free.contains(provider) {
            return Some(Price::default());
        }
        let providers = [Some(provider), self.same_as.get(provider).map(String::as_str)];
        providers.into_iter().flatten().find_map(|provider| {
            let find = |model: &str| {
                self.models.get(&ModelName { provider: provider.to_owned(), model: model.to_owned() }).copied()
            };
            find(model).or_else(|| find(undated(model)?))
        })
    }
}

/// Returns a name without the date of its version, if it has one: `-20250929`, `@20250929`, `-2025-08-07`, `-latest`.
fn undated(model: &str) -> Option<&str> {
    if let Some(name) = model.strip_suffix("-latest") {
        return Some(name);
    }
    ["-dddddddd", "@dddddddd", "-dddd-dd-dd"].into_iter().find_map(|shape| {
        let (name, end) = model.split_at_checked(model.len().checked_sub(shape.len())?)?;
        let fits = |(a, b): (char, char)| if b == 'd' { a.is_ascii_digit() } else { a == b };
        (!name.is_empty() && end.chars().count() == shape.len() && end.chars().zip(shape.chars()).all(fits))
            .then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(provider: &str, model: &str) -> ModelName {
        ModelName { provider: provider.into(), model: model.into() }
    }

    #[test]
    fn dates_are_recognised() {
        for (model, expected) in [
            ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("claude-sonnet-4-5@20250929", Some("claude-sonnet-4-5")),
            ("gpt-5-2025-08-07", Some("gpt-5")),
            ("claude-3-5-haiku-latest", Some("claude-3-5-haiku")),
            ("gpt-5", None),
            ("20250929", None),
            ("-20250929", None),
            ("größe-2025092", None),
            ("a-2025é929", None),
        ] {
            assert_eq!(undated(model), expected, "{model}");
        }
    }

    #[test]
    fn prices_are_found_by_name_date_provider_and_rule() {
        let mut prices = Prices::default();
        let price = Price { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_750_000 };
        prices.set(name("anthropic", "claude-sonnet-4-5"), price);
        prices.set_same_as("my-proxy".into(), "anthropic".into());
        prices.set_free("ollama".into());
        for known in [
            name("anthropic", "claude-sonnet-4-5"),
            name("anthropic", "claude-sonnet-4-5-20250929"),
            name("my-proxy", "claude-sonnet-4-5-20250929"),
            name("", "anthropic/claude-sonnet-4-5"),
        ] {
            assert_eq!(prices.price(&known), Some(price), "{known}");
        }
        assert_eq!(prices.price(&name("ollama", "whatever")), Some(Price::default()));
        for unknown in [name("other", "claude-sonnet-4-5"), name("anthropic", "claude-sonnet-9"), name("", "")] {
            assert_eq!(prices.price(&unknown), None, "{unknown}");
        }
    }

    #[test]
    fn amounts_are_exact_and_rounded_once() {
        let price = Price { input: 37_500, output: 0, cache_read: 0, cache_write: 0 };
        assert_eq!(price.of(Tokens { input: 1_000_000, ..Tokens::default() }), 37_500);
        assert_eq!(price.of(Tokens { input: 13, ..Tokens::default() }), 0);
        assert_eq!(price.of(Tokens { input: 14, ..Tokens::default() }), 1);
        let most = Price { input: u64::MAX, output: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX };
        let all = Tokens { input: u64::MAX, output: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX };
        assert_eq!(most.of(all), u64::MAX);
    }
}
