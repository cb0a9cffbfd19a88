//! The list that was spelled out last. Whoever shows a home asks for the same list again and again, and to see that nothing has
//! changed takes less than to spell it out.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use ramus_engine::{Listing, Share};
use ramus_model::usage::Prices;
use ramus_wire::session::ListJson;

use crate::answer::Answer;
use crate::error::ApiError;

/// Longer lists are not kept.
const MOST: usize = 2_000;

/// The last list.
#[derive(Default)]
pub(crate) struct Listed(Mutex<Option<Spelled>>);

struct Spelled {
    listing: Listing,
    shares: Vec<Share>,
    body: Bytes,
}

impl Listed {
    /// Answers with a list.
    pub(crate) fn answer(&self, listing: Listing, shares: Vec<Share>, prices: &Prices) -> Result<Answer, ApiError> {
        let last = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = last().as_ref().filter(|last| last.listing == listing && last.shares == shares) {
            return Ok(Answer::bytes(same.body.clone()));
        }
        let answer = Answer::of(&ListJson::of(&listing, prices, &shares))?;
        if listing.sessions.len() <= MOST {
            *last() = Some(Spelled { listing, shares, body: answer.body() });
        }
        Ok(answer)
    }
}
