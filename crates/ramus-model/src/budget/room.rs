//! When room is made before a model is asked, and how much of the path stays.

use super::Keep;

/// How many messages stay when there are too many of them.
const MESSAGES_KEPT: usize = 20;

/// How many tokens stay, where the window has room for them.
const TOKENS_KEPT: u64 = 20_000;

/// What makes the older part of a path be summarised before the next answer. One of them is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triggers {
    /// How much of the model's window is filled, in percent.
    pub percent: Option<u64>,
    /// How many tokens there are.
    pub tokens: Option<u64>,
    /// How many messages there are.
    pub messages: Option<u64>,
}

impl Default for Triggers {
    fn default() -> Self {
        Self { percent: Some(80), tokens: None, messages: None }
    }
}

impl Triggers {
    /// Says whether a prompt of so many tokens and messages is too long, and what is kept of it then.
    pub fn judge(&self, window: Option<u64>, tokens: u64, messages: u64) -> Option<Keep> {
        let fills = |window: u64, percent| tokens.saturating_mul(100) >= window.saturating_mul(percent);
        let is_full = self.percent.zip(window).is_some_and(|(percent, window)| fills(window, percent));
        if is_full || self.tokens.is_some_and(|most| tokens > most) {
            return Some(self.keep(window));
        }
        let most = self.messages.filter(|most| messages > *most)?;
        // What stays must be few enough not to be too many again at once.
        Some(Keep::Messages(MESSAGES_KEPT.min(usize::try_from(most / 2).unwrap_or(usize::MAX)).max(1)))
    }

    /// Returns what is kept when a model says that its window is too small.
    pub fn keep(&self, window: Option<u64>) -> Keep {
        let quarter = window.map_or(TOKENS_KEPT, |window| window / 4);
        let half = self.tokens.map_or(TOKENS_KEPT, |most| most / 2);
        Keep::Tokens(quarter.min(half).min(TOKENS_KEPT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_trigger_is_enough_and_what_stays_pulls_none() {
        let none = Triggers { percent: None, tokens: None, messages: None };
        assert_eq!(none.judge(Some(100), 1_000_000, 1_000_000), None);
        let usual = Triggers::default();
        assert_eq!(usual.judge(None, 1_000_000, 1_000), None);
        assert_eq!(usual.judge(Some(100_000), 79_999, 1_000), None);
        assert_eq!(usual.judge(Some(100_000), 80_000, 3), Some(Keep::Tokens(20_000)));
        assert_eq!(usual.judge(Some(8_000), 8_000, 3), Some(Keep::Tokens(2_000)));
        let seed = Triggers { tokens: Some(50_000), messages: Some(100), ..usual };
        assert_eq!(seed.judge(Some(200_000), 50_000, 100), None);
        assert_eq!(seed.judge(Some(200_000), 50_001, 1), Some(Keep::Tokens(20_000)));
        assert_eq!(seed.judge(None, 10, 101), Some(Keep::Messages(20)));
        assert_eq!(Triggers { messages: Some(5), ..none }.judge(None, 10, 6), Some(Keep::Messages(2)));
        assert_eq!(Triggers { tokens: Some(3_000), ..none }.judge(None, 4_000, 6), Some(Keep::Tokens(1_500)));
    }
}
