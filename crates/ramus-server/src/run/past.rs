//! Orders that are no orders: those that cannot be carried out, and those that an earlier server carried out already.

use std::sync::Arc;

use ramus_engine::{EngineError, Session, SessionStatus};
use ramus_store::StoreError;

use super::Order;
use super::runs::{Key, Running};
use crate::access::Owner;
use crate::app::App;
use crate::error::ApiError;

impl App {
    /// Finds the turn that an order with this key came to when an earlier server had it: its name is in the log. What this
    /// server had is found when the order is taken.
    pub(crate) fn recall(
        &self,
        owner: &Owner,
        session: &Session,
        order: &Order,
        key: Option<&str>,
    ) -> Result<Option<Arc<Running>>, ApiError> {
        let Some(key) = key.filter(|key| !self.runs.is_known(owner, session.id().as_str(), Some(key))) else {
            return Ok(None);
        };
        let key = Key::new(owner, session.id(), key, order);
        let Some(past) = session.turn_called(&key.beginning())? else { return Ok(None) };
        if past.name != key.turn() {
            return Err(ApiError::conflict("another order was sent with this idempotency key"));
        }
        let end = match &past.end {
            Some(_) => Ok(ramus_wire::turn::past(session.id(), &past)),
            None => match running_elsewhere(session) {
                Some(error) => return Err(error),
                None => Err(cut_off()),
            },
        };
        Ok(Some(self.runs.recall(key, end)))
    }

    /// Refuses an order that no turn could be run with, before anything of it is done.
    pub(crate) fn check_order(&self, session: &Session, order: &Order) -> Result<(), ApiError> {
        if let Some(error) = running_elsewhere(session) {
            return Err(error);
        }
        if let Some(entry) = &order.edit {
            let said = session.resolve(entry)?;
            session.check_said(said)?;
        }
        if order.regenerate && session.last_said().is_none() {
            return Err(ApiError::invalid("nobody has said anything on this path"));
        }
        self.workshop.check(session, order)
    }
}

/// Says that a process runs the session already: this server, when the turn belongs to another one, or a command.
fn running_elsewhere(session: &Session) -> Option<ApiError> {
    let SessionStatus::Running(runner) = session.status() else { return None };
    Some(EngineError::Store(StoreError::Running { session: session.id().to_string(), runner }).into())
}

fn cut_off() -> ApiError {
    let error = ApiError::conflict("the server ended while this turn ran; what it did is in the log");
    error.hint("go on with a new order, under another key")
}
