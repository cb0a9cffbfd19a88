//! The sandbox: what the kernel keeps a command from, whatever it does. The workspace and a few other places can be written,
//! everything else can be read, and secrets can be neither, only their names can be listed. The network is not restricted.
//!
//! A program restricts itself and then becomes the command, so starting one takes a helper: a program that calls [`enter`]
//! with the words behind its own. It does not start the command unrestricted: when the kernel does not enforce everything,
//! the helper ends with an error. It also submits to a witness, whose socket is its standard input.

mod grant;

use std::ffi::OsString;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The least that the kernel must know: it guards truncation since this version.
const LEAST: ABI = ABI::V3;
/// The most that is asked for.
const MOST: ABI = ABI::V6;

/// What a command may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Places that can be written.
    pub writable: Vec<PathBuf>,
    /// Places that can neither be read nor written, even inside one that can.
    pub hidden: Vec<PathBuf>,
}

/// Where people keep credentials, in their home.
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".pgpass",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".config/gh",
    ".config/gcloud",
    ".password-store",
    ".mozilla",
    ".cargo/credentials.toml",
];

impl Policy {
    /// Makes the usual policy: the workspace and temporary files can be written, and what people keep secret is hidden, as is
    /// the home of ramus.
    pub fn usual(workspace: &Path, home: &Path, ramus: &Path) -> Self {
        let hidden = SECRETS.iter().map(|secret| home.join(secret)).filter(|secret| secret.exists());
        Self {
            writable: vec![workspace.to_owned(), "/tmp".into(), "/var/tmp".into()],
            hidden: hidden.chain([ramus.to_owned()]).collect(),
        }
    }
}

/// Whether commands are kept in bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The kernel does.
    Enforced,
    /// It could not be, and why.
    Unavailable(String),
    /// Nobody asked for it.
    Off,
}

impl Status {
    /// Returns it in words, for results and reports.
    pub fn describe(&self) -> String {
        match self {
            Self::Enforced => "in a sandbox".to_owned(),
            Self::Unavailable(reason) => format!("without a sandbox: {reason}"),
            Self::Off => "without a sandbox: it is off".to_owned(),
        }
    }
}

/// How commands are put in bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// The helper and the words that make it one.
    pub helper: Vec<OsString>,
    /// What commands may reach.
    pub policy: Policy,
}

/// Why a command could not be put in bounds.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The words are not those of a helper.
    #[error("the sandbox needs a policy and a command")]
    Usage,
    /// The policy does not read as one.
    #[error("the policy of the sandbox is not one: {0}")]
    Policy(#[from] serde_json::Error),
    /// The kernel does not enforce it.
    #[error("the kernel does not enforce the sandbox: {0}")]
    NotEnforced(String),
    /// Nobody looks on, although the kernel asks them.
    #[error("the command cannot be watched: {0}")]
    Witness(std::io::Error),
    /// The command did not start.
    #[error("{0}")]
    Command(#[from] std::io::Error),
}

impl Sandbox {
    /// Says whether the kernel of this machine can enforce a sandbox.
    pub fn status() -> Status {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        match ruleset.handle_access(AccessFs::from_all(LEAST)).and_then(Ruleset::create) {
            Ok(_) => Status::Enforced,
            Err(error) => Status::Unavailable(error.to_string()),
        }
    }

    /// Returns the words that run a command in bounds.
    pub fn wrap(&self, command: Vec<OsString>) -> Result<Vec<OsString>, SandboxError> {
        let mut words = self.helper.clone();
        words.push(serde_json::to_string(&self.policy)?.into());
        words.extend(command);
        Ok(words)
    }
}

/// Restricts this process and becomes the command. `words` are a policy and the command. Returns only when that failed.
pub fn enter(words: Vec<OsString>) -> SandboxError {
    match restrict(words) {
        Ok(mut command) => SandboxError::Command(command.exec()),
        Err(error) => error,
    }
}

fn restrict(words: Vec<OsString>) -> Result<Command, SandboxError> {
    let mut words = words.into_iter();
    let (Some(policy), Some(program)) = (words.next(), words.next()) else { return Err(SandboxError::Usage) };
    let policy: Policy = serde_json::from_str(policy.to_str().ok_or(SandboxError::Usage)?)?;
    let refused = |error: landlock::RulesetError| SandboxError::NotEnforced(error.to_string());
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))
        .map_err(refused)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V4))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(MOST)))
        .and_then(Ruleset::create)
        .map_err(refused)?;
    for (path, access) in grant::grants(&policy) {
        // What went meanwhile needs no rule.
        let Ok(descriptor) = PathFd::new(&path) else { continue };
        ruleset = ruleset.add_rule(PathBeneath::new(descriptor, access)).map_err(refused)?;
    }
    match ruleset.restrict_self().map_err(refused)?.ruleset {
        RulesetStatus::NotEnforced => Err(SandboxError::NotEnforced("it has no Landlock".to_owned())),
        _ => {
            let mut command = Command::new(program);
            // What the command reads is nothing, whatever we were given.
            command.args(words).stdin(Stdio::null());
            let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
            // Only what comes from here on can be seen, so this is the last thing.
            ramus_witness::submit(UnixStream::from(socket)).map_err(SandboxError::Witness)?;
            Ok(command)
        }
    }
}
