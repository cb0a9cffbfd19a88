//! axe-core, which nobody here wrote, on every screen of the web view: nothing that it calls serious may be there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::{Row, Scope, Verdict};
use crate::workspace::{self, Workspace};
use crate::{ci, process};

const VERSION: &str = "4.14.0";
const PROGRAM: &str = "axe";
const CASE: &str = "view/every screen";

/// Has every screen looked at. Where it cannot be installed, or there is no browser, that is skipped.
pub(super) fn judge(workspace: &Workspace, scope: &Scope, show: &mut impl FnMut(Row)) -> Result<()> {
    if !scope.covers(CASE) {
        return Ok(());
    }
    let judgement = match installed() {
        Ok(script) => looked(workspace, &script),
        Err(reason) => Ok((Verdict::Skipped, format!("{reason:#}"))),
    };
    show(Row::of(CASE, PROGRAM, judgement));
    Ok(())
}

/// Finds the script, and installs it when it is not there.
fn installed() -> Result<PathBuf> {
    let home = env::var_os("HOME").context("HOME is not set")?;
    let folder = Path::new(&home).join(".cache/ramus-oracles/axe");
    let package = folder.join("node_modules/axe-core");
    let manifest = fs::read_to_string(package.join("package.json")).unwrap_or_default();
    if !manifest.contains(&format!("\"version\": \"{VERSION}\"")) {
        ensure!(workspace::installed("npm"), "npm is not installed");
        fs::create_dir_all(&folder)?;
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(&folder);
        process::run(install.arg(format!("axe-core@{VERSION}")).stdout(Stdio::null()))?;
    }
    let script = package.join("axe.min.js");
    ensure!(script.is_file(), "the installation of axe-core is incomplete");
    Ok(script)
}

/// Runs the test that looks at the screens, as the other tests were built.
fn looked(workspace: &Workspace, script: &Path) -> Result<(Verdict, String)> {
    let mut command = if ci::has(workspace, "nextest") {
        let mut command = workspace.cargo(["nextest", "run", "--workspace", "--run-ignored", "only", "--no-capture"]);
        command.args(["-E", "binary(view) and test(axe)"]);
        command
    } else {
        workspace.cargo(["test", "--workspace", "--test", "view", "axe", "--", "--ignored", "--nocapture"])
    };
    let output = process::stdout(command.env("RAMUS_AXE", script))?;
    let said = output.lines().find_map(|line| line.split_once("axe: ")).map(|(_, said)| said.trim().to_owned());
    Ok(match said {
        Some(said) => (Verdict::Same, said),
        None => (Verdict::Skipped, "there is no browser".to_owned()),
    })
}
