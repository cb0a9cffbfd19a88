//! Nodes of a history: messages under their numbers, the root, and what tools made.

use std::collections::{HashMap, HashSet};

use ramus_engine::{EngineError, Session, View};
use ramus_model::json::Raw;
use ramus_model::message::Part;
use ramus_model::{Kind, Node, Role, Seq, Tree, resolve};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{object_of, words};

/// A node of a history.
#[derive(Serialize, ToSchema)]
pub struct HistoryNode<'n> {
    #[serde(flatten)]
    content: NodeContent<'n>,
    /// What it is called.
    id: String,
    /// The entry.
    entry: &'n str,
    /// The node that it hangs from; null for the first one.
    #[schema(required)]
    parent: Option<String>,
    workspace: NodePlace,
    /// The nodes that hang from it, where it is told alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    children: Option<Vec<String>>,
    /// Whether it is on the path to the leaf, where it is told alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    on_path: Option<bool>,
}

/// Where a node was made.
#[derive(Serialize, ToSchema)]
struct NodePlace {
    /// What the nodes of the session are named after.
    id: String,
    /// Where the session sees its workspace.
    #[schema(required)]
    mount: Option<String>,
    /// Where that is.
    #[schema(required)]
    internal_root: Option<String>,
}

/// What a node is.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum NodeContent<'n> {
    /// A message.
    Message(Box<MessageNode<'n>>),
    /// The root.
    Root(RootNode),
    /// Something that a tool made.
    Artifact(ArtifactNode),
}

/// A message.
#[derive(Serialize, ToSchema)]
struct MessageNode<'n> {
    /// Who speaks: `tool`, or as it is stored.
    role: &'n str,
    content: String,
    timestamp: &'n str,
    #[schema(required)]
    label: Option<&'n str>,
    /// How many there are about.
    tokens: u64,
    /// What it calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<NodeCall<'n>>,
    /// Of an answer: who gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    metadata: Option<NodeAnswer<'n>>,
    /// Of a result: the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<&'n str>,
    /// Of a result: what the tool was given; null when that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
    /// Of a result: whether it went well.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    success: Option<bool>,
    /// Of a result: what the tool said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    output: Option<String>,
    /// Of a result: what the call is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    invocation_id: Option<&'n str>,
}

/// A call of a tool.
#[derive(Serialize, ToSchema)]
struct NodeCall<'n> {
    invocation_id: &'n str,
    tool_name: &'n str,
    /// What it is given; the text itself when that is no JSON.
    tool_input: Value,
}

/// Who gave an answer.
#[derive(Serialize, ToSchema)]
struct NodeAnswer<'n> {
    #[schema(required)]
    provider: Option<&'n str>,
    #[schema(required)]
    model: Option<&'n str>,
    /// Why it ended.
    #[schema(required)]
    stop_reason: Option<&'n str>,
}

/// The root.
#[derive(Serialize, ToSchema)]
struct RootNode {
    /// `assistant`.
    role: &'static str,
    #[serde(rename = "type")]
    #[schema(schema_with = words::root)]
    kind: &'static str,
    /// The word of welcome.
    #[schema(value_type = Option<String>, required)]
    content: Value,
    /// What the root says, as it is stored.
    metadata: Value,
    #[schema(value_type = Option<String>, required)]
    timestamp: Value,
}

/// Something that a tool made.
#[derive(Serialize, ToSchema)]
struct ArtifactNode {
    /// `artifact`.
    role: &'static str,
    #[serde(rename = "type")]
    #[schema(schema_with = words::artifact)]
    kind: &'static str,
    /// What it is called.
    #[schema(value_type = Option<String>, required)]
    content: Value,
    /// The tool.
    #[schema(value_type = Option<String>, required)]
    name: Value,
    /// What the call is named.
    #[schema(value_type = Option<String>, required)]
    invocation_id: Value,
    /// What the tool tells of it, whatever that is.
    data: Value,
    #[schema(value_type = Option<String>, required)]
    timestamp: Value,
}

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
            nodes.extend(self.node(seq, false)?);
        }
        Ok(nodes)
    }

    /// Describes a node with what hangs from it; none when the entry is no node.
    pub fn whole(&self, seq: Seq) -> Result<Option<Map<String, Value>>, EngineError> {
        self.node(seq, true)
    }

    fn children(&self, seq: Seq) -> Vec<String> {
        let children = self.tree.entries.iter().filter(|child| child.parent == Some(seq));
        children.map(|child| self.name(child.seq)).collect()
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

    fn node(&self, seq: Seq, is_alone: bool) -> Result<Option<Map<String, Value>>, EngineError> {
        let Some(place) = self.place(seq) else { return Ok(None) };
        let parent = place.parent;
        let view = self.session.view(seq, parent)?;
        let content = match &view {
            Some(view) => NodeContent::Message(Box::new(self.message(view)?)),
            None => self.other(seq)?,
        };
        let workspace = self.session.workspace();
        let node = HistoryNode {
            content,
            id: self.name(seq),
            entry: self.session.log().id(seq),
            parent: parent.map(|parent| self.name(parent)),
            workspace: NodePlace { id: self.namespace.clone(), mount: workspace.mount, internal_root: workspace.root },
            children: is_alone.then(|| self.children(seq)),
            on_path: is_alone.then_some(place.on_path),
        };
        Ok(Some(object_of(&node)))
    }

    fn message<'v>(&self, view: &'v View) -> Result<MessageNode<'v>, EngineError> {
        let message = &view.message;
        let result = message.result.as_ref().filter(|_| message.role == Role::ToolResult);
        let metadata = message.answer.as_ref().map(|answer| NodeAnswer {
            provider: answer.provider.as_deref(),
            model: answer.model.as_deref(),
            stop_reason: answer.stop_reason.as_deref(),
        });
        Ok(MessageNode {
            role: if message.role == Role::ToolResult { "tool" } else { message.role_name.as_str() },
            content: message.text(),
            timestamp: &view.timestamp,
            label: view.label.as_deref(),
            tokens: view.tokens,
            tool_calls: message.parts.iter().filter_map(called).collect(),
            metadata,
            name: result.map(|result| result.name.as_str()),
            input: result.map(|result| self.input_of(view, &result.call)).transpose()?,
            success: result.map(|result| !result.is_error),
            output: result.map(|_| message.text()),
            invocation_id: result.map(|result| result.call.as_str()),
        })
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
    fn other(&self, seq: Seq) -> Result<NodeContent<'static>, EngineError> {
        let line: Value = serde_json::from_slice(&self.session.line(seq)?).unwrap_or_default();
        let data = line.get("data").cloned().unwrap_or_default();
        let timestamp = line.get("timestamp").cloned().unwrap_or_default();
        let told = |pointer: &str| data.pointer(pointer).cloned().unwrap_or_default();
        Ok(match line.get("customType").and_then(Value::as_str) {
            Some("ramus.boot") => NodeContent::Root(RootNode {
                role: "assistant",
                kind: "root",
                content: told("/welcome"),
                metadata: data,
                timestamp,
            }),
            _ => NodeContent::Artifact(ArtifactNode {
                role: "artifact",
                kind: "artifact",
                content: told("/artifact/name"),
                name: told("/tool"),
                invocation_id: told("/call"),
                data: told("/artifact"),
                timestamp,
            }),
        })
    }
}

fn called(part: &Part) -> Option<NodeCall<'_>> {
    let Part::ToolCall { id, name, arguments } = part else { return None };
    Some(NodeCall { invocation_id: id, tool_name: name, tool_input: input(arguments) })
}

/// What a tool was given, as it was spelled when it is no JSON.
fn input(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into())
}
