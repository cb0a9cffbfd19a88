//! Which server commands are for, and what lets them in: the options, the environment, and what the home keeps.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ramus_client::{Client, Located, Options, Token};

use crate::cli::Global;
use crate::failure::Refusal;
use crate::file::{self, Access};
use crate::home::Home;
use crate::providers::variable;

/// The file of the tokens in the home.
const FILE: &str = "servers.json";

/// The server that was named.
pub(crate) struct Named {
    located: Located,
}

impl Named {
    /// Returns the server that commands are for; none when they are for the home.
    pub(crate) fn of(global: &Global) -> anyhow::Result<Option<Self>> {
        let Some(text) = global.server.clone().or_else(|| variable("RAMUS_SERVER")) else { return Ok(None) };
        Ok(Some(Self { located: text.parse()? }))
    }

    /// Returns what the server is called.
    pub(crate) fn name(&self) -> String {
        self.located.address.to_string()
    }

    /// Says whether nobody on the way can read what is sent.
    pub(crate) fn is_private(&self) -> bool {
        self.located.address.is_private()
    }

    /// Finds the token: the one that is given, or the one that is kept in the home.
    pub(crate) fn token(&self, global: &Global, home: &Home) -> anyhow::Result<Option<Token>> {
        match self.given(global)? {
            Some(token) => Ok(Some(token)),
            None => Kept::of(home).token(&self.name()),
        }
    }

    /// Returns the token of the login URL, of the file that is named, or of the environment.
    pub(crate) fn given(&self, global: &Global) -> anyhow::Result<Option<Token>> {
        if let Some(token) = &self.located.token {
            return Ok(Some(token.clone()));
        }
        if let Some(path) = &global.token_file {
            let text = read(path)?;
            let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
            let missing = || Refusal::usage(format!("there is no token in {}", path.display()));
            return Ok(Some(Token::new(first.ok_or_else(missing)?)));
        }
        Ok(variable("RAMUS_TOKEN").map(Token::new))
    }

    /// Makes a client.
    pub(crate) fn client(&self, global: &Global, token: Option<Token>) -> anyhow::Result<Client> {
        let unreadable = |path: &PathBuf| format!("cannot read {}", path.display());
        let certificates = global.cacert.as_ref().map(|path| std::fs::read(path).with_context(|| unreadable(path)));
        let options =
            Options { certificates: certificates.transpose()?, surface: Some("cli".into()), ..Options::default() };
        Ok(Client::with(&self.located.address, token, &options)?)
    }
}

/// The tokens that a home keeps, by server.
pub(crate) struct Kept {
    path: PathBuf,
}

impl Kept {
    pub(crate) fn of(home: &Home) -> Self {
        Self { path: home.root().join(FILE) }
    }

    fn token(&self, server: &str) -> anyhow::Result<Option<Token>> {
        Ok(self.read()?.get(server).map(Token::new))
    }

    /// Keeps a token.
    pub(crate) fn keep(&self, server: &str, token: &Token) -> anyhow::Result<()> {
        let mut all = self.read()?;
        all.insert(server.to_owned(), token.reveal().to_owned());
        self.write(&all)
    }

    /// Forgets a token. Says whether there was one.
    pub(crate) fn forget(&self, server: &str) -> anyhow::Result<bool> {
        let mut all = self.read()?;
        let was_there = all.remove(server).is_some();
        if was_there {
            self.write(&all)?;
        }
        Ok(was_there)
    }

    fn read(&self) -> anyhow::Result<BTreeMap<String, String>> {
        match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            _ => {}
        }
        let text = read(&self.path)?;
        let wrong = |_| Refusal::invalid(format!("{} is not what this version wrote", self.path.display()));
        // What is wrong with it is not repeated: it holds tokens.
        Ok(serde_json::from_str(&text).map_err(wrong)?)
    }

    fn write(&self, all: &BTreeMap<String, String>) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(all)? + "\n";
        let written = file::write_whole(&self.path, text.as_bytes(), Access::Private);
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Reads a file that nobody else can read.
fn read(path: &Path) -> anyhow::Result<String> {
    let unreadable = || format!("cannot read {}", path.display());
    if std::fs::metadata(path).with_context(unreadable)?.mode() & 0o077 != 0 {
        let message = format!("others may read the token in {}", path.display());
        return Err(Refusal::usage(message).hint("make the file yours alone: chmod 600").into());
    }
    std::fs::read_to_string(path).with_context(unreadable)
}
