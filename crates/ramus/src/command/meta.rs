//! `meta`: free metadata of a session.

use clap::Args;
use serde_json::{Map, Value, json};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, json, style};

const EXAMPLES: &str = "\
KEY shows a value, KEY=TEXT sets a text, KEY:=JSON sets any JSON value. Without keys, everything is shown.

Examples:
  ramus meta last
  ramus meta last ticket=RAM-12 attempts:=3
  ramus meta last ticket
  ramus meta last --unset ticket";

/// Show or set metadata of a session
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Meta {
    /// The session
    session: String,
    /// What to show or set
    #[arg(value_name = "KEY[=TEXT|:=JSON]")]
    items: Vec<String>,
    /// Remove a key
    #[arg(long, value_name = "KEY")]
    unset: Vec<String>,
}

impl Meta {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let (changes, asked) = self.sort()?;
        let metadata = match invocation.remote() {
            Some(remote) => {
                let id = remote.id(&self.session)?;
                if !changes.is_empty() {
                    remote.change(&id, &json!({"metadata": changes}))?;
                }
                remote.describe(&id)?.shift_remove("metadata").map(json::members).unwrap_or_default()
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                if !changes.is_empty() {
                    invocation.engine.set_metadata(&mut session, changes)?;
                    invocation.finish(&mut session)?;
                }
                session.metadata()
            }
        };
        let shown = select(metadata, &asked)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(json::members(json!({"metadata": shown})))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        for (key, value) in &shown {
            if asked.len() != 1 {
                text.styled(style::DIM, key).plain(" = ");
            }
            text.plain(&spelled(value)).end();
        }
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }

    /// Tells what is to be set from what is asked for.
    fn sort(&self) -> anyhow::Result<(Map<String, Value>, Vec<&str>)> {
        let mut changes = Map::new();
        let mut asked = Vec::new();
        for item in &self.items {
            let Some((key, text)) = item.split_once('=') else {
                asked.push(item.as_str());
                continue;
            };
            let (key, value) = match key.strip_suffix(':') {
                None => (key, Value::from(text)),
                Some(key) => {
                    let wrong = |error| Refusal::usage(format!("the value of {key:?} is not JSON: {error}"));
                    (key, serde_json::from_str(text).map_err(wrong)?)
                }
            };
            changes.insert(key.to_owned(), value);
        }
        changes.extend(self.unset.iter().map(|key| (key.clone(), Value::Null)));
        Ok((changes, asked))
    }
}

/// The values of the keys that were asked for, or all.
fn select(mut metadata: Map<String, Value>, asked: &[&str]) -> anyhow::Result<Map<String, Value>> {
    if asked.is_empty() {
        return Ok(metadata);
    }
    let mut selected = Map::new();
    for &key in asked {
        let missing = || Refusal::not_found(format!("the session has no metadata {key:?}"));
        selected.insert(key.to_owned(), metadata.shift_remove(key).ok_or_else(missing)?);
    }
    Ok(selected)
}

fn spelled(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
