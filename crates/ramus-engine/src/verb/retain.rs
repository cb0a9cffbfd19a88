//! `retain`: sessions that nobody wants any more go, by rules that somebody wrote down. Nothing goes without a rule, and
//! what goes is listed. Starred, tagged and running sessions stay.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use ramus_model::{SessionId, time};
use ramus_store::{Removed, Residence};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::settings::Settings;
use crate::verb::delete::Children;
use crate::verb::info::{SessionInfo, SessionStatus};
use crate::verb::list::Filter;

/// How long things are kept. What is none is kept for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Drafts, since they were last written to.
    pub drafts: Option<Duration>,
    /// Archived sessions, since they were archived.
    pub archived: Option<Duration>,
    /// All other sessions, since something was last said in them.
    pub sessions: Option<Duration>,
    /// How many bytes all sessions may have together; the oldest go first.
    pub bytes: Option<u64>,
    /// Damage that was set aside.
    pub quarantine: Option<Duration>,
}

/// A session that goes, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Going {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub title: String,
    /// When something was last said in it.
    pub updated: String,
    /// The rule, by the name of its setting.
    pub rule: &'static str,
    /// How many bytes its log has.
    pub bytes: u64,
}

/// What went, or would go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// The sessions.
    pub sessions: Vec<Going>,
    /// What became of their files.
    pub removed: Removed,
    /// Damage that was set aside.
    pub quarantine: Removed,
    /// How many sessions a rule is about that stay because they are starred, tagged or running.
    pub exempt: usize,
    /// Sessions that could not be deleted, and why.
    pub failed: Vec<(SessionId, String)>,
}

impl Retention {
    /// Reads the rules from settings.
    pub fn of(settings: &Settings) -> Result<Self, EngineError> {
        let text = |key: &str| settings.value(key).map(|(value, _)| value.to_owned()).filter(|value| !value.is_empty());
        let age = |key: &str| text(key).map(|text| age(key, &text)).transpose();
        Ok(Self {
            drafts: age("retention_drafts")?,
            archived: age("retention_archived")?,
            sessions: age("retention_sessions")?,
            bytes: text("retention_bytes").map(|text| size("retention_bytes", &text)).transpose()?,
            quarantine: age("retention_quarantine")?,
        })
    }

    /// Says whether there is any rule.
    pub fn is_any(&self) -> bool {
        *self != Self::default()
    }
}

/// Reads an age: a number and `h`, `d` or `w`.
pub(crate) fn age(key: &str, text: &str) -> Result<Duration, EngineError> {
    let hours = [("h", 1), ("d", 24), ("w", 24 * 7)];
    let found = hours.iter().find_map(|(unit, hours)| Some((text.strip_suffix(unit)?.parse::<u64>().ok()?, *hours)));
    match found.filter(|(count, _)| (1..=100_000).contains(count)) {
        Some((count, hours)) => Ok(Duration::from_secs(count * hours * 3600)),
        None => Err(EngineError::Setting {
            message: format!("{key} is an age such as 12h, 30d or 8w, not {text:?}"),
            hint: Some("empty keeps for ever".into()),
        }),
    }
}

/// Reads a size: a number and `MB` or `GB`.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let units = [("MB", 1_000_000), ("GB", 1_000_000_000)];
    let (number, unit) = units.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, *bytes)))?;
    number.parse::<u64>().ok()?.checked_mul(unit).filter(|bytes| *bytes > 0)
}

/// Reads how much may be kept.
pub(crate) fn size(key: &str, text: &str) -> Result<u64, EngineError> {
    bytes(text).ok_or_else(|| EngineError::Setting {
        message: format!("{key} is a size such as 500MB or 2GB, not {text:?}"),
        hint: Some("empty keeps everything".into()),
    })
}

impl Engine {
    /// Removes what the rules say. With `dry_run`, says what would go.
    pub fn retain(&self, rules: &Retention, dry_run: bool) -> Result<Retained, EngineError> {
        let mut retained = self.choose(rules)?;
        for going in retained.sessions.clone() {
            // What is running, gone or needed now stays; the others go.
            match self.let_go(&going, dry_run) {
                Ok(removed) => {
                    retained.removed.bytes += removed.bytes;
                    retained.removed.files.extend(removed.files);
                }
                Err(error) => {
                    retained.sessions.retain(|other| other.session != going.session);
                    retained.failed.push((going.session, error.to_string()));
                }
            }
        }
        if let Some(before) = rules.quarantine.and_then(|age| self.before(age)) {
            retained.quarantine = self.store.sweep_quarantine(before, dry_run)?;
        }
        Ok(retained)
    }

    fn let_go(&self, going: &Going, dry_run: bool) -> Result<Removed, EngineError> {
        let session = self.open(going.session.as_str(), "/")?;
        // Something may have been said since the list was made.
        if session.info()?.updated != going.updated {
            return Err(EngineError::Conflict("it was gone on with meanwhile".into()));
        }
        Ok(self.delete(&session, Children::Orphan, dry_run)?.removed)
    }

    fn choose(&self, rules: &Retention) -> Result<Retained, EngineError> {
        let mut retained = Retained::default();
        if rules.drafts.is_none() && rules.archived.is_none() && rules.sessions.is_none() && rules.bytes.is_none() {
            return Ok(retained);
        }
        let listing = self.list(&Filter { drafts: true, archived: true, ..Filter::default() })?;
        let locations = self.store.list()?;
        let size = |id: &SessionId| {
            let location = locations.iter().find(|location| location.id == *id);
            location.and_then(|location| self.store.position(location).ok()).map_or(0, |position| position.end)
        };
        let mut kept: Vec<(&SessionInfo, u64)> = Vec::new();
        for info in &listing.sessions {
            let bytes = size(&info.id);
            match self.rule_for(rules, info) {
                Some(_) if is_exempt(info) => retained.exempt += 1,
                Some(rule) => retained.sessions.push(going(info, rule, bytes)),
                None => kept.push((info, bytes)),
            }
        }
        if let Some(most) = rules.bytes {
            let mut total: u64 = kept.iter().map(|(_, bytes)| bytes).sum();
            kept.sort_by_key(|(info, _)| info.updated_millis);
            for (info, bytes) in kept.into_iter().filter(|(info, _)| !is_exempt(info)) {
                if total <= most {
                    break;
                }
                total -= bytes;
                retained.sessions.push(going(info, "retention_bytes", bytes));
            }
        }
        let mut seen = HashSet::new();
        retained.sessions.retain(|going| seen.insert(going.session.clone()));
        Ok(retained)
    }

    /// The rule by which a session goes.
    fn rule_for(&self, rules: &Retention, info: &SessionInfo) -> Option<&'static str> {
        let is_past = |age: Option<Duration>, since: i64| {
            age.is_some_and(|age| {
                i64::try_from(age.as_millis()).is_ok_and(|age| self.now().saturating_sub(since) > age)
            })
        };
        let archived = info.archived_at.as_deref().and_then(time::parse);
        match (info.residence, archived) {
            (Residence::Draft, _) => is_past(rules.drafts, info.updated_millis).then_some("retention_drafts"),
            (_, Some(since)) if is_past(rules.archived, since) => Some("retention_archived"),
            _ => is_past(rules.sessions, info.updated_millis).then_some("retention_sessions"),
        }
    }

    fn before(&self, age: Duration) -> Option<SystemTime> {
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(self.now()).ok()?);
        now.checked_sub(age)
    }
}

fn is_exempt(info: &SessionInfo) -> bool {
    info.starred || !info.tags.is_empty() || matches!(info.status, SessionStatus::Running(_))
}

fn going(info: &SessionInfo, rule: &'static str, bytes: u64) -> Going {
    Going { session: info.id.clone(), title: info.title.clone(), updated: info.updated.clone(), rule, bytes }
}
