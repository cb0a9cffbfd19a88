//! Models, and whether they can be asked.

use ramus_model::usage::{ModelName, Price};
use ramus_provider::Facts;
use serde_json::{Map, Value, json};

use crate::members;

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

/// Models, and the day that what is known about them is of.
pub fn list(models: &[Listed], as_of: &str) -> Map<String, Value> {
    members(json!({"models": models.iter().map(one).collect::<Vec<_>>(), "as_of": as_of}))
}

fn one(listed: &Listed) -> Value {
    let price = listed.price.map(|price| {
        json!({
            "input": price.input, "output": price.output,
            "cache_read": price.cache_read, "cache_write": price.cache_write,
        })
    });
    json!({
        "provider": listed.model.provider,
        "name": listed.model.model,
        "window": listed.facts.window,
        "output": listed.facts.output,
        "images": listed.facts.images,
        "prices": price,
        "available": listed.obstacle.is_none(),
        "reason": listed.obstacle,
    })
}
