//! What can go wrong between a request and the end of its answer, by what can be done about it.
//!
//! No error carries a key: messages are scrubbed before they get here, and addresses are named by their host.

use std::time::Duration;

use thiserror::Error;

use crate::secret::Secret;

/// Why an answer did not come, or not to its end. A stream yields at most one, as its last item.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProviderError {
    /// The provider has no room for the request now. It may have later.
    #[error("the provider is busy: {message}")]
    Busy {
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
        /// What it said.
        message: String,
    },
    /// The request is longer than the model, or the provider, can take.
    #[error("the request is too long for the model{}: {message}", counts(*needed, *available))]
    Overflow {
        /// How many tokens the request needs, when the provider says so.
        needed: Option<u64>,
        /// How many there are, when it says so.
        available: Option<u64>,
        /// What it said.
        message: String,
    },
    /// The key is missing, wrong, not allowed to do this, or has no money left.
    #[error("the provider denies access: {message}")]
    Denied {
        /// What it said.
        message: String,
    },
    /// The conversation is not accepted as it is. A simpler one may be.
    #[error("the provider does not accept the conversation: {message}")]
    History {
        /// What it said.
        message: String,
    },
    /// The request is not accepted for another reason. Sending it again changes nothing.
    #[error("the provider does not accept the request: {message}")]
    Invalid {
        /// What it said.
        message: String,
    },
    /// There is no such model, or nothing at that address.
    #[error("not found: {message}")]
    NotFound {
        /// What the provider said.
        message: String,
    },
    /// The provider failed. It may work later.
    #[error("the provider failed: {message}")]
    Failed {
        /// The status, when it came as one.
        status: Option<u16>,
        /// What it said.
        message: String,
    },
    /// Nobody answers at that address.
    #[error("cannot reach {host}: {message}")]
    Unreachable {
        /// The host that was asked.
        host: String,
        /// Why not.
        message: String,
    },
    /// The connection broke before the answer was complete.
    #[error("the connection broke: {message}")]
    Broken {
        /// How.
        message: String,
    },
    /// The answer ended in order, but before it was complete.
    #[error("the answer ended before it was complete")]
    Truncated,
    /// Nothing came for too long.
    #[error("nothing came for {} seconds", after.as_secs_f64())]
    Stalled {
        /// For how long.
        after: Duration,
    },
    /// What came is not a stream of events: something else answered in the provider's place.
    #[error("the answer is {content_type}, not a stream of events: {message}")]
    NotSse {
        /// What it says it is.
        content_type: String,
        /// How it begins.
        message: String,
    },
    /// What came cannot be understood.
    #[error("the answer cannot be understood: {message}")]
    BadAnswer {
        /// What is wrong with it.
        message: String,
    },
    /// A script says nothing more, or something that cannot be played.
    #[error("the script: {message}")]
    Script {
        /// What is wrong.
        message: String,
    },
}

impl ProviderError {
    /// Says whether the same request may work later, as it is.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Failed { .. } | Self::Unreachable { .. } => true,
            Self::Broken { .. } | Self::Truncated | Self::Stalled { .. } | Self::BadAnswer { .. } => true,
            Self::Overflow { .. } | Self::Denied { .. } | Self::History { .. } | Self::Invalid { .. } => false,
            Self::NotFound { .. } | Self::NotSse { .. } | Self::Script { .. } => false,
        }
    }

    /// Takes secrets out of what a provider said. Some repeat the key they were sent.
    pub(crate) fn scrubbed(mut self, secrets: &[Secret]) -> Self {
        match &mut self {
            Self::Busy { message, .. } | Self::Overflow { message, .. } | Self::Denied { message } => {
                scrub(message, secrets);
            }
            Self::History { message } | Self::Invalid { message } | Self::NotFound { message } => {
                scrub(message, secrets);
            }
            Self::Failed { message, .. } | Self::Unreachable { message, .. } => scrub(message, secrets),
            Self::Broken { message } | Self::BadAnswer { message } => scrub(message, secrets),
            Self::NotSse { message, .. } | Self::Script { message } => scrub(message, secrets),
            Self::Truncated | Self::Stalled { .. } => {}
        }
        self
    }

    /// Returns how long the provider asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        if let Self::Busy { retry_after, .. } = self { *retry_after } else { None }
    }
}

fn scrub(message: &mut String, secrets: &[Secret]) {
    *message = secrets.iter().fold(std::mem::take(message), |text, secret| secret.scrub(text));
}

fn counts(needed: Option<u64>, available: Option<u64>) -> String {
    match (needed, available) {
        (Some(needed), Some(available)) => format!(" ({needed} tokens needed, {available} available)"),
        (None, Some(available)) => format!(" ({available} tokens available)"),
        (Some(needed), None) => format!(" ({needed} tokens needed)"),
        (None, None) => String::new(),
    }
}
