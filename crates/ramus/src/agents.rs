//! What the environment says about other agents: where they keep their sessions. Only names and directories are read.

use std::path::PathBuf;

use ramus_interchange::Format;
use ramus_interchange::place::{Environment, Root, roots};

use crate::failure::Refusal;

/// Reads the environment. A directory that is not named belongs to nobody.
pub(crate) fn environment(cwd: &str) -> anyhow::Result<Environment> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let missing =
        || Refusal::usage("there is no home directory").hint("set HOME to the directory where agents keep things");
    let mut environment = Environment::new(home.ok_or_else(missing)?, std::env::temp_dir()).working(cwd);
    for name in Environment::VARIABLES {
        environment = environment.with(name, std::env::var_os(name).map(PathBuf::from).unwrap_or_default());
    }
    Ok(environment)
}

/// Returns where an agent, or every one, may keep sessions.
pub(crate) fn stores(environment: &Environment, of: Option<Format>) -> Vec<Root> {
    let all = Format::ALL.iter().filter(|format| of.is_none_or(|of| of == **format));
    all.flat_map(|format| roots(*format, environment)).collect()
}

/// Reads the name of an agent whose sessions can be read, or written.
pub(crate) fn named(name: &str, is_wanted: impl Fn(Format) -> bool) -> anyhow::Result<Format> {
    let found = Format::from_name(name).filter(|format| is_wanted(*format));
    let names: Vec<&str> =
        Format::ALL.iter().filter(|format| is_wanted(**format)).map(|format| format.name()).collect();
    let unknown =
        || Refusal::usage(format!("no agent is called {name:?}")).hint(format!("there are {}", names.join(", ")));
    Ok(found.ok_or_else(unknown)?)
}
