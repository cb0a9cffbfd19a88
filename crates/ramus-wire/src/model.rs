//! Models, and whether they can be asked.

use ramus_model::usage::{ModelName, Price};
use ramus_provider::Facts;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;

/// A model that is listed.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What it is called.
    pub model: ModelName,
    /// What is known about it.
    pub facts: Facts,
    /// What it costs.
    pub price: Option<Price>,
    /// Why it cannot be asked; none when it can.
    pub obstacle: Option<String>,
}

/// Models that turns can be run with.
#[derive(Serialize, ToSchema)]
pub struct Models<'m> {
    models: Vec<ListedModel<'m>>,
    /// The day that what is known about them is of.
    as_of: &'m str,
}

/// A model.
#[derive(Serialize, ToSchema)]
struct ListedModel<'m> {
    provider: &'m str,
    name: &'m str,
    /// How many tokens it can be sent; null when nobody knows.
    #[schema(required)]
    window: Option<u64>,
    /// How many tokens it answers with at most; null when nobody knows.
    #[schema(required)]
    output: Option<u64>,
    /// Whether it is shown pictures.
    images: bool,
    /// What it costs; null when nobody knows.
    #[schema(required)]
    prices: Option<ModelPrices>,
    /// Whether it can be asked.
    available: bool,
    /// Why it cannot be asked; null when it can.
    #[schema(required)]
    reason: Option<&'m str>,
}

/// What a million tokens cost, in millionths of a US dollar.
#[derive(Serialize, ToSchema)]
struct ModelPrices {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl From<Price> for ModelPrices {
    fn from(price: Price) -> Self {
        let Price { input, output, cache_read, cache_write } = price;
        Self { input, output, cache_read, cache_write }
    }
}

/// Models, and the day that what is known about them is of.
pub fn list(models: &[Listed], as_of: &str) -> Map<String, Value> {
    object_of(&Models { models: models.iter().map(ListedModel::from).collect(), as_of })
}

impl<'m> From<&'m Listed> for ListedModel<'m> {
    fn from(listed: &'m Listed) -> Self {
        Self {
            provider: &listed.model.provider,
            name: &listed.model.model,
            window: listed.facts.window,
            output: listed.facts.output,
            images: listed.facts.images,
            prices: listed.price.map(ModelPrices::from),
            available: listed.obstacle.is_none(),
            reason: listed.obstacle.as_deref(),
        }
    }
}
