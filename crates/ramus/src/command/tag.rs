//! `tag`: shows and changes the tags of a session.

use clap::{Args, ValueEnum};
use ramus_engine::TagChange;
use serde_json::json;

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, json};

const EXAMPLES: &str = "\
A tag is any text on one line, of at most 100 bytes. Without an action, the tags are listed; `set` without tags removes all.

Examples:
  ramus tag last
  ramus tag last add bug \"needs review\"
  ramus tag last remove bug";

/// Show or change the tags of a session
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Tag {
    /// The session
    session: String,
    /// What to do with them
    #[arg(value_enum, default_value_t)]
    action: Action,
    /// The tags
    #[arg(value_name = "TAG")]
    tags: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Action {
    /// List them
    #[default]
    List,
    /// Add these
    Add,
    /// Remove these
    Remove,
    /// Put these in the place of all others
    Set,
}

impl Tag {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let change = self.change()?;
        let (id, tags) = match invocation.remote() {
            Some(remote) => {
                let id = remote.id(&self.session)?;
                let changes = match &change {
                    None => None,
                    Some(TagChange::Add(tags)) => Some(json!({"add_tags": tags})),
                    Some(TagChange::Remove(tags)) => Some(json!({"remove_tags": tags})),
                    Some(TagChange::Set(tags)) => Some(json!({"tags": tags})),
                };
                if let Some(changes) = &changes {
                    remote.change(&id, changes)?;
                }
                let tags = remote.describe(&id)?.words("tags").into_iter().map(str::to_owned).collect();
                (id, tags)
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                if let Some(change) = &change {
                    invocation.engine.change_tags(&mut session, change)?;
                    invocation.finish(&mut session)?;
                }
                (session.id().to_string(), session.tags())
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(json::members(json!({"session": id, "tags": tags})))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        tags.iter().for_each(|tag| {
            text.plain(tag).end();
        });
        match change {
            None => invocation.screen.text(&text)?,
            Some(_) if tags.is_empty() => invocation.screen.note(text.plain("the session has no tags now").end())?,
            Some(_) => {
                let mut said = Text::new();
                said.plain("the session is tagged ").plain(&tags.join(", ")).end();
                invocation.screen.note(&said)?;
            }
        }
        Ok(Exit::Done)
    }

    /// What is to be changed; none when the tags are only listed.
    fn change(&self) -> anyhow::Result<Option<TagChange>> {
        let tags = self.tags.clone();
        Ok(match self.action {
            Action::List if tags.is_empty() => None,
            Action::List => return Err(Refusal::usage("tags are listed, or they are named with `add`").into()),
            Action::Add | Action::Remove if tags.is_empty() => return Err(Refusal::usage("no tag is named").into()),
            Action::Add => Some(TagChange::Add(tags)),
            Action::Remove => Some(TagChange::Remove(tags)),
            Action::Set => Some(TagChange::Set(tags)),
        })
    }
}
