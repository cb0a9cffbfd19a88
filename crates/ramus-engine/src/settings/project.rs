//! Settings that a project brings along, in `.ramus/config.toml` of its directories. Whoever wrote the project wrote them, so
//! they count for nothing until the user has trusted exactly these bytes: any change makes them inert again. Reading them
//! runs nothing and follows no link, and a file that someone else owns is refused.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use ramus_model::time;
use ramus_provider::KNOWN;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Tables;
use super::tables::{Given, Reach};
use crate::error::EngineError;
use crate::kept::Kept;

/// The directory and the file in it.
const PLACE: (&str, &str) = (".ramus", "config.toml");

/// The longest file that is read.
const LONGEST: u64 = 256 << 10;

/// A settings file of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says, which is what was hashed.
    pub text: String,
    /// The SHA-256 of its bytes.
    pub sha256: String,
}

/// A settings file of a project that is not even looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Where it is.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// Finds the files that count in a directory: from the root of its project down to it. Without a project, only its own.
pub fn find(directory: &str) -> Vec<Result<ProjectFile, Refused>> {
    let root = crate::project::find(directory).map_or_else(|| directory.to_owned(), |project| project.root);
    let directory = Path::new(directory);
    let above = directory.ancestors().take_while(|above| above.starts_with(&root));
    let mut found: Vec<_> = above.filter_map(|place| read(place).transpose()).collect();
    found.reverse();
    found
}

/// Reads the file of one directory; none when there is none.
fn read(place: &Path) -> Result<Option<ProjectFile>, Refused> {
    let path = place.join(PLACE.0).join(PLACE.1);
    let refused = |reason: String| Refused { path: path.clone(), reason };
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = openat(CWD, place.join(PLACE.0), flags | OFlags::DIRECTORY | OFlags::PATH, Mode::empty())
        .and_then(|folder| Ok((openat(&folder, PLACE.1, flags | OFlags::RDONLY, Mode::empty())?, folder)));
    let is_link = || std::fs::symlink_metadata(place.join(PLACE.0)).is_ok_and(|found| found.is_symlink());
    let (file, folder) = match opened {
        Ok((file, folder)) => (std::fs::File::from(file), std::fs::File::from(folder)),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::NOTDIR) if !is_link() => return Ok(None),
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(refused("it is a link, or lies behind one".into())),
        Err(error) => return Err(refused(error.to_string())),
    };
    let user = rustix::process::geteuid().as_raw();
    for opened in [&folder, &file] {
        let found = opened.metadata().map_err(|error| refused(error.to_string()))?;
        if found.uid() != user {
            return Err(refused("it belongs to someone else".into()));
        }
    }
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return Err(refused("it is no file".into()));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| refused(error.to_string()))?;
    if bytes.len() as u64 > LONGEST {
        return Err(refused(format!("it has more than {LONGEST} bytes")));
    }
    let sha256 = hex::encode(Sha256::digest(&bytes));
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8".into()))?;
    Ok(Some(ProjectFile { path, text, sha256 }))
}

/// Refuses what no project may say, trusted or not: who is asked with the user's keys, and which keys are used.
pub(super) fn check(tables: &Tables, user: &Tables, name: &str) -> Result<(), EngineError> {
    let wrong = |message: String| {
        let hint = "put it in the config.toml of the home: `ramus config show` says where that is".to_owned();
        Err(EngineError::Setting { message: format!("{name}: {message}"), hint: Some(hint) })
    };
    for (provider, said) in &tables.providers {
        if user.providers.contains_key(provider) || KNOWN.iter().any(|known| known.name == provider) {
            return wrong(format!("the provider {provider} is the user's, and a project cannot change it"));
        }
        let named = said.headers.values().any(|value| matches!(value, Given::Variable(_)));
        if said.key_env.is_some() || named {
            return wrong(format!("the provider {provider} is a project's, and cannot be given keys"));
        }
    }
    for (server, said) in &tables.mcp {
        let asks_for_keys = match &said.reach {
            Reach::Address { key_env, headers, .. } => {
                key_env.is_some() || headers.values().any(|value| matches!(value, Given::Variable(_)))
            }
            Reach::Program { .. } => false,
        };
        if user.mcp.contains_key(server) {
            return wrong(format!("the MCP server {server} is the user's, and a project cannot change it"));
        }
        if asks_for_keys {
            return wrong(format!("the MCP server {server} is a project's, and cannot be given keys"));
        }
    }
    Ok(())
}

/// Which files are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    kept: Kept,
}

/// That a file is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// Where it is.
    pub file: PathBuf,
    /// What it says, by its SHA-256.
    pub sha256: String,
    /// Since when.
    pub time: String,
}

impl Trust {
    /// Names the list of a home.
    pub fn of_home(home: &Path) -> Self {
        Self { kept: Kept::at(home.join("trust.json")) }
    }

    /// Returns all that is trusted.
    pub fn all(&self) -> Result<Vec<Trusted>, EngineError> {
        self.kept.read()
    }

    /// Says whether a file is trusted, as it is.
    pub fn holds(&self, file: &ProjectFile) -> Result<bool, EngineError> {
        Ok(self.all()?.iter().any(|known| known.file == file.path && known.sha256 == file.sha256))
    }

    /// Trusts a file as it is, and as nothing else.
    pub fn grant(&self, file: &ProjectFile, now: i64) -> Result<(), EngineError> {
        let trusted = Trusted { file: file.path.clone(), sha256: file.sha256.clone(), time: time::format(now) };
        self.kept.change(|list: &mut Vec<Trusted>| {
            list.retain(|known| known.file != trusted.file);
            list.push(trusted);
            true
        })
    }

    /// Trusts a file no longer. Says whether it was trusted.
    pub fn revoke(&self, file: &Path) -> Result<bool, EngineError> {
        let mut was = false;
        self.kept.change(|list: &mut Vec<Trusted>| {
            let before = list.len();
            list.retain(|known| known.file != file);
            was = list.len() < before;
            was
        })?;
        Ok(was)
    }
}
