//! What is shared. What opens a share is told once, to whoever made it.

use ramus_engine::{Share, SharePreview, Shared};
use ramus_model::time;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;

/// A share, without what opens it.
#[derive(Serialize, ToSchema)]
pub struct KnownShare<'s> {
    id: &'s str,
    session: &'s str,
    /// The entry that the path ends with.
    entry: &'s str,
    /// What is in it: messages, diffs, tools, thinking.
    include: &'s [String],
    created: &'s str,
    /// When it ends; null for when it is taken back.
    #[schema(required)]
    expires: Option<String>,
    /// When it was taken back.
    #[schema(required)]
    revoked: Option<&'s str>,
}

impl<'s> KnownShare<'s> {
    fn of(share: &'s Share) -> Self {
        Self {
            id: &share.id,
            session: &share.session,
            entry: &share.entry,
            include: &share.include,
            created: &share.created,
            expires: share.expires.map(time::format),
            revoked: share.revoked.as_deref(),
        }
    }
}

/// The newest share of a session, without what opens it.
pub fn of_session<'s>(shares: &'s [Share], session: &str) -> Option<KnownShare<'s>> {
    shares.iter().rev().find(|share| share.session == session).map(KnownShare::of)
}

/// A share that was just made, and how to open it.
#[derive(Serialize, ToSchema)]
struct OpenShare<'s> {
    #[serde(flatten)]
    share: KnownShare<'s>,
    /// What opens it.
    secret: &'s str,
    /// The address of the page, the secret in it.
    url: &'s str,
}

/// A share that was just made.
#[derive(Serialize, ToSchema)]
pub struct MadeShare<'s> {
    share: OpenShare<'s>,
    /// What was taken out of it.
    redacted: Vec<RedactedSecret<'s>>,
    /// The page, for whoever asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    page: Option<String>,
}

/// A share that was just made, and how to open it at a server; with the page, for whoever wants it.
pub fn made(shared: &Shared, preview: &SharePreview, url: &str, page: Option<String>) -> Map<String, Value> {
    let share = OpenShare { share: KnownShare::of(&shared.share), secret: &shared.secret, url };
    object_of(&MadeShare { share, redacted: RedactedSecret::all(preview), page })
}

/// What would be shared.
#[derive(Serialize, ToSchema)]
pub struct PreviewedShare<'s> {
    /// There is none.
    #[schema(required)]
    share: Option<KnownShare<'s>>,
    /// The entries that would be in it.
    entries: Vec<&'s str>,
    /// What would be taken out of it.
    redacted: Vec<RedactedSecret<'s>>,
    dry_run: bool,
    /// The page, for whoever asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    page: Option<String>,
}

/// What would be shared; with the page, for whoever wants it.
pub fn previewed(preview: &SharePreview, page: Option<String>) -> Map<String, Value> {
    let entries = preview.transcript.entries.iter().map(|entry| entry.id.as_str()).collect();
    object_of(&PreviewedShare { share: None, entries, redacted: RedactedSecret::all(preview), dry_run: true, page })
}

/// Shares that were taken back.
#[derive(Serialize, ToSchema)]
pub struct EndedShares<'s> {
    unshared: Vec<KnownShare<'s>>,
}

/// Shares that were taken back.
pub fn ended(ended: &[Share]) -> Map<String, Value> {
    object_of(&EndedShares { unshared: ended.iter().map(KnownShare::of).collect() })
}

/// Shares.
#[derive(Serialize, ToSchema)]
pub struct Shares<'s> {
    shares: Vec<KnownShare<'s>>,
}

/// All shares.
pub fn list(shares: &[Share]) -> Map<String, Value> {
    object_of(&Shares { shares: shares.iter().map(KnownShare::of).collect() })
}

/// Something that was taken out of a share.
#[derive(Serialize, ToSchema)]
pub struct RedactedSecret<'s> {
    /// What it is.
    kind: &'s str,
    /// Which one of its kind, from 1: it stands in the text too.
    number: usize,
    /// How often it stood there.
    count: usize,
    /// Where it stood.
    #[serde(rename = "where")]
    places: &'s [String],
}

impl<'s> RedactedSecret<'s> {
    fn all(preview: &'s SharePreview) -> Vec<Self> {
        let found = preview.findings.iter();
        found
            .map(|finding| Self {
                kind: finding.kind,
                number: finding.number,
                count: finding.count,
                places: &finding.places,
            })
            .collect()
    }
}

/// What was taken out of a share.
pub fn findings(preview: &SharePreview) -> Vec<Value> {
    RedactedSecret::all(preview).iter().map(|secret| object_of(secret).into()).collect()
}
