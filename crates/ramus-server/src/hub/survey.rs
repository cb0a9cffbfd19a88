//! Listening to all sessions while somebody watches them, on behalf of everybody who does.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ramus_engine::Filter;
use ramus_engine::events::{Stream, Told, What};
use ramus_model::SessionId;
use serde_json::Value;
use tokio::time::Instant;

use crate::access::Owner;
use crate::app::App;
use crate::error::ApiError;

/// For how long this goes on when nobody watches, so that who comes back soon has missed nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long it takes until the home is looked at again after that failed.
const AGAIN: Duration = Duration::from_millis(500);

/// How many events are taken from the stream at a time.
const BATCH: usize = 512;

/// The stream of all sessions, and whose each of them is.
struct Survey {
    stream: Stream,
    owners: HashMap<SessionId, Owner>,
}

impl App {
    /// Makes sure that all sessions are listened to while somebody watches, and returns when they are: what happens from
    /// then on is told.
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
        loop {
            match self.start_survey().await {
                Ok(survey) => self.listen(survey).await,
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
            // Nothing is heard from here until it is started anew, so nobody may go on as if it were.
            self.hub.feed.restart();
            self.surveyed.send_replace(false);
            if self.hub.feed.watchers() > 0 && !self.stop.is_cancelled() {
                continue;
            }
            self.is_surveying.store(false, Ordering::Release);
            // Who came between the look and the end relies on us.
            let is_relied_on = self.hub.feed.watchers() > 0 && !self.stop.is_cancelled();
            if !is_relied_on || self.is_surveying.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    }

    async fn start_survey(self: &Arc<Self>) -> Result<Survey, ApiError> {
        self.work(|app| {
            let stream = app.engine.all_events()?;
            let all = Filter { drafts: true, archived: true, ..Filter::default() };
            let owner = |info: ramus_engine::SessionInfo| (info.id, Owner(info.owner.as_str().into()));
            let owners = app.engine.list(&all)?.sessions.into_iter().map(owner).collect();
            Ok(Survey { stream, owners })
        })
        .await
    }

    /// Tells what happens until nobody has watched for a while, or the home cannot be looked at.
    async fn listen(self: &Arc<Self>, mut survey: Survey) {
        self.surveyed.send_replace(true);
        let mut watched = Instant::now();
        loop {
            if self.hub.feed.watchers() > 0 {
                watched = Instant::now();
            }
            if self.stop.is_cancelled() || watched.elapsed() > PATIENCE {
                return;
            }
            let changes = survey.stream.changes();
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = changes.wait() => {}
            }
            survey = match self.work(move |app| app.take_from(survey)).await {
                Ok(survey) => survey,
                Err(_) => return,
            };
        }
    }

    fn take_from(&self, mut survey: Survey) -> Result<Survey, ApiError> {
        for _ in 0..BATCH {
            let Some(told) = survey.stream.poll()? else { break };
            // What comes in pieces would drive everything else out.
            if told.name().ends_with(".delta") {
                continue;
            }
            if told.session.as_str().is_empty() {
                self.hub.feed.publish(None, told.name(), &told.to_json().into());
            } else if let Some(owner) = self.owner_of(&told, &mut survey.owners) {
                self.hub.feed.publish(Some(&owner), told.name(), &told.to_json().into());
            }
        }
        Ok(survey)
    }

    /// Finds out whose session something happened to; nobody is told of one whose owner cannot be known.
    fn owner_of(&self, told: &Told, owners: &mut HashMap<SessionId, Owner>) -> Option<Owner> {
        match &told.what {
            What::Deleted => return owners.remove(&told.session),
            What::Created(info) => {
                let owner = Owner(info.get("owner").and_then(Value::as_str)?.into());
                owners.insert(told.session.clone(), owner);
            }
            _ if !owners.contains_key(&told.session) => {
                let session = self.engine.open_id(&told.session).ok()?;
                owners.insert(told.session.clone(), Owner(session.owner().into()));
            }
            _ => {}
        }
        owners.get(&told.session).cloned()
    }
}
