//! `workspace`: where a session works, and a directory of its own for one.

use std::path::PathBuf;

use clap::Args;
use ramus_engine::WorkspaceInfo;
use serde_json::{Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean, json, style};

const EXAMPLES: &str = "\
With --make, the session gets a directory of its own beneath DIR, called like the session, with mnt, output and tmp in it, \
and moves there. Such a directory can be put back exactly: `ramus restore SESSION SNAPSHOT --clean` removes everything that \
the snapshot does not hold.

Examples:
  ramus workspace last
  ramus workspace last --make ~/workspaces";

/// Show where a session works, or give it a directory of its own
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Workspace {
    /// The session
    session: String,
    /// Make a workspace beneath this directory, and move the session there
    #[arg(long, value_name = "DIR")]
    make: Option<PathBuf>,
}

impl Workspace {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.session)?;
        let info = match &self.make {
            Some(storage) => {
                let storage = PathBuf::from(&invocation.cwd).join(storage);
                let info = invocation.engine.make_workspace(&mut session, &storage)?;
                invocation.finish(&mut session)?;
                info
            }
            None => {
                let info = invocation.engine.describe_workspace(&mut session)?;
                invocation.mention(&session)?;
                info
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(json::members(json!({"workspace": to_json(&info)})))?;
        } else {
            invocation.screen.text(&to_text(&info))?;
        }
        Ok(Exit::Done)
    }
}

fn to_json(info: &WorkspaceInfo) -> Value {
    let mounts = info
        .mounts
        .iter()
        .map(|mount| json!({"name": mount.name, "path": mount.path, "mount": mount.mount, "purpose": mount.purpose}));
    json!({
        "id": info.id,
        "root": info.root,
        "mount": info.mount,
        "owned": info.is_owned,
        "mounts": mounts.collect::<Vec<_>>(),
        "deployments": info.deployments,
        "snapshots": info.snapshots,
        "latest_snapshot": info.latest_snapshot,
        "dirty": info.is_dirty,
    })
}

fn to_text(info: &WorkspaceInfo) -> Text {
    let mut text = Text::new();
    let mut row = |name: &str, value: &str, note: &str| {
        text.padded(style::DIM, name, 12).plain("  ").plain(&clean::one_line(value));
        text.styled(style::DIM, note).end();
    };
    row("directory", &info.root.display().to_string(), if info.is_owned { "" } else { "  not ramus's own" });
    for mount in &info.mounts {
        row(&mount.name, &mount.mount, &format!("  {}", mount.purpose));
    }
    let state = match info.is_dirty {
        Some(true) => "  files have changed since",
        Some(false) => "  as it is now",
        None => "",
    };
    row("snapshot", info.latest_snapshot.as_deref().unwrap_or("none"), state);
    text
}
