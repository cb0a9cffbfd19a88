//! What happens in all sessions, in the order in which this process heard of it. The last events are kept for whoever comes
//! back; who was away for longer, or comes from another process, is told to look anew.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::Hub;
use super::bounded::{Receiver, Room, Sender};
use super::frame::{event, spelled};
use crate::access::Owner;

/// How many events are kept, and how many bytes of them.
const KEPT: usize = 8192;
const WEIGHT: usize = 64 << 20;

/// What is said when something may have been missed, and how it is found.
const MISSED: &str = "what happened since is not known here: list the sessions with drafts=true&archived=true, those that are \
    missing are gone; the events of each that is longer than you know come from /api/v1/sessions/{id}/events?after=SEQ, behind \
    the last seq you have of it";

/// The events of all sessions.
pub(crate) struct Feed {
    kept: Mutex<Kept>,
    sender: Sender<Told>,
    /// How many readers want answers word by word.
    pieces: AtomicUsize,
    letters: Mutex<Letters>,
    posted: Notify,
}

/// What is told behind everything that has happened until it was posted.
#[derive(Default)]
struct Letters {
    /// Whether somebody hears what happens, and delivers them when all of that was told.
    is_heard: bool,
    waiting: VecDeque<Letter>,
}

/// Something that comes behind.
pub(super) struct Letter {
    pub(super) owner: Owner,
    pub(super) name: &'static str,
    pub(super) told: Value,
}

/// A reader that wants answers word by word.
pub(super) struct WantsPieces(Arc<Hub>);

impl WantsPieces {
    pub(super) fn of(hub: &Arc<Hub>) -> Self {
        hub.feed.pieces.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(hub))
    }
}

impl Drop for WantsPieces {
    fn drop(&mut self) {
        self.0.feed.pieces.fetch_sub(1, Ordering::AcqRel);
    }
}

/// An event, and whom it is for.
#[derive(Clone, Debug)]
pub(super) struct Told {
    number: u64,
    /// What a reader names to go on behind it.
    pub(super) id: Arc<str>,
    /// None: everybody.
    owner: Option<Owner>,
    /// Whether it is a piece of an answer, which is told to those only who want that, and not again.
    pub(super) is_piece: bool,
    pub(super) text: Bytes,
}

impl Told {
    pub(super) fn is_for(&self, owner: &Owner) -> bool {
        self.owner.as_ref().is_none_or(|whose| whose == owner)
    }
}

/// What a reader starts with.
pub(super) struct Subscribed {
    /// What is told at once.
    pub(super) first: Bytes,
    /// What was missed, and is still kept.
    pub(super) missed: Missed,
    /// The place behind all of that.
    pub(super) last: Arc<str>,
    /// What will come.
    pub(super) frames: Receiver<Told>,
}

/// What a reader missed and was not told yet. It is kept once for all readers, so one that is slow may come too late for it.
#[derive(Debug, Default)]
pub(super) struct Missed {
    /// The stretch of watching that it belongs to.
    epoch: String,
    numbers: Range<u64>,
}

struct Kept {
    /// Tells the events of this stretch of watching from all others.
    epoch: String,
    next: u64,
    events: VecDeque<Told>,
    /// How many bytes the events have.
    weight: usize,
}

impl Kept {
    fn new() -> Self {
        Self { epoch: uuid::Uuid::new_v4().simple().to_string(), next: 1, events: VecDeque::new(), weight: 0 }
    }

    /// Keeps an event, and forgets what is too old or too much.
    fn keep(&mut self, told: Told) {
        self.weight += told.text.len();
        self.events.push_back(told);
        while self.events.len() > KEPT || self.weight > WEIGHT {
            let Some(oldest) = self.events.pop_front() else { break };
            self.weight = self.weight.saturating_sub(oldest.text.len());
        }
    }

    /// Returns an event; none when it is not known any more.
    fn event(&self, number: u64) -> Option<&Told> {
        let oldest = self.events.front()?.number;
        self.events.get(usize::try_from(number.checked_sub(oldest)?).ok()?)
    }

    /// The id of the event that was told last, or of the beginning of this stretch.
    fn last(&self) -> Arc<str> {
        self.id(self.next.saturating_sub(1))
    }

    fn id(&self, number: u64) -> Arc<str> {
        format!("{}-{number}", self.epoch).into()
    }

    /// Says whether everything behind an event is still known; none when the name is not one of ours.
    fn place(&self, id: &str) -> Option<u64> {
        let (epoch, number) = id.split_once('-')?;
        let number: u64 = number.parse().ok().filter(|_| epoch == self.epoch)?;
        let oldest = self.events.front().map_or(self.next, |told| told.number);
        (number < self.next && number + 1 >= oldest).then_some(number)
    }
}

impl Feed {
    pub(super) fn new(events: usize, room: &Room) -> Self {
        Self {
            kept: Mutex::new(Kept::new()),
            sender: Sender::new(events, room),
            pieces: AtomicUsize::new(0),
            letters: Mutex::default(),
            posted: Notify::new(),
        }
    }

    /// Tells everyone who watches an owner's sessions, or everyone.
    pub(crate) fn publish(&self, owner: Option<&Owner>, name: &str, told: &Value) {
        let mut kept = self.kept();
        let number = kept.next;
        kept.next += 1;
        let id = kept.id(number);
        let text = spelled(name, Some(&id), told);
        let told = Told { number, id, owner: owner.cloned(), is_piece: false, text };
        kept.keep(told.clone());
        // Under the lock, so that whoever subscribes gets each event once.
        let weight = told.text.len();
        self.sender.send(told, weight);
    }

    /// Tells something behind everything that has happened until now; at once when nobody hears what happens.
    pub(super) fn post(&self, letter: Letter) {
        let mut letters = self.letters();
        if letters.is_heard {
            letters.waiting.push_back(letter);
            drop(letters);
            self.posted.notify_one();
        } else {
            drop(letters);
            self.publish(Some(&letter.owner), letter.name, &letter.told);
        }
    }

    /// Waits until something is posted.
    pub(super) async fn posted(&self) {
        self.posted.notified().await;
    }

    /// Says how many letters wait. All that they come behind can be heard of now.
    pub(super) fn waiting(&self) -> usize {
        self.letters().waiting.len()
    }

    /// Tells the first letters.
    pub(super) fn deliver(&self, count: usize) {
        for _ in 0..count {
            let Some(letter) = self.letters().waiting.pop_front() else { return };
            self.publish(Some(&letter.owner), letter.name, &letter.told);
        }
    }

    /// Says whether somebody hears what happens from now on. What nobody will deliver is told at once.
    pub(super) fn heard(&self, is_heard: bool) {
        let waiting = {
            let mut letters = self.letters();
            letters.is_heard = is_heard;
            letters.waiting.len()
        };
        if !is_heard {
            self.deliver(waiting);
        }
    }

    /// Says whether anybody wants answers word by word.
    pub(super) fn wants_pieces(&self) -> bool {
        self.pieces.load(Ordering::Acquire) > 0
    }

    /// Tells a piece of an answer. It is not kept: pieces would drive everything else out.
    pub(super) fn publish_piece(&self, owner: &Owner, name: &str, told: &Value) {
        let kept = self.kept();
        let text = event(name, None, told).text;
        let told = Told { number: kept.next, id: kept.last(), owner: Some(owner.clone()), is_piece: true, text };
        let weight = told.text.len();
        self.sender.send(told, weight);
    }

    /// Returns what came behind an event, and what will come. First of all comes where the stream starts, so that whoever
    /// was told nothing before it was cut off can name a place to go on from.
    pub(super) fn subscribe(&self, after: Option<&str>) -> Subscribed {
        let kept = self.kept();
        let frames = self.sender.subscribe();
        let last = kept.last();
        let start = |name: &str, told: Value| event(name, Some(&last), &told).text;
        let mut missed = Missed::default();
        let first = match after.map(|after| kept.place(after).ok_or(after)) {
            None => start("open", json!({"type": "open"})),
            Some(Err(_)) => start("reset", json!({"type": "reset", "message": MISSED})),
            Some(Ok(place)) => {
                missed = Missed { epoch: kept.epoch.clone(), numbers: place + 1..kept.next };
                // It tells the place that was named: what follows is behind that.
                event("open", Some(&kept.id(place)), &json!({"type": "open"})).text
            }
        };
        Subscribed { first, missed, last, frames }
    }

    /// Returns the next event of an owner that a reader missed, or how many are not known any more.
    pub(super) fn next_missed(&self, owner: &Owner, missed: &mut Missed) -> Option<Result<Bytes, u64>> {
        let kept = self.kept();
        loop {
            let number = missed.numbers.next()?;
            let told = kept.event(number).filter(|_| kept.epoch == missed.epoch);
            let Some(told) = told else {
                let rest = std::mem::take(&mut missed.numbers);
                return Some(Err(rest.end.saturating_sub(number)));
            };
            if told.is_for(owner) {
                return Some(Ok(told.text.clone()));
            }
        }
    }

    /// Returns how many watch.
    pub(super) fn watchers(&self) -> usize {
        self.sender.receiver_count()
    }

    /// Forgets everything: nobody looked for a while, so something may have been missed. Whoever watches is told so.
    pub(super) fn restart(&self) {
        *self.kept() = Kept::new();
        if self.watchers() > 0 {
            self.publish(None, "reset", &json!({"type": "reset", "message": MISSED}));
        }
    }

    fn letters(&self) -> MutexGuard<'_, Letters> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed() -> Feed {
        Feed::new(16, &Room::default())
    }

    /// What who comes back is told.
    fn missed(feed: &Feed, owner: &Owner, after: &str) -> Vec<Bytes> {
        let Subscribed { first, mut missed, .. } = feed.subscribe(Some(after));
        let rest = std::iter::from_fn(|| feed.next_missed(owner, &mut missed)).filter_map(Result::ok);
        std::iter::once(first).chain(rest).collect()
    }

    #[test]
    fn so_many_bytes_are_kept_and_no_more() {
        let (feed, ours) = (feed(), Owner::new("default"));
        let start = feed.subscribe(None).last;
        let tell = || feed.publish(Some(&ours), "tool.end", &json!({"text": "x".repeat(WEIGHT / 16)}));
        tell();
        let (first, slow) = (feed.subscribe(None).last, feed.subscribe(Some(&start)));
        (0..40).for_each(|_| tell());
        assert!(feed.kept().weight <= WEIGHT && feed.kept().events.len() >= 15);
        assert!(missed(&feed, &ours, &first).iter().any(|text| is_called(text, "reset")), "it is not known any more");
        let latest = feed.kept().events.front().map(|told| Arc::clone(&told.id)).unwrap_or_default();
        assert_eq!(missed(&feed, &ours, &latest).len(), feed.kept().events.len());
        // Who takes it too slowly is told how much it missed.
        let mut behind = slow.missed;
        assert_eq!(feed.next_missed(&ours, &mut behind), Some(Err(1)));
        assert_eq!(feed.next_missed(&ours, &mut behind), None);
    }

    #[test]
    fn who_comes_back_gets_what_was_missed_once_and_only_its_own() {
        let feed = feed();
        let (ours, theirs) = (Owner::new("default"), Owner::new("bob"));
        let mut receiver = feed.subscribe(None).frames;
        feed.publish(Some(&ours), "session.created", &json!({"n": 1}));
        feed.publish(Some(&theirs), "session.created", &json!({"n": 2}));
        feed.publish(None, "lagged", &json!({"n": 3}));
        let first = receiver.try_recv().map(|told| String::from_utf8_lossy(&told.text).into_owned());
        let first = first.unwrap_or_default();
        let id = first.lines().next().and_then(|line| line.strip_prefix("id: ")).unwrap_or_default();
        let told = missed(&feed, &ours, id);
        let told: Vec<String> = told.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.first().is_some_and(|open| open.starts_with(&format!("id: {id}\nevent: open\n"))), "{told:?}");
        assert!(told.iter().skip(1).all(|text| text.contains("\"n\":3")));
        for unknown in ["", "x", "other-1", &format!("{id}9"), &format!("{}{}", id, u64::MAX)] {
            let told = missed(&feed, &ours, unknown);
            assert!(told.iter().any(|text| is_called(text, "reset")), "{unknown}");
        }
    }

    fn is_called(text: &[u8], name: &str) -> bool {
        String::from_utf8_lossy(text).contains(&format!("\nevent: {name}\n"))
    }

    #[test]
    fn a_letter_comes_behind_what_is_heard_until_then_and_at_once_when_nobody_hears() {
        let feed = feed();
        let ours = Owner::new("default");
        let mut receiver = feed.subscribe(None).frames;
        let post = |told| feed.post(Letter { owner: ours.clone(), name: "run.ended", told });
        let mut next = || receiver.try_recv().map(|told| String::from_utf8_lossy(&told.text).into_owned()).ok();
        post(json!({"n": 1}));
        assert!(next().is_some_and(|text| text.contains("\"n\":1")));
        feed.heard(true);
        post(json!({"n": 2}));
        let waiting = feed.waiting();
        post(json!({"n": 3}));
        assert_eq!(next(), None);
        feed.publish(Some(&ours), "turn.end", &json!({}));
        feed.deliver(waiting);
        assert!(next().is_some_and(|text| text.contains("event: turn.end")));
        assert!(next().is_some_and(|text| text.contains("\"n\":2")));
        assert_eq!(next(), None);
        feed.heard(false);
        assert!(next().is_some_and(|text| text.contains("\"n\":3")), "nothing is left behind");
    }

    #[test]
    fn who_was_told_nothing_before_the_cut_misses_nothing() {
        let feed = feed();
        let ours = Owner::new("default");
        for after in [None, Some("unknown")] {
            let last = feed.subscribe(after).last;
            feed.publish(Some(&ours), "session.created", &json!({"n": 1}));
            let missed = missed(&feed, &ours, &last);
            assert!(missed.iter().any(|text| is_called(text, "session.created")), "{after:?}");
        }
    }

    #[test]
    fn who_watches_while_nobody_looked_is_told_that_something_may_be_missing() {
        let feed = feed();
        let ours = Owner::new("default");
        feed.restart();
        let mut receiver = feed.subscribe(None).frames;
        assert!(receiver.try_recv().is_err(), "who comes afterwards has missed nothing");
        feed.restart();
        let told = receiver.try_recv().map(|told| (told.is_for(&ours), told.text)).unwrap_or_default();
        let text = String::from_utf8_lossy(&told.1).into_owned();
        assert!(told.0 && text.contains("event: reset\n"), "{text}");
        let id = text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap_or_default();
        let first = missed(&feed, &ours, id);
        assert!(first.len() == 1 && first.iter().all(|text| is_called(text, "open")), "and goes on behind it");
    }
}
