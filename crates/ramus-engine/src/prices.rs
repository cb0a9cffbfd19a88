//! The price table: a file of the source with a date, and a file of the user's that overrides and extends it. What a file
//! says must be understood completely; nothing in it is passed over.

use std::collections::BTreeMap;

use ramus_model::usage::{ModelName, Price, Prices};
use serde::Deserialize;

use crate::error::EngineError;

const TABLE: &str = include_str!("prices.toml");

/// The highest price that is taken for one, in US dollars per million tokens.
const MOST: f64 = 1e6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: Option<String>,
    #[serde(default)]
    free: Vec<String>,
    #[serde(default)]
    same_as: BTreeMap<String, String>,
    #[serde(default)]
    prices: BTreeMap<String, BTreeMap<String, Dollars>>,
}

/// US dollars per million tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dollars {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

/// Reads the table of the source.
pub fn known() -> Result<Prices, EngineError> {
    let mut prices = Prices::default();
    lay_over(&mut prices, TABLE, "the price table")?;
    Ok(prices)
}

/// Lays a file over what is there. `name` is what errors call it.
pub fn lay_over(prices: &mut Prices, text: &str, name: &str) -> Result<(), EngineError> {
    let wrong = |message: String| EngineError::Setting {
        message: format!("{name}: {message}"),
        hint: Some("it says as_of, free, same_as, and prices by provider and model, as docs/format.md shows".into()),
    };
    let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
    for (provider, models) in file.prices {
        for (model, dollars) in models {
            let price = dollars.price().map_err(|member| {
                wrong(format!("{member} of {provider}/{model} is no price in dollars per million tokens"))
            })?;
            prices.set(ModelName { provider: provider.clone(), model }, price);
        }
    }
    file.free.into_iter().for_each(|provider| prices.set_free(provider));
    file.same_as.into_iter().for_each(|(provider, other)| prices.set_same_as(provider, other));
    if let Some(day) = file.as_of {
        prices.as_of = day;
    }
    Ok(())
}

impl Dollars {
    /// The price in whole numbers, or which part of it is none.
    fn price(&self) -> Result<Price, &'static str> {
        let micros = |name, dollars: f64| {
            let is_price = dollars.is_finite() && (0.0..=MOST).contains(&dollars);
            is_price.then(|| (dollars * 1e6).round() as u64).ok_or(name)
        };
        let input = micros("input", self.input)?;
        let cached = |name, dollars: Option<f64>| dollars.map_or(Ok(input), |dollars| micros(name, dollars));
        Ok(Price {
            input,
            output: micros("output", self.output)?,
            cache_read: cached("cache_read", self.cache_read)?,
            cache_write: cached("cache_write", self.cache_write)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(prices: &Prices, provider: &str, model: &str) -> Option<Price> {
        prices.price(&ModelName { provider: provider.into(), model: model.into() })
    }

    #[test]
    fn the_table_is_sound_and_overridable() -> Result<(), EngineError> {
        let mut prices = known()?;
        assert!(ramus_model::time::parse(&format!("{}T00:00:00Z", prices.as_of)).is_some(), "{}", prices.as_of);
        let sonnet = Price { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_750_000 };
        assert_eq!(price(&prices, "anthropic", "claude-sonnet-4-5-20250929"), Some(sonnet));
        assert_eq!(price(&prices, "openai-responses", "gpt-5"), price(&prices, "openai", "gpt-5"));
        assert_eq!(price(&prices, "lmstudio", "anything"), Some(Price::default()));
        assert_eq!(price(&prices, "house", "gpt"), None);
        let own = "free = [\"house\"]\n[prices.anthropic]\nclaude-sonnet-4-5 = { input = 1, output = 2.5 }\n";
        lay_over(&mut prices, own, "prices.toml")?;
        let cheap = Price { input: 1_000_000, output: 2_500_000, cache_read: 1_000_000, cache_write: 1_000_000 };
        assert_eq!(price(&prices, "anthropic", "claude-sonnet-4-5-20250929"), Some(cheap));
        assert_eq!(price(&prices, "house", "gpt"), Some(Price::default()));
        Ok(())
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (text, expected) in [
            ("prizes = 1", "unknown field `prizes`"),
            ("[prices.a]\nm = { input = 1, output = 2, cached = 3 }", "unknown field `cached`"),
            ("[prices.a]\nm = { input = 1 }", "missing field `output`"),
            ("[prices.a]\nm = { input = -1, output = 2 }", "input of a/m is no price"),
            ("[prices.a]\nm = { input = 1, output = 2, cache_read = nan }", "cache_read of a/m is no price"),
            ("[prices", "TOML parse error"),
        ] {
            let error = lay_over(&mut Prices::default(), text, "prices.toml").map_err(|error| error.to_string());
            assert!(matches!(&error, Err(message) if message.contains(expected)), "{text}: {error:?}");
        }
    }
}
