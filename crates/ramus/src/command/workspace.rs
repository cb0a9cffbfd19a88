//! `workspace`: where a session works, and a directory of its own for one.

use std::path::PathBuf;

use clap::Args;
use ramus_engine::WorkspaceInfo;
use ramus_wire::place as shape;
use serde_json::{Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, style};

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
        let answer = match invocation.remote() {
            Some(remote) => {
                let id = remote.id(&self.session)?;
                match &self.make {
                    Some(storage) => {
                        let beneath = PathBuf::from(&invocation.cwd).join(storage);
                        remote.act(&id, "workspace", &json!({"beneath": beneath}))?
                    }
                    None => remote.answer(remote.get(&["sessions", &id, "workspace"]))?,
                }
            }
            None => shape::workspace(&self.info(invocation)?),
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else if let Some(workspace) = answer.get("workspace") {
            invocation.screen.text(&to_text(workspace))?;
        }
        Ok(Exit::Done)
    }

    fn info(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<WorkspaceInfo> {
        let mut session = invocation.session(&self.session)?;
        match &self.make {
            Some(storage) => {
                let storage = PathBuf::from(&invocation.cwd).join(storage);
                let info = invocation.engine.make_workspace(&mut session, &storage)?;
                invocation.finish(&mut session)?;
                Ok(info)
            }
            None => {
                let info = invocation.engine.describe_workspace(&mut session)?;
                invocation.mention(&session)?;
                Ok(info)
            }
        }
    }
}

fn to_text(workspace: &Value) -> Text {
    let mut text = Text::new();
    let mut row = |name: &str, value: &str, note: &str| {
        text.padded(style::DIM, name, 12).plain("  ").plain(&clean::one_line(value));
        text.styled(style::DIM, note).end();
    };
    row("directory", workspace.word("root"), if workspace.says("owned") { "" } else { "  not ramus's own" });
    for mount in workspace.items("mounts") {
        row(mount.word("name"), mount.word("mount"), &format!("  {}", mount.word("purpose")));
    }
    let state = match workspace.get("dirty").and_then(Value::as_bool) {
        Some(true) => "  files have changed since",
        Some(false) => "  as it is now",
        None => "",
    };
    row("snapshot", workspace.maybe("latest_snapshot").unwrap_or("none"), state);
    text
}
