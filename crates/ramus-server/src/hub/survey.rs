//! Listening to all sessions while somebody watches them, on behalf of everybody who does.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ramus_engine::Filter;
use ramus_engine::events::{Stream, Told, What};
use ramus_model::SessionId;
use serde_json::Value;
use tokio::time::Instant;

use crate::access::Owner;
use crate::app::App;
use crate::error::{ApiError, Kind};

/// For how long this goes on when nobody watches, so that who comes back soon has missed nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long it takes until the home is looked at again after that failed.
const AGAIN: Duration = Duration::from_millis(500);

/// How often in a row that may fail until what should be told behind is told without.
const FAILURES: usize = 10;

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
                Ok(survey) => {
                    // What happened before is not known, so nobody may go on as if it were.
                    self.hub.feed.restart();
                    self.hub.feed.heard(true);
                    self.listen(survey).await;
                    self.hub.feed.heard(false);
                }
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
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

    async fn start_survey(self: &Arc<Self>) -> Result<Arc<Mutex<Survey>>, ApiError> {
        self.work(|app| {
            let stream = app.engine.all_events()?;
            let all = Filter { drafts: true, archived: true, ..Filter::default() };
            let owner = |info: ramus_engine::SessionInfo| (info.id, Owner::new(info.owner.as_str()));
            let owners = app.engine.list(&all)?.sessions.into_iter().map(owner).collect();
            Ok(Arc::new(Mutex::new(Survey { stream, owners })))
        })
        .await
    }

    /// Tells what happens until nobody has watched for a while. A home that cannot be looked at is looked at again: what
    /// waits to be told is kept by the stream.
    async fn listen(self: &Arc<Self>, survey: Arc<Mutex<Survey>>) {
        self.surveyed.send_replace(true);
        let mut watched = Instant::now();
        let (mut is_all, mut failures) = (true, 0);
        loop {
            if self.hub.feed.watchers() > 0 {
                watched = Instant::now();
            }
            if self.stop.is_cancelled() || watched.elapsed() > PATIENCE {
                return;
            }
            if is_all {
                let changes = survey.lock().unwrap_or_else(PoisonError::into_inner).stream.changes();
                tokio::select! {
                    () = self.stop.cancelled() => return,
                    () = changes.wait() => {}
                    () = self.hub.feed.posted() => {}
                }
            }
            let letters = self.hub.feed.waiting();
            let taking = Arc::clone(&survey);
            let taken = self.work(move |app| {
                // One that failed may have left anything.
                let mut survey = taking.lock().map_err(|_| ApiError::new(Kind::Broken, "the survey failed"))?;
                app.take_from(&mut survey)
            });
            match taken.await {
                Err(error) if error.kind() == Kind::Broken => return,
                // The next look may work, and nothing is lost until then.
                Err(_) => {
                    failures += 1;
                    if failures > FAILURES {
                        self.hub.feed.deliver(letters);
                    }
                    tokio::time::sleep(AGAIN).await;
                }
                Ok(taken) => {
                    (is_all, failures) = (taken, 0);
                    if is_all {
                        self.hub.feed.deliver(letters);
                    }
                }
            }
        }
    }

    /// Tells what the stream has, so much at most; says whether that was all.
    fn take_from(&self, survey: &mut Survey) -> Result<bool, ApiError> {
        let mut has_failed = false;
        for _ in 0..BATCH {
            let told = match survey.stream.poll() {
                Ok(Some(told)) => told,
                Ok(None) => return Ok(true),
                // What was found before something could not be read comes with the next look.
                Err(_) if !has_failed => {
                    has_failed = true;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            has_failed = false;
            if told.is_piece() {
                if self.hub.feed.wants_pieces()
                    && let Some(owner) = self.owner_of(&told, &mut survey.owners)
                {
                    self.hub.feed.publish_piece(&owner, told.name(), &told.to_json().into());
                }
                continue;
            }
            if told.session.as_str().is_empty() {
                self.hub.feed.publish(None, told.name(), &told.to_json().into());
            } else if let Some(owner) = self.owner_of(&told, &mut survey.owners) {
                self.hub.feed.publish(Some(&owner), told.name(), &told.to_json().into());
            }
        }
        Ok(false)
    }

    /// Finds out whose session something happened to; nobody is told of one whose owner cannot be known.
    fn owner_of(&self, told: &Told, owners: &mut HashMap<SessionId, Owner>) -> Option<Owner> {
        match &told.what {
            What::Deleted(_) => return owners.remove(&told.session),
            // Another one may have this id since.
            What::Created(info) | What::Updated(info) => {
                let owner = Owner::new(info.get("owner").and_then(Value::as_str)?);
                owners.insert(told.session.clone(), owner);
            }
            _ if !owners.contains_key(&told.session) => {
                let session = self.engine.open_id(&told.session).ok()?;
                owners.insert(told.session.clone(), Owner::new(session.owner()));
            }
            _ => {}
        }
        owners.get(&told.session).cloned()
    }
}
