//! A hit: an entry that answers a query, as it is shown.

use std::borrow::Cow;
use std::cmp::Ordering;

use ramus_model::blob::{self, Restore};
use ramus_model::json::Raw;
use ramus_model::search::{Document, Matcher, Snippet, Speaker};
use ramus_model::{EntryId, Place, time};
use ramus_store::{Location, LogStore, Residence, StoreError};

use super::spot::About;

/// About how many characters a snippet has.
const SNIPPET: usize = 160;

/// An entry that answers a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The session.
    pub session: String,
    /// The entry; none when the title was found.
    pub entry: Option<EntryId>,
    /// Who speaks, as written.
    pub role: String,
    /// Why it was found.
    pub snippet: Snippet,
    /// When it was written, as written.
    pub timestamp: String,
    /// The same in milliseconds since 1970.
    pub millis: Option<i64>,
    /// The title of the session.
    pub title: String,
    /// The working directory of the session.
    pub cwd: String,
    /// How good it is; the higher, the better.
    pub score: f64,
    /// The tools that are called or answer.
    pub tools: Vec<String>,
    /// Who answered.
    pub model: Option<String>,
    /// Whether something failed.
    pub error: bool,
}

impl Hit {
    /// The best first, then the newest; what is left is an order that stays.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let name = |hit: &Self| (hit.session.clone(), hit.entry.as_ref().map(ToString::to_string));
        let better = other.score.total_cmp(&self.score).then(other.millis.cmp(&self.millis));
        better.then_with(|| name(self).cmp(&name(other)))
    }
}

/// What was found and not yet read again to be shown.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Which session, of those that were searched.
    pub(super) session: usize,
    /// The entry and where its line is; none for a title.
    pub(super) at: Option<(EntryId, Place)>,
    pub(super) millis: Option<i64>,
    pub(super) score: f64,
}

impl Candidate {
    /// The best first, then the newest; what is left is an order that stays.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let place = |candidate: &Self| candidate.at.as_ref().map(|(_, place)| (place.source, place.offset));
        other
            .score
            .total_cmp(&self.score)
            .then(other.millis.cmp(&self.millis))
            .then(self.session.cmp(&other.session))
            .then(place(self).cmp(&place(other)))
    }
}

/// Reads a stored line, long texts restored.
pub(super) fn line(store: &dyn LogStore, at: &Location, place: Place) -> Result<Vec<u8>, StoreError> {
    let line = store.read_at(at, place.offset, place.len as usize)?;
    Ok(restored(store, at.residence, line.into()).0.into_owned())
}

/// Puts long texts back into a line. Says whether all of them could be had: a text that cannot is searched as far as the
/// line has it.
pub(crate) fn restored<'l>(store: &dyn LogStore, residence: Residence, line: Cow<'l, [u8]>) -> (Cow<'l, [u8]>, bool) {
    let Some(blobs) = store.blobs().filter(|_| residence != Residence::InPlace) else { return (line, true) };
    let restored = blob::restore(&line, Restore::Texts, &mut |hash| blobs.fetch(hash).ok().flatten());
    let is_whole = restored.missing.is_empty();
    match restored.line {
        Cow::Owned(changed) => (Cow::Owned(changed), is_whole),
        Cow::Borrowed(_) => (line, is_whole),
    }
}

/// Makes the hit of a document that was found.
pub(super) fn hit(
    about: &About,
    candidate: &Candidate,
    line: &[u8],
    document: &Document,
    matcher: &mut Matcher,
) -> Hit {
    let raw = Raw::parse(line);
    let written = raw.and_then(|raw| raw.field("timestamp")).and_then(Raw::text).map(|text| text.into_owned());
    let role = raw.and_then(|raw| raw.field("message")).and_then(|message| message.field("role")).and_then(Raw::text);
    let speaker = document.facets.speaker;
    Hit {
        session: about.id.clone(),
        entry: candidate.at.as_ref().map(|(entry, _)| entry.clone()),
        role: match role.filter(|_| speaker != Speaker::Label) {
            Some(role) => role.into_owned(),
            None => speaker.name().to_owned(),
        },
        snippet: Snippet::of(document, matcher, SNIPPET),
        timestamp: written.or_else(|| document.millis.map(time::format)).unwrap_or_default(),
        millis: document.millis,
        title: about.title.clone(),
        cwd: about.cwd.clone(),
        score: candidate.score,
        tools: document.facets.tools.clone(),
        model: document.facets.model.clone(),
        error: document.facets.error,
    }
}
