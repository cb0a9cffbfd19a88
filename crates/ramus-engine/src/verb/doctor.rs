//! `doctor`: reads every byte of a session and says what is wrong. It changes nothing, unless it is asked to repair.

use std::time::{Duration, SystemTime};

use ramus_model::Depth;
use ramus_store::{Leftover, Location};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::recovery::RecoveryReport;
use crate::session::{among, load_among};

/// How old a file must be before it counts as left behind: whoever is still writing it is done by then.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// One session of many, and what examining it came to.
#[derive(Debug)]
pub struct Examined {
    /// The session's name in the home.
    pub session: String,
    /// What was found, or why it could not be opened.
    pub outcome: Result<RecoveryReport, EngineError>,
}

/// What a doctor does about what is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Treatment {
    /// Nothing: not even times of files change.
    #[default]
    LookOnly,
    /// Repairs what can be repaired without losing a byte.
    Repair,
}

impl Engine {
    /// Examines one session. Changes nothing.
    pub fn doctor(&self, reference: &str, cwd: &str) -> Result<RecoveryReport, EngineError> {
        RecoveryReport::with_blobs(&self.open_at(reference, cwd, Depth::Whole)?)
    }

    /// Examines every session of the home, one after the other. One that cannot be opened or repaired is reported with
    /// the others.
    pub fn doctor_all(&self, treatment: Treatment) -> Result<Vec<Examined>, EngineError> {
        let known = self.store.list()?;
        let examine = |location: &Location| match treatment {
            Treatment::LookOnly => load_among(&self.store, location.clone(), Depth::Whole, &among(&known))
                .and_then(|session| RecoveryReport::with_blobs(&session)),
            Treatment::Repair => self.repair_at(location.clone()),
        };
        let all =
            known.iter().map(|location| Examined { session: location.id.to_string(), outcome: examine(location) });
        Ok(all.collect())
    }

    /// Lists what interrupted operations left in the home more than a day ago. Removes nothing.
    pub fn leftovers(&self) -> Result<Vec<Leftover>, EngineError> {
        let before = SystemTime::now().checked_sub(LEFTOVER_AGE).unwrap_or(SystemTime::UNIX_EPOCH);
        Ok(self.store.leftovers(before)?)
    }
}
