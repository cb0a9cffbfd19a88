//! `children`: the sessions that a session had do part of its work.

use std::collections::{HashMap, HashSet};

use clap::Args;
use ramus_engine::{Filter, WhichDirectory};
use serde_json::{Value, json};

use super::list;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, json, quantity, style};

const EXAMPLES: &str = "\
A child has a session of its own: `ramus show CHILD` shows what it did, `ramus run -s CHILD` goes on with it.

Examples:
  ramus children last
  ramus children last --tree
  ramus children last --json | jq -r '.children[].id'";

/// List the sessions that a session had do part of its work
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Children {
    /// The session
    session: String,
    /// Show the children of children too, and theirs
    #[arg(long)]
    tree: bool,
}

impl Children {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let (parent, sessions) = match invocation.remote() {
            Some(remote) => {
                let id = remote.id(&self.session)?;
                let parent = Some(&id).filter(|_| !self.tree);
                let sessions = list::all_of(&remote, &[("parent", parent.map(String::as_str))])?;
                (id, sessions)
            }
            None => self.sessions(invocation)?,
        };
        let family = Family::of(sessions, self.tree);
        if invocation.screen.wants_json() {
            invocation.screen.json(json::members(json!({"children": family.to_json(&parent)})))?;
            return Ok(Exit::Done);
        }
        invocation.screen.text(&family.to_text(&parent))?;
        Ok(Exit::Done)
    }

    fn sessions(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<(String, Vec<Value>)> {
        let parent = invocation.session(&self.session)?;
        let filter = Filter {
            directory: WhichDirectory::All,
            parent: Some(parent.id().clone()).filter(|_| !self.tree),
            drafts: true,
            archived: true,
            ..Filter::default()
        };
        let prices = invocation.prices()?;
        let sessions = invocation.engine.list(&filter)?.sessions;
        Ok((parent.id().to_string(), sessions.iter().map(|info| json::session(info, &prices).into()).collect()))
    }
}

/// Sessions by the one that spawned them.
struct Family {
    children: HashMap<String, Vec<Value>>,
    is_deep: bool,
}

impl Family {
    fn of(sessions: Vec<Value>, is_deep: bool) -> Self {
        let mut children: HashMap<String, Vec<Value>> = HashMap::new();
        for session in sessions {
            if let Some(parent) = session.maybe("parent").map(str::to_owned) {
                children.entry(parent).or_default().push(session);
            }
        }
        Self { children, is_deep }
    }

    /// Lists everyone beneath a session with how deep they are, in the order of a tree. Headers may name each other in a
    /// circle, so nobody is listed twice.
    fn beneath(&self, root: &str) -> Vec<(usize, &Value)> {
        let mut found = Vec::new();
        let mut seen = HashSet::from([root.to_owned()]);
        let mut open: Vec<(usize, &Value)> = self.of_one(root).rev().map(|session| (0, session)).collect();
        while let Some((depth, session)) = open.pop() {
            if !seen.insert(session.word("id").to_owned()) {
                continue;
            }
            found.push((depth, session));
            if self.is_deep {
                open.extend(self.of_one(session.word("id")).rev().map(|session| (depth + 1, session)));
            }
        }
        found
    }

    fn of_one(&self, parent: &str) -> std::slice::Iter<'_, Value> {
        self.children.get(parent).map(Vec::as_slice).unwrap_or_default().iter()
    }

    /// Children within children, if that is wanted.
    fn to_json(&self, root: &str) -> Vec<Value> {
        // From the last one up: whoever is deeper is whole by then.
        let mut levels: Vec<Vec<Value>> = vec![Vec::new()];
        for (depth, session) in self.beneath(root).into_iter().rev() {
            levels.resize_with(levels.len().max(depth + 2), Vec::new);
            let mut own: Vec<Value> = levels.get_mut(depth + 1).map(std::mem::take).unwrap_or_default();
            own.reverse();
            let mut value = json::members(session.clone());
            if self.is_deep {
                value.insert("children".into(), own.into());
            }
            if let Some(level) = levels.get_mut(depth) {
                level.push(Value::Object(value));
            }
        }
        let mut top = levels.into_iter().next().unwrap_or_default();
        top.reverse();
        top
    }

    fn to_text(&self, root: &str) -> Text {
        let mut text = Text::new();
        let all = self.beneath(root);
        for (depth, session) in &all {
            text.spaces(2 * depth).styled(style::ID, session.word("id")).spaces(2);
            text.plain(&clean::one_line(session.word("title")));
            let messages = quantity::count(session.count("messages"), "message", "messages");
            text.spaces(2).styled(style::DIM, &messages).end();
        }
        if all.is_empty() {
            text.styled(style::DIM, "no children").end();
        }
        text
    }
}
