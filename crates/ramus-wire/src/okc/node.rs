//! Nodes of a history: messages under their numbers, the root, and what tools made.

use std::collections::{HashMap, HashSet};

use ramus_engine::{EngineError, Session, View};
use ramus_model::json::Raw;
use ramus_model::message::Part;
use ramus_model::{Kind, Node, Role, Seq, Tree, resolve};
use serde_json::{Map, Value, json};

use crate::members;

/// The nodes of a session: its messages, its root, and what tools made. Whatever else hangs between them is left out.
pub struct Nodes<'s> {
    session: &'s Session,
    namespace: String,
    numbers: HashMap<Seq, usize>,
    /// What the session was seeded with.
    root: Option<Seq>,
    tree: Tree,
    /// Where each node is in the tree.
    places: HashMap<Seq, usize>,
}

impl<'s> Nodes<'s> {
    /// Finds the nodes of a session, and numbers its messages.
    pub fn of(session: &'s Session) -> Result<Self, EngineError> {
        let log = session.log();
        let (mut others, mut root) = (HashSet::new(), None);
        for seq in log.visible().filter(|seq| log.record(*seq).is_some_and(|record| record.kind == Kind::Custom)) {
            let line = session.line(seq)?;
            let name = Raw::parse(&line).and_then(|raw| raw.field("customType")).and_then(Raw::text);
            let is_root = name.as_deref() == Some("ramus.boot");
            if is_root || name.as_deref() == Some("ramus.artifact") {
                others.insert(seq);
            }
            root = root.or(is_root.then_some(seq));
        }
        let is_message = |seq: Seq| log.record(seq).is_some_and(|record| record.kind == Kind::Message);
        let tree = Tree::without(log, |seq| !is_message(seq) && !others.contains(&seq));
        let places = tree.entries.iter().enumerate().map(|(at, node)| (node.seq, at)).collect();
        let numbers = resolve::numbered(log).zip(1..).collect();
        Ok(Self { session, namespace: session.namespace(), numbers, root, tree, places })
    }

    /// Returns what a node is called: the root and messages by their numbers, everything else by the id of its entry. The root
    /// comes before the first message, so it has the number before that.
    pub fn name(&self, seq: Seq) -> String {
        match self.numbers.get(&seq) {
            Some(number) => format!("{}-{number:04}", self.namespace),
            None if self.root == Some(seq) => self.root_name(),
            None => self.session.log().id(seq).to_owned(),
        }
    }

    /// Finds a node by what it is called, or by the id of its entry.
    pub fn find(&self, name: &str) -> Option<Seq> {
        let root = self.root.filter(|_| name == self.root_name());
        root.or_else(|| self.session.resolve(name).ok())
    }

    fn root_name(&self) -> String {
        format!("{}-0000", self.namespace)
    }

    /// Returns how many messages the path has, the word of welcome among them.
    pub fn length(&self) -> usize {
        self.path().count()
    }

    /// Describes the last messages of the path, oldest first. The word of welcome is the first of all.
    pub fn recent(&self, limit: usize) -> Result<Vec<Map<String, Value>>, EngineError> {
        let mut path: Vec<Seq> = self.path().collect();
        path.drain(..path.len().saturating_sub(limit));
        let mut nodes = Vec::with_capacity(path.len());
        for seq in path {
            nodes.extend(self.node(seq)?);
        }
        Ok(nodes)
    }

    /// Describes a node with what hangs from it; none when the entry is no node.
    pub fn whole(&self, seq: Seq) -> Result<Option<Map<String, Value>>, EngineError> {
        let Some(mut node) = self.node(seq)? else { return Ok(None) };
        let children = self.tree.entries.iter().filter(|child| child.parent == Some(seq));
        let children: Vec<String> = children.map(|child| self.name(child.seq)).collect();
        let on_path = self.place(seq).is_some_and(|place| place.on_path);
        node.insert("children".into(), children.into());
        node.insert("on_path".into(), on_path.into());
        Ok(Some(node))
    }

    fn place(&self, seq: Seq) -> Option<&Node> {
        self.tree.entries.get(*self.places.get(&seq)?)
    }

    fn path(&self) -> impl Iterator<Item = Seq> {
        let log = self.session.log();
        log.path(log.leaf()).into_iter().filter(|seq| self.is_told(*seq))
    }

    fn is_told(&self, seq: Seq) -> bool {
        self.root == Some(seq) || self.is_message(seq)
    }

    fn is_message(&self, seq: Seq) -> bool {
        self.session.log().record(seq).is_some_and(|record| record.kind == Kind::Message && record.is_visible())
    }

    fn node(&self, seq: Seq) -> Result<Option<Map<String, Value>>, EngineError> {
        let Some(place) = self.place(seq) else { return Ok(None) };
        let log = self.session.log();
        let parent = place.parent;
        let mut node = match self.session.view(seq, parent)? {
            Some(view) => self.message(&view)?,
            None => self.other(seq)?,
        };
        let workspace = self.session.workspace();
        node.insert("id".into(), self.name(seq).into());
        node.insert("entry".into(), log.id(seq).into());
        node.insert("parent".into(), json!(parent.map(|parent| self.name(parent))));
        let place = json!({"id": self.namespace, "mount": workspace.mount, "internal_root": workspace.root});
        node.insert("workspace".into(), place);
        Ok(Some(node))
    }

    fn message(&self, view: &View) -> Result<Map<String, Value>, EngineError> {
        let message = &view.message;
        let mut node = members(json!({
            "role": if message.role == Role::ToolResult { "tool" } else { message.role_name.as_str() },
            "content": message.text(),
            "timestamp": view.timestamp,
            "label": view.label,
            "tokens": view.tokens,
        }));
        let calls: Vec<Value> = message.parts.iter().filter_map(called).collect();
        if !calls.is_empty() {
            node.insert("tool_calls".into(), calls.into());
        }
        if let Some(answer) = &message.answer {
            let told = json!({"provider": answer.provider, "model": answer.model, "stop_reason": answer.stop_reason});
            node.insert("metadata".into(), told);
        }
        if let Some(result) = message.result.as_ref().filter(|_| message.role == Role::ToolResult) {
            node.insert("name".into(), result.name.as_str().into());
            node.insert("input".into(), self.input_of(view, &result.call)?);
            node.insert("success".into(), (!result.is_error).into());
            node.insert("output".into(), message.text().into());
            node.insert("invocation_id".into(), result.call.as_str().into());
        }
        Ok(node)
    }

    /// Finds what the call was given whose result a message is.
    fn input_of(&self, result: &View, call: &str) -> Result<Value, EngineError> {
        let log = self.session.log();
        let is_answer = |seq: &Seq| log.record(*seq).is_some_and(|record| record.role == Role::Assistant);
        let Some(above) = log.ancestors(Some(result.seq)).find(is_answer) else { return Ok(Value::Null) };
        let answer = self.session.message(above)?;
        let mut calls = answer.iter().flat_map(|answer| answer.calls());
        let given = calls.find_map(|part| match part {
            Part::ToolCall { id, arguments, .. } if id == call => Some(input(arguments)),
            _ => None,
        });
        Ok(given.unwrap_or_default())
    }

    /// Describes the root, or something that a tool made.
    fn other(&self, seq: Seq) -> Result<Map<String, Value>, EngineError> {
        let line: Value = serde_json::from_slice(&self.session.line(seq)?).unwrap_or_default();
        let data = line.get("data").cloned().unwrap_or_default();
        let mut node = members(match line.get("customType").and_then(Value::as_str) {
            Some("ramus.boot") => json!({
                "role": "assistant", "type": "root", "content": data.get("welcome"), "metadata": data,
            }),
            _ => json!({
                "role": "artifact", "type": "artifact", "content": data.pointer("/artifact/name"), "name": data.get("tool"),
                "invocation_id": data.get("call"), "data": data.get("artifact"),
            }),
        });
        node.insert("timestamp".into(), line.get("timestamp").cloned().unwrap_or_default());
        Ok(node)
    }
}

fn called(part: &Part) -> Option<Value> {
    let Part::ToolCall { id, name, arguments } = part else { return None };
    Some(json!({"invocation_id": id, "tool_name": name, "tool_input": input(arguments)}))
}

/// What a tool was given, as it was spelled when it is no JSON.
fn input(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into())
}
