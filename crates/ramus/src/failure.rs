//! How a command ends: exit codes, and errors as people and programs read them.
//!
//! One map from an error to its kind and exit code. People get `error:`, `caused by:` and `hint:`; programs get one JSON
//! object. Both go to stderr.

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use ramus_engine::{EngineError, ErrorKind};
use serde_json::{Map, json};

use crate::render::{Text, style};
use crate::screen::{Format, Screen};

/// The exit code of wrong usage.
pub(crate) const USAGE: u8 = 2;

/// How a command that did its work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Done,
    /// Something is damaged or missing; the output says what.
    Partial,
    /// It could not be done; the output says why.
    Failed,
    /// Someone stopped it.
    Interrupted,
}

impl Exit {
    pub(crate) fn code(self) -> ExitCode {
        match self {
            Self::Done => ExitCode::SUCCESS,
            Self::Partial => ExitCode::from(5),
            Self::Failed => ExitCode::from(1),
            Self::Interrupted => ExitCode::from(130),
        }
    }
}

/// Why the command line itself refuses, before or beside the engine.
#[derive(Debug)]
pub(crate) struct Refusal {
    kind: RefusalKind,
    message: String,
    hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RefusalKind {
    Usage,
    NotFound,
    Invalid,
    Unavailable,
    Io,
}

impl Refusal {
    fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// The call is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Usage, message)
    }

    /// There is no such thing.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::NotFound, message)
    }

    /// The input is wrong.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Invalid, message)
    }

    /// This version cannot do that.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Unavailable, message)
    }

    /// The system failed.
    pub(crate) fn io(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Io, message)
    }

    /// Adds what might be done about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// An error, ready to be shown.
pub(crate) struct Failure {
    kind: &'static str,
    message: String,
    causes: Vec<String>,
    hint: Option<String>,
}

impl Failure {
    /// Sorts an error; none when it only means that nobody reads our output any more.
    pub(crate) fn of(error: &anyhow::Error) -> Option<Self> {
        let (kind, hint) = if let Some(refusal) = error.downcast_ref::<Refusal>() {
            let kind = match refusal.kind {
                RefusalKind::Usage => ErrorKind::Usage.name(),
                RefusalKind::NotFound => ErrorKind::NotFound.name(),
                RefusalKind::Invalid => ErrorKind::Invalid.name(),
                RefusalKind::Unavailable => "unavailable",
                RefusalKind::Io => ErrorKind::Io.name(),
            };
            (kind, refusal.hint.clone())
        } else if let Some(error) = error.downcast_ref::<ramus_client::Error>() {
            (known(error.kind()), told_by_server(error))
        } else if let Some(error) = error.downcast_ref::<EngineError>() {
            (error.kind().name(), error.hint())
        } else {
            match error.downcast_ref::<io::Error>().map(io::Error::kind) {
                Some(io::ErrorKind::BrokenPipe) => return None,
                Some(io::ErrorKind::NotFound) => (ErrorKind::NotFound.name(), None),
                Some(io::ErrorKind::PermissionDenied) => (ErrorKind::Denied.name(), None),
                Some(io::ErrorKind::StorageFull) => (ErrorKind::Full.name(), None),
                _ => (ErrorKind::Io.name(), None),
            }
        };
        let mut chain = error.chain().map(ToString::to_string);
        Some(Self { kind, message: chain.next().unwrap_or_default(), causes: chain.collect(), hint })
    }

    /// Makes a failure of what the argument parser says.
    pub(crate) fn usage(said: &str) -> Self {
        let said = said.trim().strip_prefix("error: ").unwrap_or(said.trim());
        let (message, rest) = said.split_once("\n\n").unwrap_or((said, ""));
        let hint = rest.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
        let message = message.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        Self { kind: "usage", message, causes: Vec::new(), hint: (!hint.is_empty()).then_some(hint) }
    }

    /// Returns the kind, what is said with its causes, and the hint.
    pub(crate) fn into_parts(self) -> (&'static str, String, Option<String>) {
        let said: Vec<String> = std::iter::once(self.message).chain(self.causes).collect();
        (self.kind, said.join(": "), self.hint)
    }

    fn code(&self) -> u8 {
        match self.kind {
            "usage" => USAGE,
            "not-found" => 3,
            "busy" | "conflict" => 4,
            "corrupt" => 5,
            _ => 1,
        }
    }

    /// Tells the failure and returns the exit code.
    pub(crate) fn report(&self, screen: &mut Screen) -> ExitCode {
        // When stderr is gone too, the exit code is all there is left to say.
        let _ = match screen.format() {
            Format::Json => self.tell_programs(screen),
            Format::Text => self.tell_people(screen),
        };
        ExitCode::from(self.code())
    }

    fn tell_programs(&self, screen: &mut Screen) -> anyhow::Result<()> {
        let mut error = json!({"kind": self.kind, "message": self.message, "hint": self.hint});
        if let Some(object) = error.as_object_mut().filter(|_| !self.causes.is_empty()) {
            object.insert("causes".into(), self.causes.clone().into());
        }
        screen.complain_json(Map::from_iter([("error".to_owned(), error)]))
    }

    fn tell_people(&self, screen: &mut Screen) -> anyhow::Result<()> {
        let mut text = Text::new();
        text.styled(style::ERROR, "error:").plain(" ").plain(&self.message).end();
        for cause in &self.causes {
            text.styled(style::ERROR, "caused by:").plain(" ").plain(cause).end();
        }
        if let Some(hint) = &self.hint {
            text.styled(style::HINT, "hint:").plain(" ").plain(hint).end();
        }
        screen.complain(&text)
    }
}

/// The kinds of errors, as they are told.
const KINDS: [&str; 13] = [
    "usage",
    "not-found",
    "ambiguous",
    "busy",
    "conflict",
    "invalid",
    "corrupt",
    "degraded",
    "denied",
    "full",
    "context-full",
    "io",
    "unavailable",
];

/// A kind that a server names; what nobody knows is a failure.
fn known(kind: &str) -> &'static str {
    KINDS.into_iter().find(|known| *known == kind).unwrap_or("io")
}

/// What might be done about what a server says.
fn told_by_server(error: &ramus_client::Error) -> Option<String> {
    match error.status() {
        Some(401) => {
            Some("`ramus --server URL login` keeps the token; RAMUS_TOKEN and --token-file name it".to_owned())
        }
        _ => error.hint(),
    }
}

/// Says on stderr why a helper of this program could not do its work.
pub(crate) fn report_plainly(error: &dyn std::error::Error) -> ExitCode {
    // There is nobody else to tell.
    let _ = writeln!(io::stderr(), "error: {error}");
    ExitCode::from(126)
}
