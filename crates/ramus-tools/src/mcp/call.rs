//! Calling a tool of an MCP server.

use std::time::Duration;

use ramus_model::permission::Question;
use ramus_model::request::ToolDefinition;
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::Peer;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::content;
use crate::cancel::Cancel;
use crate::outcome::Outcome;
use crate::tool::{Effect, Plan, Refusal, Tool, Work};

/// How long a call may take.
const LONGEST: Duration = Duration::from_secs(600);

/// A tool that a server has.
pub(super) struct McpTool {
    pub(super) definition: ToolDefinition,
    /// What the server calls it.
    pub(super) name: String,
    pub(super) peer: Peer<RoleClient>,
}

impl Tool for McpTool {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn plan(&self, arguments: &Value) -> Result<Plan, Refusal> {
        let Value::Object(given) = arguments else {
            return Err(Refusal::Arguments("they are no object".to_owned()));
        };
        let exact = arguments.to_string();
        let question = Question {
            permission: self.definition.name.clone(),
            subjects: vec![exact.clone()],
            exact,
            ..Question::default()
        };
        let (peer, name, given) = (self.peer.clone(), self.name.clone(), given.clone());
        let work: Work = Box::new(move |cancel| Box::pin(call(peer, name, given, cancel)));
        // That it only looks is a server's word, and allows nothing.
        Ok(Plan::of(vec![question], Effect::Changes, work))
    }
}

/// Calls it. A call that is given up tells the server so.
async fn call(peer: Peer<RoleClient>, name: String, arguments: Map<String, Value>, cancel: Cancel) -> Outcome {
    if cancel.is_cancelled() {
        return Outcome::cancelled();
    }
    let asked = timeout(LONGEST, peer.call_tool_once(CallToolRequestParams::new(name).with_arguments(arguments)));
    let answered = tokio::select! {
        answered = asked => answered,
        () = cancel.cancelled() => {
            let text = "[cancelled; it may have taken effect in part]";
            return Outcome { is_cancelled: true, ..Outcome::failed(text) };
        }
    };
    match answered {
        Ok(Ok(CallToolResponse::Complete(result))) => content::outcome(result),
        Ok(Ok(_)) => Outcome::failed("[the server asks back, which is not supported]"),
        Ok(Err(error)) => Outcome::failed(format!("[the server failed: {error}]")),
        Err(_) => Outcome::failed(format!("[it took longer than {} s and was given up]", LONGEST.as_secs())),
    }
}
