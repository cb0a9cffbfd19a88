//! Looking at all sessions while somebody watches them, because other processes write them too.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ramus_engine::{Filter, SessionInfo};
use serde_json::json;
use tokio::time::Instant;

use crate::access::Owner;
use crate::app::App;

/// How often all sessions are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// For how long this goes on when nobody watches, so that who comes back soon has missed nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// What sessions were, the last time.
type Seen = HashMap<String, (String, usize, SessionInfo)>;

impl App {
    /// Makes sure that all sessions are looked at while somebody watches, and returns when they have been once: what
    /// changes from then on is told.
    pub(crate) async fn watch_all(self: &Arc<Self>) {
        if !self.is_surveying.swap(true, Ordering::AcqRel) {
            tokio::spawn(Arc::clone(self).survey());
        }
        let mut surveyed = self.surveyed.subscribe();
        tokio::select! {
            () = self.stop.cancelled() => {}
            _ = surveyed.wait_for(|surveyed| *surveyed) => {}
        }
    }

    async fn survey(self: Arc<Self>) {
        let mut seen: Option<Seen> = None;
        let mut watched = Instant::now();
        loop {
            if self.hub.feed.watchers() > 0 {
                watched = Instant::now();
            }
            if self.stop.is_cancelled() || watched.elapsed() > PATIENCE {
                self.hub.feed.restart();
                self.surveyed.send_replace(false);
                self.is_surveying.store(false, Ordering::Release);
                // Who came between the look and the end relies on us.
                let is_relied_on = self.hub.feed.watchers() > 0 && !self.stop.is_cancelled();
                if !is_relied_on || self.is_surveying.swap(true, Ordering::AcqRel) {
                    return;
                }
                (seen, watched) = (None, Instant::now());
            }
            if let Ok(now) = self.look_at_all().await {
                if let Some(before) = &seen {
                    self.compare(before, &now);
                }
                seen = Some(now);
                self.surveyed.send_replace(true);
            }
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    async fn look_at_all(self: &Arc<Self>) -> Result<Seen, crate::error::ApiError> {
        let app = Arc::clone(self);
        let work = move || {
            let all = Filter { drafts: true, archived: true, ..Filter::default() };
            Ok(app.engine.list(&all)?.sessions)
        };
        let sessions = self.work.run(work).await?;
        let described = |info: SessionInfo| (info.id.to_string(), (info.updated.clone(), info.entries, info));
        Ok(sessions.into_iter().map(described).collect())
    }

    fn compare(&self, before: &Seen, now: &Seen) {
        for (id, (updated, entries, info)) in now {
            let name = match before.get(id) {
                None => "session.created",
                Some((was_updated, were, _)) if was_updated != updated || were != entries => "session.updated",
                Some(_) => continue,
            };
            self.tell_session(name, info);
        }
        for (id, (_, _, info)) in before {
            if !now.contains_key(id) {
                self.tell_session("session.deleted", info);
            }
        }
    }

    fn tell_session(&self, name: &str, info: &SessionInfo) {
        let shape = ramus_wire::session::session(info, &self.prices);
        let owner = Owner(info.owner.as_str().into());
        self.hub.feed.publish(&owner, name, &json!({"type": name, "session": info.id.as_str(), "info": shape}));
    }
}
