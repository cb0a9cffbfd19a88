//! Tokens: from the environment, from a file, or made at the first start and kept in the home, where only its user reads.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ramus_model::time;
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
    /// A file that is made as soon as the server listens.
    New(PathBuf),
}

/// The token, and those of others.
#[derive(Clone)]
pub(crate) struct Keys {
    origin: Origin,
    owner: String,
    token: Token,
    others: Vec<Other>,
}

/// Someone else who may come in.
#[derive(Clone)]
struct Other {
    owner: String,
    token: Token,
    role: Role,
    /// When not any more, in milliseconds since 1970.
    expires: Option<i64>,
}

impl Keys {
    /// Finds the token of a home, or the one in a file. One that is made now is kept by [`Keys::kept`].
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
                Ok(Self { origin: Origin::New(path), owner, token: Token::random(), others: Vec::new() })
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let message = format!("others may read the token in {}", path.display());
                Err(Refusal::usage(message).hint("make the file yours alone: chmod 600").into())
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Keeps a token that is new. When another server was faster, its token is the one of the home.
    pub(crate) fn kept(self, home: &Home) -> anyhow::Result<Self> {
        let Origin::New(path) = &self.origin else { return Ok(self) };
        home.make()?;
        match keep(path, &self.token) {
            Ok(()) => Ok(self),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let (token, others) = parse(&read(path)?, path)?;
                Ok(Self { origin: Origin::Kept(path.clone()), owner: self.owner, token, others })
            }
            Err(error) => Err(error).with_context(|| format!("cannot keep the token in {}", path.display())),
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
        self.others.iter().fold(access, |access, other| {
            let access = access.with(other.owner.clone(), &other.token, other.role);
            match other.expires {
                Some(expires) => access.until(expires),
                None => access,
            }
        })
    }

    /// Returns the file that they are in.
    pub(super) fn file(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Environment => None,
            Origin::Kept(path) | Origin::New(path) => Some(path),
        }
    }

    /// Reads the file again, if they are in one.
    pub(super) fn again(&self) -> anyhow::Result<Self> {
        let Some(path) = self.file() else { return Ok(self.clone()) };
        let (token, others) = parse(&read(path)?, path)?;
        Ok(Self { origin: self.origin.clone(), owner: self.owner.clone(), token, others })
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
        let mut words = line.split_whitespace();
        let (Some(owner), Some(text)) = (words.next(), words.next()) else { return Err(wrong(&name).into()) };
        let (mut role, mut expires) = (None, None);
        for word in words {
            let is_new = match word.strip_prefix("expires=") {
                Some(time) => expires.replace(moment(time).ok_or_else(|| wrong(&name))?).is_none(),
                None => role.replace(word.parse::<Role>().map_err(|error| no_role(error, &name))?).is_none(),
            };
            if !is_new {
                return Err(wrong(&name).into());
            }
        }
        let role = role.unwrap_or(Role::Admin);
        others.push(Other { owner: owner.to_owned(), token: token(text, &name)?, role, expires });
    }
    Ok((token(first, &name)?, others))
}

fn wrong(place: &str) -> Refusal {
    Refusal::usage(format!("a line of {place} is not OWNER TOKEN [ROLE] [expires=TIME]"))
        .hint("a time is 2026-12-31, which ends when that day begins in UTC, or 2026-12-31T18:00:00Z")
}

/// Reads a time, or a day.
fn moment(text: &str) -> Option<i64> {
    time::parse(text).or_else(|| time::parse(&format!("{text}T00:00:00Z")))
}

fn no_role(error: NoRole, place: &str) -> Refusal {
    Refusal::usage(format!("a line of {place} cannot be used: {error}"))
        .hint("a line is OWNER TOKEN [ROLE] [expires=TIME]")
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
        let line = |rest: &str| parse(&format!("0123456789abcdef\nbob fedcba9876543210 {rest}\n"), Path::new("t"));
        let ends =
            |rest: &str| line(rest).ok().and_then(|(_, others)| others.first().map(|one| (one.role, one.expires)));
        let day = time::parse("2026-12-31T00:00:00Z");
        assert_eq!(ends("expires=2026-12-31"), Some((Role::Admin, day)));
        assert_eq!(ends("view expires=2026-12-31T00:00:00Z"), Some((Role::View, day)));
        for wrong in ["expires=", "expires=soon", "view view", "expires=2026-12-31 expires=2026-12-31", "view x"] {
            assert!(line(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_token_in_the_place_of_a_role_is_not_told() {
        for line in ["bob view fedcba9876543210", "bob admin fedcba9876543210 expires=2026-12-31"] {
            let error = parse(&format!("0123456789abcdef\n{line}\n"), Path::new("t")).err();
            let told = error.map(|error| format!("{error:#} {error:?}")).unwrap_or_default();
            assert!(told.contains("no role") && !told.contains("fedcba9876543210"), "{told}");
        }
    }
}
