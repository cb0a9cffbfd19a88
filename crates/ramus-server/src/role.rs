//! What the holder of a token may do: look, have turns run, answer what they ask, or everything.
//!
//! The guard asks for a role before a route is reached. What a route needs is decided here, for every route; one that nobody
//! thought of needs the most.

use std::str::FromStr;

use axum::http::Method;

/// What someone may do. Each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look at everything of an owner.
    View,
    /// Have turns run, say something, and arrange sessions.
    Prompt,
    /// Answer what turns ask, and change files.
    Approve,
    /// Share, delete, and everything else.
    Admin,
}

impl Role {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Prompt => "prompt",
            Self::Approve => "approve",
            Self::Admin => "admin",
        }
    }

    /// Says what a request to a route needs.
    pub(crate) fn needed(method: &Method, route: &str) -> Self {
        if method.is_safe() {
            return Self::View;
        }
        match (method, route) {
            (
                &Method::POST,
                "/api/chat" | "/api/session/boot" | "/api/session/workspace/snapshots" | "/api/conversations",
            )
            | (&Method::PUT, "/api/conversations/{id}") => return Self::Prompt,
            (&Method::POST, "/api/session/workspace/restore" | "/api/session/workspace/branch") => {
                return Self::Approve;
            }
            _ => {}
        }
        let within = route.strip_prefix("/api/v1/sessions").unwrap_or("/elsewhere");
        match (method, within) {
            (
                &Method::POST,
                ""
                | "/{id}/entries"
                | "/{id}/messages"
                | "/{id}/branch"
                | "/{id}/fork"
                | "/{id}/label"
                | "/{id}/compact"
                | "/{id}/evict"
                | "/{id}/replace-segment"
                | "/{id}/archive"
                | "/{id}/unarchive"
                | "/{id}/boot"
                | "/{id}/clear"
                | "/{id}/todos"
                | "/{id}/merge-back"
                | "/{id}/snapshots"
                | "/{id}/tools"
                | "/{id}/runs"
                | "/{id}/runs/{run}/messages"
                | "/{id}/runs/{run}/messages/take-out"
                | "/{id}/runs/{run}/cancel",
            )
            | (&Method::PATCH, "/{id}") => Self::Prompt,
            (
                &Method::POST,
                "/{id}/restore"
                | "/{id}/revert"
                | "/{id}/unrevert"
                | "/{id}/undo"
                | "/{id}/redo"
                | "/{id}/runs/{run}/permissions/{call}",
            )
            | (&Method::DELETE, "/{id}/permissions/{approval}") => Self::Approve,
            _ => Self::Admin,
        }
    }
}

/// A word that is no role. It is not told: where a role is expected there may be a token by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what stands there is no role; there are view, prompt, approve and admin")]
pub struct NoRole;

impl FromStr for Role {
    type Err = NoRole;

    fn from_str(text: &str) -> Result<Self, NoRole> {
        let all = [Self::View, Self::Prompt, Self::Approve, Self::Admin];
        all.into_iter().find(|role| role.name() == text).ok_or(NoRole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_thought_of_needs_the_most() {
        let needed = |method: &Method, route: &str| Role::needed(method, route);
        assert_eq!(needed(&Method::GET, "/anything"), Role::View);
        assert_eq!(needed(&Method::POST, "/api/v1/sessions/{id}/runs"), Role::Prompt);
        assert_eq!(needed(&Method::DELETE, "/api/v1/sessions/{id}"), Role::Admin);
        for route in ["", "/", "/api/v1/gc", "/api/v1/sessions/{id}/tomorrow", "/api/v1/sessions/{id}/runs/"] {
            assert_eq!(needed(&Method::POST, route), Role::Admin, "{route}");
        }
        assert!(Role::View < Role::Prompt && Role::Prompt < Role::Approve && Role::Approve < Role::Admin);
        assert_eq!(("approve".parse(), "root".parse::<Role>().is_err()), (Ok(Role::Approve), true));
    }
}
