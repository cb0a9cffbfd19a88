//! Programs that checks need and a machine may lack: asked for, and installed where that is possible.

use std::process::Command;

use crate::{process, workspace};

/// Installs a Debian package, as root on a machine that has such packages. Returns whether that worked.
pub(crate) fn install(package: &str) -> bool {
    let is_root = process::stdout(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root || !workspace::installed("apt-get") {
        return false;
    }
    println!("installing {package}");
    // What it prints is of use only when it fails, and then the error has it.
    let apt = |arguments: &[&str]| {
        process::stdout(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let install = ["install", "-y", "-qq", package];
    let installed = apt(&install).or_else(|_| apt(&["update", "-qq"]).and_then(|_| apt(&install)));
    installed.inspect_err(|error| println!("{package} was not installed: {error:#}")).is_ok()
}
