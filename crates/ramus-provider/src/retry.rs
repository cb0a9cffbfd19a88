//! When a request is sent again: never after something of the answer was shown, never when it would fail again, and not
//! before the provider said so.

use std::time::Duration;

use crate::error::ProviderError;

/// The rule for sending a request again. It is pure: whoever uses it waits, and draws the random number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// How often a request is sent again at most.
    pub most: u32,
    /// How long the first wait is when the provider does not say.
    pub first: Duration,
    /// The longest wait of our own choice.
    pub longest: Duration,
    /// The longest wait a provider can ask for. One that asks for more is not waited for.
    pub longest_asked: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            most: 3,
            first: Duration::from_secs(1),
            longest: Duration::from_secs(30),
            longest_asked: Duration::from_secs(120),
        }
    }
}

impl Retries {
    /// Returns how long to wait before the request is sent again, none when it must not be. `attempt` counts how often it
    /// was sent again already; `jitter` lies between 0 and 1 and spreads clients that failed at the same moment.
    ///
    /// Only for requests of whose answer nothing was shown yet.
    pub fn next(&self, error: &ProviderError, attempt: u32, jitter: f64) -> Option<Duration> {
        if attempt >= self.most || !error.is_passing() {
            return None;
        }
        if let Some(asked) = error.retry_after() {
            return (asked <= self.longest_asked).then_some(asked);
        }
        let doubled = self.first.saturating_mul(1 << attempt.min(16)).min(self.longest);
        let jitter = if jitter.is_finite() { jitter.clamp(0.0, 1.0) } else { 0.5 };
        // Between half of it and all of it.
        Some(doubled.mul_f64(0.5 + jitter / 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(retry_after: Option<u64>) -> ProviderError {
        ProviderError::Busy { retry_after: retry_after.map(Duration::from_secs), message: String::new() }
    }

    #[test]
    fn waits_double_within_bounds_and_end_after_three() {
        let retries = Retries::default();
        let waits: Vec<_> = (0..5).map(|attempt| retries.next(&busy(None), attempt, 1.0)).collect();
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(waits, [seconds(1), seconds(2), seconds(4), None, None]);
        assert_eq!(retries.next(&busy(None), 0, 0.0), Some(Duration::from_millis(500)));
        assert_eq!(retries.next(&busy(None), 0, f64::NAN), Some(Duration::from_millis(750)));
    }

    #[test]
    fn what_the_provider_asks_for_counts_unless_it_is_absurd() {
        let retries = Retries::default();
        assert_eq!(retries.next(&busy(Some(7)), 0, 0.3), Some(Duration::from_secs(7)));
        assert_eq!(retries.next(&busy(Some(86_400)), 0, 0.3), None);
        assert_eq!(retries.next(&busy(Some(0)), 3, 0.3), None);
    }

    #[test]
    fn what_would_fail_again_is_not_sent_again() {
        let retries = Retries::default();
        let message = String::new;
        for error in [
            ProviderError::Overflow { needed: None, available: None, message: message() },
            ProviderError::Denied { message: message() },
            ProviderError::History { message: message() },
            ProviderError::Invalid { message: message() },
            ProviderError::NotFound { message: message() },
            ProviderError::NotSse { content_type: message(), message: message() },
            ProviderError::Script { message: message() },
        ] {
            assert_eq!(retries.next(&error, 0, 0.5), None, "{error}");
        }
        assert!(retries.next(&ProviderError::Truncated, 0, 0.5).is_some());
    }
}
