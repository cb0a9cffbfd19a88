//! What went wrong.

use serde::Serialize;
use utoipa::ToSchema;

/// What went wrong.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Trouble<'t> {
    /// The kind, which programs rely on: usage, not-found, ambiguous, busy, conflict, invalid, corrupt, degraded, denied,
    /// full, context-full, io, unavailable.
    pub kind: &'t str,
    /// What people are told.
    pub message: &'t str,
    /// What might be done about it.
    #[schema(required)]
    pub hint: Option<&'t str>,
}
