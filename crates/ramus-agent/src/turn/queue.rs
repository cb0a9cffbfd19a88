//! What a person says while a turn runs.

use std::collections::VecDeque;

use crate::effect::Effect;
use crate::event::Event;

/// Texts that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    steer: VecDeque<String>,
    follow_up: VecDeque<String>,
}

impl Queue {
    pub(super) fn steer(&mut self, text: String) -> Vec<Effect> {
        self.steer.push_back(text);
        vec![self.told()]
    }

    pub(super) fn follow_up(&mut self, text: String) -> Vec<Effect> {
        self.follow_up.push_back(text);
        vec![self.told()]
    }

    /// Takes the next text that counts before a request.
    pub(super) fn next_steer(&mut self) -> Option<(String, Effect)> {
        let text = self.steer.pop_front()?;
        Some((text, self.told()))
    }

    /// Takes the next text that counts when the turn would end: all that waits.
    pub(super) fn next(&mut self) -> Option<(String, Effect)> {
        let text = self.steer.pop_front().or_else(|| self.follow_up.pop_front())?;
        Some((text, self.told()))
    }

    /// Takes everything that waits.
    pub(super) fn take(&mut self) -> Vec<String> {
        self.steer.drain(..).chain(self.follow_up.drain(..)).collect()
    }

    fn told(&self) -> Effect {
        Effect::Tell(Event::QueueChanged { steer: self.steer.len(), follow_up: self.follow_up.len() })
    }
}
