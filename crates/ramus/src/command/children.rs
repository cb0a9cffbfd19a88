//! `children`: the sessions that a session had do part of its work.

use std::collections::{HashMap, HashSet};

use clap::Args;
use ramus_engine::{Filter, SessionInfo, WhichDirectory};
use ramus_model::SessionId;
use ramus_model::usage::Prices;
use serde_json::{Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean, json, quantity, style};

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
        let parent = invocation.session(&self.session)?;
        let filter = Filter {
            directory: WhichDirectory::All,
            parent: Some(parent.id().clone()).filter(|_| !self.tree),
            drafts: true,
            archived: true,
            ..Filter::default()
        };
        let family = Family::of(invocation.engine.list(&filter)?.sessions, self.tree);
        if invocation.screen.wants_json() {
            let children = family.to_json(parent.id(), &invocation.prices()?);
            invocation.screen.json(json::members(json!({"children": children})))?;
            return Ok(Exit::Done);
        }
        invocation.screen.text(&family.to_text(parent.id()))?;
        Ok(Exit::Done)
    }
}

/// Sessions by the one that spawned them.
struct Family {
    children: HashMap<SessionId, Vec<SessionInfo>>,
    is_deep: bool,
}

impl Family {
    fn of(sessions: Vec<SessionInfo>, is_deep: bool) -> Self {
        let mut children: HashMap<SessionId, Vec<SessionInfo>> = HashMap::new();
        for info in sessions {
            if let Some(parent) = info.lineage.parent.clone() {
                children.entry(parent).or_default().push(info);
            }
        }
        Self { children, is_deep }
    }

    /// Lists everyone beneath a session with how deep they are, in the order of a tree. Headers may name each other in a
    /// circle, so nobody is listed twice.
    fn beneath(&self, root: &SessionId) -> Vec<(usize, &SessionInfo)> {
        let mut found = Vec::new();
        let mut seen = HashSet::from([root]);
        let mut open: Vec<(usize, &SessionInfo)> = self.of_one(root).rev().map(|info| (0, info)).collect();
        while let Some((depth, info)) = open.pop() {
            if !seen.insert(&info.id) {
                continue;
            }
            found.push((depth, info));
            if self.is_deep {
                open.extend(self.of_one(&info.id).rev().map(|info| (depth + 1, info)));
            }
        }
        found
    }

    fn of_one(&self, parent: &SessionId) -> std::slice::Iter<'_, SessionInfo> {
        self.children.get(parent).map(Vec::as_slice).unwrap_or_default().iter()
    }

    /// Children within children, if that is wanted.
    fn to_json(&self, root: &SessionId, prices: &Prices) -> Vec<Value> {
        // From the last one up: whoever is deeper is whole by then.
        let mut levels: Vec<Vec<Value>> = vec![Vec::new()];
        for (depth, info) in self.beneath(root).into_iter().rev() {
            levels.resize_with(levels.len().max(depth + 2), Vec::new);
            let mut own: Vec<Value> = levels.get_mut(depth + 1).map(std::mem::take).unwrap_or_default();
            own.reverse();
            let mut value = json::session(info, prices);
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

    fn to_text(&self, root: &SessionId) -> Text {
        let mut text = Text::new();
        let all = self.beneath(root);
        for (depth, info) in &all {
            text.spaces(2 * depth).styled(style::ID, info.id.as_str()).spaces(2).plain(&clean::one_line(&info.title));
            let messages = quantity::count(info.messages, "message", "messages");
            text.spaces(2).styled(style::DIM, &messages).end();
        }
        if all.is_empty() {
            text.styled(style::DIM, "no children").end();
        }
        text
    }
}
