//! `trust`: lets the settings of a project count, as they are now.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use ramus_engine::settings::project::{self, ProjectFile, Trust as List};
use ramus_engine::settings::{Given, Reach, Tables};
use ramus_model::permission::Action;
use serde_json::json;

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, json, style};

const EXAMPLES: &str = "\
A project can bring settings along in .ramus/config.toml: rules, agents, MCP servers, a default model. They count for nothing \
until you trust them, and no longer when a single byte of them changes. Read them first: MCP servers are programs that run \
as you.

Examples:
  ramus trust
  ramus trust --list
  ramus trust --revoke";

/// Trust the settings of this project, or trust them no longer
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Trust {
    /// The directory whose settings are meant [default: the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Trust them no longer
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// List everything that is trusted
    #[arg(long)]
    list: bool,
}

impl Trust {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let list = List::of_home(invocation.home.root());
        if self.list {
            return show_list(invocation, &list);
        }
        let directory = match &self.cwd {
            Some(cwd) => invocation.directory(cwd)?,
            None => invocation.cwd.clone(),
        };
        let mut files = Vec::new();
        for found in project::find(&directory) {
            match found {
                Ok(file) => files.push(file),
                Err(refused) => {
                    let message = format!("{} is not looked at: {}", refused.path.display(), refused.reason);
                    invocation.screen.warn(&message)?;
                }
            }
        }
        if files.is_empty() {
            let hint = "they would be in .ramus/config.toml, here or above, up to the root of the project";
            return Err(Refusal::not_found(format!("there are no settings in {directory}")).hint(hint).into());
        }
        if self.revoke { revoke(invocation, &list, &files) } else { grant(invocation, &list, &files) }
    }
}

fn grant(invocation: &mut Invocation<'_>, list: &List, files: &[ProjectFile]) -> anyhow::Result<Exit> {
    // What makes no sense is told before it is trusted, and is not.
    let mut settings = invocation.home.settings().clone();
    for file in files {
        settings = settings.with_project_file(&file.text, &file.path.display().to_string())?;
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    invocation.home.make()?;
    for file in files {
        list.grant(file, i64::try_from(since.as_millis()).unwrap_or_default())?;
    }
    tell(invocation, files, true, &brings(settings.project()))
}

fn revoke(invocation: &mut Invocation<'_>, list: &List, files: &[ProjectFile]) -> anyhow::Result<Exit> {
    for file in files {
        list.revoke(&file.path)?;
    }
    tell(invocation, files, false, &[])
}

fn tell(
    invocation: &mut Invocation<'_>,
    files: &[ProjectFile],
    trusted: bool,
    brings: &[String],
) -> anyhow::Result<Exit> {
    if invocation.screen.wants_json() {
        let file = |file: &ProjectFile| json!({"file": file.path, "sha256": file.sha256, "trusted": trusted});
        let files: Vec<_> = files.iter().map(file).collect();
        invocation.screen.json(json::members(json!({"files": files, "brings": brings})))?;
        return Ok(Exit::Done);
    }
    let mut text = Text::new();
    for file in files {
        let what = if trusted { "trusted as it is now: " } else { "not trusted any more: " };
        text.plain(what).plain(&file.path.display().to_string()).end();
    }
    brings.iter().for_each(|line| {
        text.plain("  ").styled(style::DIM, line).end();
    });
    invocation.screen.note(&text)?;
    Ok(Exit::Done)
}

/// What the settings would do, line by line: what runs, what is asked where, what is allowed.
fn brings(tables: &Tables) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, server) in &tables.mcp {
        lines.push(match &server.reach {
            Reach::Program { command, args, env } => {
                let variables: Vec<&str> = env
                    .values()
                    .filter_map(|value| if let Given::Variable(name) = value { Some(name.as_str()) } else { None })
                    .collect();
                let told =
                    if variables.is_empty() { String::new() } else { format!(", given {}", variables.join(", ")) };
                format!(
                    "runs the MCP server {name}: {}{told}",
                    [std::slice::from_ref(command), args.as_slice()].concat().join(" ")
                )
            }
            Reach::Address { url, .. } => format!("asks the MCP server {name} at {url}"),
        });
    }
    for (name, provider) in &tables.providers {
        lines.push(format!("names the provider {name} at {}", provider.base_url.as_deref().unwrap_or("?")));
    }
    lines.extend(tables.agents.keys().map(|name| format!("defines the agent {name}")));
    let agents = tables.agents.values().flat_map(|agent| &agent.permission);
    let allowed = tables.permission.iter().chain(agents).filter(|rule| rule.action == Action::Allow);
    lines.extend(allowed.map(|rule| format!("allows {}: {}", rule.permission, rule.pattern)));
    lines
}

fn show_list(invocation: &mut Invocation<'_>, list: &List) -> anyhow::Result<Exit> {
    let all = list.all()?;
    if invocation.screen.wants_json() {
        invocation.screen.json(json::members(json!({"trusted": all})))?;
        return Ok(Exit::Done);
    }
    let mut text = Text::new();
    for trusted in &all {
        text.plain(&trusted.file.display().to_string()).styled(style::DIM, &format!("  since {}", trusted.time)).end();
    }
    invocation.screen.text(&text)?;
    Ok(Exit::Done)
}
