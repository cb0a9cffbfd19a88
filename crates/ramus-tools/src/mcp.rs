//! MCP: tools that other programs bring along. Servers are started or reached once for a turn, all at the same time; one that
//! does not answer is told about and left out. Their tools are called `SERVER_TOOL` and are asked about like any other: what a
//! server says about itself allows nothing.

mod call;
mod content;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ramus_model::request::ToolDefinition;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{Peer, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::Value;
use tokio::time::timeout;

use crate::process::{Companion, Start};
use crate::tool::Tool;
use call::McpTool;

/// How long a server may take until its tools are known.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The most tools of one server; a model cannot choose among more.
const MOST_TOOLS: usize = 128;

/// The longest description of a tool, in bytes.
const LONGEST_DESCRIPTION: usize = 4 << 10;

/// A server to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name, which its tools begin with.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Reach {
    /// It is a program that is started.
    Program(Start),
    /// It is somewhere on the network.
    Address {
        /// Where.
        url: String,
        /// What is sent along; may be secret.
        headers: Vec<(String, String)>,
    },
}

/// Arguments, variables and headers may be secret.
impl fmt::Debug for Reach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(start) => write!(out, "Program({:?})", start.words.first()),
            Self::Address { .. } => out.write_str("Address"),
        }
    }
}

/// Why a server is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The server.
    pub server: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the MCP server {} is left out: {}", self.server, self.reason)
    }
}

/// The servers of a turn. They end when this is dropped, and more gently with [`Servers::end`].
#[derive(Default)]
pub struct Servers {
    connected: Vec<Connected>,
}

/// A server that answers.
struct Connected {
    service: RunningService<RoleClient, ClientConfig>,
    companion: Option<Companion>,
    tools: Vec<Arc<McpTool>>,
}

impl Servers {
    /// Starts and reaches servers, all at the same time. Must be called on a runtime.
    pub async fn connect(servers: Vec<Server>, patience: Duration) -> (Self, Vec<Trouble>) {
        let started: Vec<_> = servers.into_iter().map(|server| tokio::spawn(connect(server, patience))).collect();
        let (mut connected, mut troubles) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        for task in started {
            match task.await {
                Ok(Ok(mut one)) => {
                    // Names of servers and tools may run into each other; the first one has the name.
                    one.tools.retain(|tool| names.insert(tool.definition.name.clone()));
                    connected.push(one);
                }
                Ok(Err(trouble)) => troubles.push(trouble),
                Err(error) => troubles.push(Trouble { server: "?".into(), reason: error.to_string() }),
            }
        }
        (Self { connected }, troubles)
    }

    /// Returns the tools of all servers.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let all = self.connected.iter().flat_map(|one| &one.tools);
        all.map(|tool| Arc::clone(tool) as Arc<dyn Tool>).collect()
    }

    /// Ends the servers that were started, and lets go of the others.
    pub async fn end(self) {
        let ending: Vec<_> = self.connected.into_iter().map(|one| tokio::spawn(one.end())).collect();
        for task in ending {
            // A server that cannot even end is gone with its group.
            let _ = task.await;
        }
    }
}

impl Connected {
    async fn end(mut self) {
        // It may be busy; it is ended in a moment anyway.
        let _ = self.service.close_with_timeout(Duration::from_millis(500)).await;
        if let Some(companion) = self.companion {
            companion.end().await;
        }
    }
}

async fn connect(server: Server, patience: Duration) -> Result<Connected, Trouble> {
    let name = server.name.clone();
    let trouble = |reason: String| Trouble { server: name.clone(), reason };
    match server.reach {
        Reach::Program(start) => {
            let (companion, output, input) =
                Companion::start(&start).map_err(|error| trouble(format!("it does not start: {error}")))?;
            let met = timeout(patience, meet(&name, (output, input))).await;
            match met {
                Ok(Ok((service, tools))) => Ok(Connected { service, companion: Some(companion), tools }),
                failed => {
                    let reason = failed.map_or_else(|_| late(patience), |met| met.err().unwrap_or_default());
                    Err(trouble(match companion.end().await {
                        Some(complaint) => format!("{reason} (it says: {complaint})"),
                        None => reason,
                    }))
                }
            }
        }
        Reach::Address { url, headers } => {
            let transport = reach(url, &headers).map_err(trouble)?;
            let (service, tools) = timeout(patience, meet(&name, transport))
                .await
                .map_err(|_| trouble(late(patience)))?
                .map_err(trouble)?;
            Ok(Connected { service, companion: None, tools })
        }
    }
}

fn late(patience: Duration) -> String {
    format!("it did not answer within {} s", patience.as_secs_f32())
}

fn reach(url: String, headers: &[(String, String)]) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let mut all = HashMap::new();
    for (name, value) in headers {
        let named = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no name of a header"))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| format!("the value of {name} is no header"))?;
        value.set_sensitive(true);
        all.insert(named, value);
    }
    // Whoever is redirected elsewhere would take the headers along.
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).pool_max_idle_per_host(0);
    let client = client.build().map_err(|error| error.to_string())?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(all);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Greets a server and asks what it can do.
async fn meet<T, E, A>(
    name: &str,
    transport: T,
) -> Result<(RunningService<RoleClient, ClientConfig>, Vec<Arc<McpTool>>), String>
where
    T: rmcp::transport::IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let us = ClientConfig::new(ClientCapabilities::default(), Implementation::new("ramus", env!("CARGO_PKG_VERSION")));
    let service = us.serve(transport).await.map_err(|error| format!("it does not speak MCP: {error}"))?;
    let listed =
        service.peer().list_all_tools().await.map_err(|error| format!("it does not list its tools: {error}"))?;
    let peer = service.peer().clone();
    let tools = listed.into_iter().take(MOST_TOOLS).map(|tool| Arc::new(offered(name, tool, peer.clone())));
    Ok((service, tools.collect()))
}

/// A tool as the model is told about it.
fn offered(server: &str, tool: rmcp::model::Tool, peer: Peer<RoleClient>) -> McpTool {
    let mut description = tool.description.map(|text| text.into_owned()).unwrap_or_default();
    if let Some(end) = description.char_indices().map(|(at, _)| at).find(|at| *at >= LONGEST_DESCRIPTION) {
        description.truncate(end);
    }
    let tame = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let called: String = tool.name.chars().map(tame).collect();
    let parameters = Value::Object(tool.input_schema.as_ref().clone());
    McpTool {
        definition: ToolDefinition { name: format!("{server}_{called}"), description, parameters },
        name: tool.name.into_owned(),
        peer,
    }
}
