//! Judges from PyPI: each is installed once, into a virtual environment of its own.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::{process, workspace};

/// A program on PyPI.
pub(super) struct Package {
    /// What it is called there, and what its folder is called.
    pub(super) name: &'static str,
    /// What is asked for beside it, such as `[proxy]`.
    pub(super) extra: &'static str,
    /// The release that judges.
    pub(super) version: &'static str,
    /// The program that it brings.
    pub(super) program: &'static str,
    /// The variable that names another folder.
    pub(super) variable: &'static str,
}

impl Package {
    /// Finds the program, and installs it when it is not there.
    pub(super) fn installed(&self) -> Result<PathBuf> {
        let folder = match (env::var_os(self.variable), env::var_os("HOME")) {
            (Some(folder), _) => PathBuf::from(folder),
            (None, Some(home)) => Path::new(&home).join(".cache/ramus-oracles").join(self.name),
            (None, None) => bail!("neither {} nor HOME is set", self.variable),
        };
        let program = folder.join("bin").join(self.program);
        if self.is_in(&folder) {
            return Ok(program);
        }
        ensure!(workspace::installed("python3"), "python3 is not installed");
        println!("installing {} {} (some minutes, once)", self.name, self.version);
        process::stdout(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let package = format!("{}{}=={}", self.name, self.extra, self.version);
        process::stdout(Command::new(folder.join("bin/pip")).args(["install", "--quiet", &package]))?;
        ensure!(self.is_in(&folder), "the installation of {} is incomplete", self.name);
        Ok(program)
    }

    fn is_in(&self, folder: &Path) -> bool {
        let libraries = fs::read_dir(folder.join("lib")).into_iter().flatten().flatten();
        let mut packages = libraries.map(|library| library.path().join("site-packages"));
        let about = format!("{}-{}.dist-info", self.name, self.version);
        folder.join("bin").join(self.program).is_file() && packages.any(|packages| packages.join(&about).is_dir())
    }
}
