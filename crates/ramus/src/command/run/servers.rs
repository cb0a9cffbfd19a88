//! The MCP servers of a turn: those of the settings, started when the turn is got ready and ended with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use ramus_engine::Session;
use ramus_engine::settings::{Agent, Reach, ServerSettings, Settings};
use ramus_tools::Tool;
use ramus_tools::mcp::{self, PATIENCE, Server};
use ramus_tools::process::Start;
use ramus_tools::tool::bash;
use tokio::runtime::Handle;

use crate::failure::Refusal;
use crate::invocation::Invocation;
use crate::providers::{given, variable};

/// Servers that answer.
pub(crate) struct Servers {
    connected: Option<mcp::Servers>,
    runtime: Handle,
}

impl Servers {
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.connected.as_ref().map(mcp::Servers::tools).unwrap_or_default()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        if let Some(connected) = self.connected.take() {
            self.runtime.block_on(connected.end());
        }
    }
}

/// Starts the servers whose tools the agent may have. One that does not work is told about, and stops no turn.
pub(crate) fn start(
    invocation: &mut Invocation<'_>,
    session: &Session,
    runtime: &Handle,
    settings: &Settings,
    agent: &Agent,
) -> anyhow::Result<Servers> {
    let mut wanted = Vec::new();
    for (name, said) in settings.user().mcp.iter().chain(&settings.project().mcp) {
        if !said.enabled || !may_have_tools(agent, name) {
            continue;
        }
        match server(name, said, session) {
            Ok(server) => wanted.push(server),
            Err(refusal) => invocation.screen.warn(&format!("the MCP server {name} is left out: {refusal}"))?,
        }
    }
    if wanted.is_empty() {
        return Ok(Servers { connected: None, runtime: runtime.clone() });
    }
    let (connected, troubles) = runtime.block_on(mcp::Servers::connect(wanted, PATIENCE));
    for trouble in troubles {
        invocation.screen.warn(&trouble.to_string())?;
    }
    Ok(Servers { connected: Some(connected), runtime: runtime.clone() })
}

/// Says whether any tool of a server could be the agent's.
fn may_have_tools(agent: &Agent, server: &str) -> bool {
    let is_possible = |pattern: &String| {
        pattern.starts_with(&format!("{server}_")) || pattern.starts_with(['*', '?']) || pattern.contains('*')
    };
    agent.tools().is_none_or(|tools| tools.iter().any(is_possible))
}

fn server(name: &str, said: &ServerSettings, session: &Session) -> Result<Server, Refusal> {
    let reach = match &said.reach {
        Reach::Program { command, args, env } => {
            let mut environment = bash::without_secrets(std::env::vars_os());
            for (variable, value) in env {
                environment.retain(|(known, _)| known.to_str() != Some(variable));
                environment.push((OsString::from(variable), given(value)?.into()));
            }
            let words = [command].into_iter().chain(args).map(OsString::from).collect();
            mcp::Reach::Program(Start { words, directory: PathBuf::from(session.cwd()), environment })
        }
        Reach::Address { url, key_env, headers } => {
            let mut all = Vec::new();
            for (header, value) in headers {
                all.push((header.clone(), given(value)?));
            }
            if let Some(name) = key_env {
                let key = variable(name).ok_or_else(|| Refusal::usage(format!("the variable {name} is not set")))?;
                all.push(("authorization".to_owned(), format!("Bearer {key}")));
            }
            mcp::Reach::Address { url: url.clone(), headers: all }
        }
    };
    Ok(Server { name: name.to_owned(), reach })
}
