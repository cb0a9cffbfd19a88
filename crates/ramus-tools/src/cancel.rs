//! Cancellation: one side says stop, any number of others wait for it.

use tokio::sync::watch;

/// Tells running calls to stop.
#[derive(Clone, Debug)]
pub struct Cancel {
    sender: watch::Sender<bool>,
}

impl Default for Cancel {
    fn default() -> Self {
        Self { sender: watch::Sender::new(false) }
    }
}

impl Cancel {
    /// Makes one that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops every call that has a copy of this.
    pub fn cancel(&self) {
        self.sender.send_replace(true);
    }

    /// Says whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.sender.borrow()
    }

    /// Waits until it is cancelled.
    pub async fn cancelled(&self) {
        let mut receiver = self.sender.subscribe();
        // The sender lives as long as this, so waiting cannot fail.
        let _ = receiver.wait_for(|cancelled| *cancelled).await;
    }
}
