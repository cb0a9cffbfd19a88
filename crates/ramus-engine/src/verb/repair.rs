//! `repair`: makes every line of a damaged file one record, and never destroys a byte.
//!
//! What is taken out goes to the quarantine first; a file that is replaced keeps a name of its own. Nothing is changed
//! when there is nothing to repair, and a repair that was interrupted can be run again. Every step states the position
//! it expects: when the file changed in between, it is read and decided on again.

use ramus_model::repair::{Changes, Plan, salvage_header};
use ramus_model::{CURRENT_VERSION, Depth, FindingKind, Header, RamusHeader, SessionId, Tail};
use ramus_store::{Flush, Hold, Location, Position, Residence, StoreError};
use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::recovery::{Action, ActionKind, RecoveryReport, RecoveryStatus};
use crate::session::{Session, header_of, load};
use crate::verb::create::{engine_version, new_session_id};

/// How often a repair that others outrun decides again.
const ATTEMPTS: usize = 100;

/// How many ranges of damage are set aside one by one; of more, one copy is made from the first to the last.
const RANGES: usize = 64;

/// How much of a file without a header is searched for the name of another session.
const MENTION: usize = 1 << 16;

impl Engine {
    /// Repairs what can be repaired in a session and says what was done and what is still wrong.
    pub fn repair(&self, reference: &str, cwd: &str) -> Result<RecoveryReport, EngineError> {
        self.repair_at(self.locate(reference, cwd)?)
    }

    pub(crate) fn repair_at(&self, location: Location) -> Result<RecoveryReport, EngineError> {
        let mut session = load(&self.store, location, Depth::Whole)?;
        let first = RecoveryReport::with_blobs(&session)?;
        if !session.log().is_damaged() && session.log().tail() == Tail::Ended {
            return Ok(first);
        }
        let mut course = Course::default();
        for _ in 0..ATTEMPTS {
            // What forks allow must stay what they allow until it is done.
            let _forks = self.store.hold_forks(Hold::Exclusive)?;
            let (bytes, position) = self.read_all(session.location())?;
            let Some(step) = self.next_step(&session, &bytes, &mut course)? else {
                return Ok(course.conclude(first, RecoveryReport::with_blobs(&session)?, &bytes));
            };
            match self.take(&mut session, &bytes, position, step) {
                Ok(actions) => course.took(&bytes, actions),
                Err(EngineError::Store(StoreError::Moved { .. } | StoreError::Replaced { .. })) => {}
                Err(error) => return Err(error),
            }
            session = load(&self.store, session.location().clone(), Depth::Whole)?;
        }
        Err(StoreError::Busy { session: first.session, seconds: 0 }.into())
    }

    fn read_all(&self, location: &Location) -> Result<(Vec<u8>, Position), EngineError> {
        let mut bytes = Vec::new();
        let position = self.store.read(location, 0, &mut |chunk| bytes.extend_from_slice(chunk))?;
        Ok((bytes, position))
    }

    /// Decides what to do next; none when there is nothing that can be done.
    fn next_step(&self, session: &Session, bytes: &[u8], course: &mut Course) -> Result<Option<Step>, EngineError> {
        course.remarks.clear();
        let plan = Plan::of(bytes);
        let header = plan.front.clone().and_then(|front| self.header_for(session, &plan, bytes.get(front)?));
        if plan.front.is_some() && header.is_none() {
            course.remarks.push("the file holds no session; it was left as it is".into());
            return Ok(None);
        }
        let mut header = header.map(|header| header.to_line());
        let mut joints = plan.joints.clone();
        let needs_place = header.as_ref().is_some_and(|header| !plan.has_room(bytes, header));
        if needs_place || !joints.is_empty() {
            let forked = self.furthest_fork(session.location())?;
            joints.retain(|joint| *joint as u64 >= forked);
            if joints.len() < plan.joints.len() {
                course.remarks.push(
                    "records without a byte between them were left in one line: forks refer to what follows them"
                        .into(),
                );
            }
            if needs_place && forked > 0 {
                course.remarks.push(
                    "there is no room for a header in front of the entries, and forks refer to where they are".into(),
                );
                header = None;
            }
        }
        let is_sound_inside = plan.damage.is_empty() && plan.breaks.is_empty() && joints.is_empty() && header.is_none();
        Ok(match plan.tail {
            _ if !is_sound_inside => Some(Step::Replace { plan, joints, header }),
            Tail::Torn { from } => Some(Step::Cut { from }),
            Tail::Unended => Some(Step::Seal),
            Tail::Ended if is_changed(session) => Some(Step::Accept),
            Tail::Ended => None,
        })
    }

    /// A header for a file whose own cannot be used: what is left of the old one, completed; none when there is no sign
    /// that the file is a session. In our home a file is found by the id in its name, so that one counts.
    fn header_for(&self, session: &Session, plan: &Plan, front: &[u8]) -> Option<Header> {
        let salvaged = salvage_header(front);
        if salvaged.is_none() && plan.records == 0 {
            return None;
        }
        let version = if session.log().is_legacy() { 1 } else { CURRENT_VERSION };
        let mut header = salvaged.unwrap_or_else(|| Header {
            id: new_session_id(),
            version,
            timestamp: self.timestamp(),
            cwd: session.cwd().to_owned(),
            ramus: RamusHeader { engine: Some(engine_version()), ..RamusHeader::default() },
            synthetic: false,
            ..Header::synthetic("")
        });
        if session.residence() != Residence::InPlace {
            header.id = session.location().id.clone();
        }
        if header.version == 1 && !session.log().is_legacy() && !session.log().is_empty() {
            header.version = CURRENT_VERSION;
        }
        Some(header)
    }

    /// Returns how far forks reach into a log: what is in front of that must stay where it is.
    fn furthest_fork(&self, location: &Location) -> Result<u64, EngineError> {
        if location.residence == Residence::InPlace {
            return Ok(0);
        }
        let mut furthest = 0;
        for other in self.store.list()? {
            if other.id == location.id {
                continue;
            }
            let reach = match header_of(self.store.as_ref(), &other) {
                Ok(Some(header)) => header
                    .ramus
                    .forked_from
                    .filter(|fork| fork.origin.session == location.id)
                    .map_or(0, |fork| fork.offset),
                // A fork may have lost its header too.
                _ if self.may_mention(&other, &location.id) => u64::MAX,
                _ => 0,
            };
            furthest = furthest.max(reach);
        }
        Ok(furthest)
    }

    /// Says whether a session whose header cannot be read may have been forked from another one.
    pub(crate) fn may_mention(&self, other: &Location, origin: &SessionId) -> bool {
        match self.store.read_at(other, 0, MENTION) {
            Ok(start) => String::from_utf8_lossy(&start).contains(origin.as_str()),
            Err(StoreError::NotFound { .. }) => false,
            Err(_) => true,
        }
    }

    fn take(
        &self,
        session: &mut Session,
        bytes: &[u8],
        position: Position,
        step: Step,
    ) -> Result<Vec<Action>, EngineError> {
        match step {
            Step::Cut { from } => {
                let aside = session.writer()?.cut(position, from)?;
                Ok(vec![Action::torn_tail(aside.len, aside.path)])
            }
            Step::Seal => {
                session.writer()?.append(position, b"\n", Flush::Now)?;
                Ok(vec![Action::new(ActionKind::SealedFinalNewline, "the last entry got the newline it lacked")])
            }
            Step::Accept => {
                if let Some(sidecars) = self.store.sidecars() {
                    sidecars.discard(session.location())?;
                }
                let sentence = "what something else changed in the file counts from now on";
                Ok(vec![Action::new(ActionKind::ChangesAccepted, sentence)])
            }
            Step::Replace { plan, joints, header } => {
                let mut actions = self.set_damage_aside(session.location(), bytes, &plan)?;
                let hash = hash_of(bytes);
                let backup = format!(".corrupt-{}", hash.get(..16).unwrap_or(&hash));
                let repaired = plan.apply(bytes, &Changes { joints: &joints, header: header.as_deref() });
                self.store.rewrite(session.location(), position, &repaired, Some(&backup))?;
                actions.extend(describe(&plan, bytes, joints.len(), header.is_some()));
                actions.push(Action::backed_up(session.location(), &backup));
                Ok(actions)
            }
        }
    }

    /// Copies every damaged range to the quarantine, the torn tail included.
    fn set_damage_aside(&self, at: &Location, bytes: &[u8], plan: &Plan) -> Result<Vec<Action>, EngineError> {
        let mut ranges = plan.damage.clone();
        if let (true, Some(first), Some(last)) = (ranges.len() > RANGES, plan.damage.first(), plan.damage.last()) {
            ranges = std::iter::once(first.start..last.end).collect();
        }
        let mut actions = Vec::new();
        let bytes_in_all = plan.damage.iter().map(|range| range.len() as u64).sum();
        let sentence = format!(
            "{bytes_in_all} bytes in {} belong to no whole entry and were copied to the quarantine",
            counted(plan.damage.len(), "place", "places")
        );
        let mut aside = Action { quarantined: bytes_in_all, ..Action::new(ActionKind::DamageSetAside, sentence) };
        for range in ranges {
            let damage = bytes.get(range.clone()).unwrap_or_default();
            let kept = self.store.set_aside(at, range.start as u64, damage, "these bytes belong to no record")?;
            aside.kept.extend(kept.path);
        }
        if !plan.damage.is_empty() {
            actions.push(aside);
        }
        if let Tail::Torn { from } = plan.tail {
            let tail = bytes.get(plan.end(bytes)..).unwrap_or_default();
            let kept = self.store.set_aside(at, from, tail, "the end of the file is not a whole record")?;
            actions.push(Action::torn_tail(kept.len, kept.path));
        }
        Ok(actions)
    }
}

/// One change of the file.
enum Step {
    /// Set the torn tail aside.
    Cut { from: u64 },
    /// End the last line.
    Seal,
    /// Take what is there for what is meant, and forget the checksums that contradict it.
    Accept,
    /// Replace the file by a repaired one.
    Replace { plan: Plan, joints: Vec<usize>, header: Option<Vec<u8>> },
}

/// Says whether the checksums that were kept of a log contradict it.
fn is_changed(session: &Session) -> bool {
    session.log().findings().iter().any(|finding| finding.kind == FindingKind::ChangedOutside)
}

/// What a repair has come to.
#[derive(Default)]
struct Course {
    actions: Vec<Action>,
    remarks: Vec<String>,
    /// The hash of the file before anything was done.
    hash: Option<String>,
}

impl Course {
    fn took(&mut self, before: &[u8], actions: Vec<Action>) {
        self.hash.get_or_insert_with(|| hash_of(before));
        self.actions.extend(actions);
    }

    /// Completes the report on how the session is now with what was found before and what was done.
    fn conclude(self, first: RecoveryReport, last: RecoveryReport, bytes: &[u8]) -> RecoveryReport {
        let status = match last.status {
            RecoveryStatus::Clean if !self.actions.is_empty() => RecoveryStatus::Repaired,
            status => status,
        };
        RecoveryReport {
            status,
            actions: self.actions,
            remarks: self.remarks,
            salvaged: first.salvaged,
            unreadable: first.unreadable,
            sha256: self.hash.map(|before| (before, hash_of(bytes))),
            ..last
        }
    }
}

fn hash_of(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn counted(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// Says what a replacement changed, beside what was set aside.
fn describe(plan: &Plan, bytes: &[u8], joints: usize, has_header: bool) -> Vec<Action> {
    let mut actions = Vec::new();
    if !plan.damage.is_empty() {
        let sentence = "damaged bytes were overwritten with spaces; every entry stayed where it was";
        actions.push(Action::new(ActionKind::Blanked, sentence));
    }
    if !plan.placeholders.is_empty() {
        let replaced = counted(plan.placeholders.len(), "entry", "entries");
        let sentence = format!("{replaced} with damaged content got a placeholder with the same id and parent");
        actions.push(Action::new(ActionKind::EntriesReplaced, sentence));
    }
    if plan.breaks.len() + joints > 0 {
        let parted = counted(plan.breaks.len() + joints, "entry", "entries");
        let sentence = format!("{parted} got a line of their own");
        actions.push(Action::new(ActionKind::RecordsSeparated, sentence));
    }
    if has_header {
        actions.push(Action::new(ActionKind::HeaderRestored, "a session header was put in front of the entries"));
    }
    let kept = bytes.get(..plan.end(bytes)).unwrap_or_default();
    if kept.last().is_some_and(|last| *last != b'\n') {
        actions.push(Action::new(ActionKind::SealedFinalNewline, "the last entry got the newline it lacked"));
    }
    actions
}
