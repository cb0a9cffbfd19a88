//! Lists of sessions.

use ramus_engine::{Listing, Share};
use ramus_model::usage::Prices;
use serde::Serialize;
use utoipa::ToSchema;

use super::SessionJson;
use crate::usage::{UnreadableJson, unreadable};

/// A list as programs are told.
#[derive(Serialize, ToSchema)]
#[schema(as = SessionList)]
pub struct ListJson<'l> {
    sessions: Vec<SessionJson<'l>>,
    /// Where the next page starts; null when there is none.
    #[schema(required)]
    next_cursor: Option<&'l str>,
    hidden: HiddenJson,
    unreadable: Vec<UnreadableJson<'l>>,
    /// The ids of all sessions that could be named, for whoever shortens them.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ids: Vec<&'l str>,
}

/// How many sessions are not shown, by the reason.
#[derive(Serialize, ToSchema)]
#[schema(as = HiddenSessions)]
struct HiddenJson {
    archived: usize,
    drafts: usize,
    other_directories: usize,
}

impl<'l> ListJson<'l> {
    /// Describes a list.
    pub fn of(listing: &'l Listing, prices: &Prices, shares: &'l [Share]) -> Self {
        Self {
            sessions: listing.sessions.iter().map(|info| SessionJson::of(info, prices).shared_as(shares)).collect(),
            next_cursor: listing.next_cursor.as_deref(),
            hidden: HiddenJson {
                archived: listing.hidden.archived,
                drafts: listing.hidden.drafts,
                other_directories: listing.hidden.other_directories,
            },
            unreadable: unreadable(&listing.unreadable),
            ids: listing.ids.iter().map(|id| id.as_str()).collect(),
        }
    }
}
