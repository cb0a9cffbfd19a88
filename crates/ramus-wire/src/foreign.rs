//! What other agents keep on this machine.

use std::collections::BTreeMap;

use ramus_engine::ForeignStore;
use serde_json::{Value, json};

/// How much was found, by agent.
pub fn found(stores: &[ForeignStore]) -> Vec<Value> {
    let mut agents: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for store in stores.iter().filter(|store| store.files() > 0) {
        let name = store.format.map_or("files", ramus_interchange::Format::name);
        let (files, bytes) = agents.entry(name).or_default();
        *files += store.files();
        *bytes += store.bytes();
    }
    agents.into_iter().map(|(agent, (files, bytes))| json!({"agent": agent, "files": files, "bytes": bytes})).collect()
}
