//! Tokens: from the environment, from a file, or made at the first start and kept in the home, where only its user reads.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ramus_server::{Access, NoRole, Role, Token};

use crate::failure::Refusal;
use crate::home::Home;
use crate::invocation::Invocation;
use crate::providers::variable;

/// The file of the token in the home.
const FILE: &str = "token";

/// Where the token comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// RAMUS_TOKEN.
    Environment,
    /// A file that was there.
    Kept(PathBuf),
    /// A file that was made.
    New(PathBuf),
}

/// The token, and those of others.
pub(crate) struct Keys {
    origin: Origin,
    owner: String,
    token: Token,
    others: Vec<Other>,
}

/// Someone else who may come in.
struct Other {
    owner: String,
    token: Token,
    role: Role,
}

impl Keys {
    /// Finds the token of a home, or the one in a file.
    pub(crate) fn of(invocation: &Invocation<'_>, file: Option<&Path>) -> anyhow::Result<Self> {
        let owner = invocation.home.settings().get("owner")?.0.to_owned();
        Self::find(&invocation.home, file, owner)
    }

    /// Finds the token.
    fn find(home: &Home, file: Option<&Path>, owner: String) -> anyhow::Result<Self> {
        if let Some(text) = variable("RAMUS_TOKEN").filter(|_| file.is_none()) {
            let token = token(text.trim(), "RAMUS_TOKEN")?;
            return Ok(Self { origin: Origin::Environment, owner, token, others: Vec::new() });
        }
        let path = file.map_or_else(|| home.root().join(FILE), Path::to_owned);
        match read(&path) {
            Ok(text) => {
                let (token, others) = parse(&text, &path)?;
                Ok(Self { origin: Origin::Kept(path), owner, token, others })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && file.is_none() => {
                home.make()?;
                let token = Token::random();
                keep(&path, &token).with_context(|| format!("cannot keep the token in {}", path.display()))?;
                Ok(Self { origin: Origin::New(path), owner, token, others: Vec::new() })
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let message = format!("others may read the token in {}", path.display());
                Err(Refusal::usage(message).hint("make the file yours alone: chmod 600").into())
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    pub(crate) fn token(&self) -> &Token {
        &self.token
    }

    /// Says who may come in.
    pub(super) fn access(&self) -> Access {
        let access = Access::new(self.owner.clone(), &self.token);
        self.others.iter().fold(access, |access, other| access.with(other.owner.clone(), &other.token, other.role))
    }
}

/// Reads a file that nobody else can read.
fn read(path: &Path) -> io::Result<String> {
    let found = fs::metadata(path)?;
    if found.mode() & 0o077 != 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    fs::read_to_string(path)
}

/// Makes the file of a token. One that is there is not overwritten.
fn keep(path: &Path, token: &Token) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", token.reveal())?;
    file.sync_all()
}

/// Reads the token, and behind it one line for each of the others.
fn parse(text: &str, path: &Path) -> anyhow::Result<(Token, Vec<Other>)> {
    let name = path.display().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next().ok_or_else(|| Refusal::usage(format!("there is no token in {name}")))?;
    let mut others = Vec::new();
    for line in lines {
        let wrong = || Refusal::usage(format!("a line of {name} is not OWNER TOKEN [ROLE]"));
        let words: Vec<&str> = line.split_whitespace().collect();
        let (owner, text, role) = match words.as_slice() {
            [owner, text] => (owner, text, Role::Admin),
            [owner, text, role] => (owner, text, role.parse().map_err(|error| no_role(&error, &name))?),
            _ => return Err(wrong().into()),
        };
        others.push(Other { owner: (*owner).to_owned(), token: token(text, &name)?, role });
    }
    Ok((token(first, &name)?, others))
}

fn no_role(error: &NoRole, place: &str) -> Refusal {
    Refusal::usage(format!("a line of {place} cannot be used: {error}"))
}

fn token(text: &str, place: &str) -> Result<Token, Refusal> {
    let wrong = |error| Refusal::usage(format!("the token in {place} cannot be used: {error}"));
    Token::new(text).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_the_token_and_those_of_others() {
        let text = "# ours\n0123456789abcdef\n\nbob fedcba9876543210\nmay 0123456789fedcba  view\n";
        let (token, others) = parse(text, Path::new("t")).unwrap_or_else(|_| (Token::random(), Vec::new()));
        assert_eq!(token.reveal(), "0123456789abcdef");
        assert_eq!(
            others.iter().map(|other| (&*other.owner, other.token.reveal(), other.role)).collect::<Vec<_>>(),
            [("bob", "fedcba9876543210", Role::Admin), ("may", "0123456789fedcba", Role::View)]
        );
        for wrong in
            ["", "# nothing\n", "short\n", "0123456789abcdef\nbob\n", "0123456789abcdef\nbob fedcba9876543210 root\n"]
        {
            assert!(parse(wrong, Path::new("t")).is_err(), "{wrong:?}");
        }
    }
}
