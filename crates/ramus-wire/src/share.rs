//! What is shared. What opens a share is told once, to whoever made it.

use ramus_engine::{Share, SharePreview, Shared};
use ramus_model::time;
use serde_json::{Map, Value, json};

use crate::members;

/// The newest share of a session, without what opens it.
pub fn of_session(shares: &[Share], session: &str) -> Option<Value> {
    shares.iter().rev().find(|share| share.session == session).map(one)
}

/// A share, without what opens it.
pub fn one(share: &Share) -> Value {
    json!({
        "id": share.id,
        "session": share.session,
        "entry": share.entry,
        "include": share.include,
        "created": share.created,
        "expires": share.expires.map(time::format),
        "revoked": share.revoked,
    })
}

/// A share that was just made, and how to open it at a server.
pub fn made(shared: &Shared, preview: &SharePreview, url: &str) -> Map<String, Value> {
    let mut share = members(one(&shared.share));
    share.insert("secret".into(), shared.secret.as_str().into());
    share.insert("url".into(), url.into());
    members(json!({"share": share, "redacted": findings(preview)}))
}

/// What would be shared.
pub fn previewed(preview: &SharePreview) -> Map<String, Value> {
    let entries: Vec<&str> = preview.transcript.entries.iter().map(|entry| entry.id.as_str()).collect();
    members(json!({"share": null, "entries": entries, "redacted": findings(preview), "dry_run": true}))
}

/// Shares that were taken back.
pub fn ended(ended: &[Share]) -> Map<String, Value> {
    members(json!({"unshared": ended.iter().map(one).collect::<Vec<_>>()}))
}

/// All shares.
pub fn list(shares: &[Share]) -> Map<String, Value> {
    members(json!({"shares": shares.iter().map(one).collect::<Vec<_>>()}))
}

/// What was taken out of a share.
pub fn findings(preview: &SharePreview) -> Vec<Value> {
    let found = preview.findings.iter();
    found
        .map(|finding| {
            json!({"kind": finding.kind, "number": finding.number, "count": finding.count, "where": finding.places})
        })
        .collect()
}
