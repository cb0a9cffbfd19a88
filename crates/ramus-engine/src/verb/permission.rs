//! Rules of a session: what its model may do, beside what settings say. They are metadata, so the last word counts, whatever
//! the branch.
//!
//! Nothing that was copied from elsewhere allows anything: a fork keeps what its origin forbids and nothing it allows, and so
//! does a file that another program owns, and a session that was imported.

use ramus_model::Body;
use ramus_model::permission::{Action, Rule, rules_from_json, rules_to_json};
use ramus_store::Residence;
use serde_json::{Map, Value, json};

use crate::error::EngineError;
use crate::session::Session;

/// The key of the metadata that holds them.
pub(crate) const PERMISSION: &str = "permission";

impl Session {
    /// Returns the rules of the session that count. Rules that cannot be read are an error: they may be the ones that deny.
    pub fn rules(&self) -> Result<Vec<Rule>, EngineError> {
        // When it cannot be told where a session came from, it did not come from here.
        let is_foreign =
            self.residence() == Residence::InPlace || self.store.is_imported(&self.location().id).unwrap_or(true);
        if is_foreign { self.strict_rules() } else { self.all_rules() }
    }

    /// Returns the rules that ask or deny. To leave out those that allow never allows anything.
    pub(crate) fn strict_rules(&self) -> Result<Vec<Rule>, EngineError> {
        Ok(self.all_rules()?.into_iter().filter(|rule| rule.action != Action::Allow).collect())
    }

    /// Returns the rules as they are stored, for whoever shows them.
    pub(crate) fn stored_rules(&self) -> Value {
        self.log().facts().meta().get(PERMISSION).cloned().unwrap_or_else(|| json!([]))
    }

    fn all_rules(&self) -> Result<Vec<Rule>, EngineError> {
        rules_from_json(&self.stored_rules())
            .map_err(|error| EngineError::Invalid(format!("the rules of the session cannot be read: {error}")))
    }
}

/// The entry that gives a session rules; none when there are none.
pub(crate) fn permission_body(rules: &[Rule]) -> Option<Body> {
    let set = Map::from_iter([(PERMISSION.to_owned(), rules_to_json(rules))]);
    (!rules.is_empty()).then(|| Body::ramus("meta", json!({"set": set})))
}
