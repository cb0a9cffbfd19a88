//! Why a request has no answer. No error holds a token.

use thiserror::Error;

/// What a server says instead of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status of the answer.
    pub status: u16,
    /// What kind of trouble it is: `not-found`, `busy`, `conflict`, … as the commands name it.
    pub kind: String,
    /// What is wrong.
    pub message: String,
    /// What might be done about it.
    pub hint: Option<String>,
}

/// Why a request has no answer, by what the caller can do.
#[derive(Debug, Error)]
pub enum Error {
    /// That is no address.
    #[error("{0}")]
    Address(String),
    /// The certificates to trust, or something else the client was given, cannot be used.
    #[error("{0}")]
    Setup(String),
    /// Nobody answers there.
    #[error("cannot reach {server}: {reason}")]
    Unreachable {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// It takes too long.
    #[error("{server} did not answer in time")]
    Late {
        /// The server.
        server: String,
    },
    /// The connection broke off in the middle.
    #[error("the connection to {server} broke off: {reason}")]
    Broken {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// The server was started anew, which ended what was watched.
    #[error("{server} was started anew while the turn ran; what it did until then is in the session")]
    Restarted {
        /// The server.
        server: String,
    },
    /// Somebody answers, but not a ramus server.
    #[error("{server} is no ramus server: {reason}")]
    Stranger {
        /// The server.
        server: String,
        /// What it said instead.
        reason: String,
    },
    /// The server is of another version, whose answers this client does not understand.
    #[error("{server} answers with version {found} of the shapes, and this client understands version 1")]
    Version {
        /// The server.
        server: String,
        /// What it says.
        found: u64,
    },
    /// The server refuses.
    #[error("{}", .0.message)]
    Refused(Refusal),
}

impl Error {
    /// Returns what kind of trouble it is, as the commands name it.
    pub fn kind(&self) -> &str {
        match self {
            Self::Address(_) | Self::Setup(_) => "usage",
            Self::Unreachable { .. } | Self::Broken { .. } => "io",
            Self::Late { .. } => "busy",
            Self::Restarted { .. } => "conflict",
            Self::Stranger { .. } | Self::Version { .. } => "unavailable",
            Self::Refused(refusal) => &refusal.kind,
        }
    }

    /// Returns the status that the server answered with, if it did.
    pub fn status(&self) -> Option<u16> {
        if let Self::Refused(refusal) = self { Some(refusal.status) } else { None }
    }

    /// Returns what might be done about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreachable { .. } => Some("is `ramus serve` running there, and is the address right?".into()),
            Self::Stranger { .. } => Some("check the address: `ramus serve` prints it".into()),
            Self::Version { .. } => Some("use the same version of ramus at both ends".into()),
            Self::Late { .. } => Some("it may still be carried out; look before trying again".into()),
            Self::Refused(refusal) => refusal.hint.clone(),
            Self::Address(_) | Self::Setup(_) | Self::Broken { .. } | Self::Restarted { .. } => None,
        }
    }

    /// Says whether the connection is to blame, and not what was asked.
    pub fn is_connection(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Broken { .. } | Self::Late { .. })
    }
}
