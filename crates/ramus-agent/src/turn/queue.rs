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

    /// Takes out the last text that says this, as if it had not been said. Nothing happens when the model has it already.
    pub(super) fn take_out(&mut self, text: &str) -> Vec<Effect> {
        let remove = |waiting: &mut VecDeque<String>| {
            waiting.iter().rposition(|one| one == text).and_then(|at| waiting.remove(at))
        };
        match remove(&mut self.follow_up).or_else(|| remove(&mut self.steer)) {
            Some(text) => vec![self.told_without(Some(text))],
            None => Vec::new(),
        }
    }

    fn told(&self) -> Effect {
        self.told_without(None)
    }

    fn told_without(&self, taken_out: Option<String>) -> Effect {
        let texts = self.steer.iter().chain(&self.follow_up).cloned().collect();
        let (steer, follow_up) = (self.steer.len(), self.follow_up.len());
        Effect::Tell(Event::QueueChanged { steer, follow_up, texts, taken_out })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(effects: &[Effect]) -> (Vec<String>, Option<String>) {
        match effects {
            [Effect::Tell(Event::QueueChanged { texts, taken_out, .. })] => (texts.clone(), taken_out.clone()),
            _ => (Vec::new(), Some("nothing was told".into())),
        }
    }

    #[test]
    fn what_waits_is_told_and_can_be_taken_out_until_it_is_heard() {
        let mut queue = Queue::default();
        queue.follow_up("later".into());
        assert_eq!(told(&queue.steer("now".into())), (vec!["now".into(), "later".into()], None));
        assert_eq!(told(&queue.take_out("later")), (vec!["now".into()], Some("later".into())));
        assert!(queue.next_steer().is_some());
        assert_eq!(queue.take_out("now"), Vec::new());
    }
}
