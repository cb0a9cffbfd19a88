//! `doctor`: reads every byte of a session and says what is wrong. It changes nothing.

use ramus_model::{Depth, Finding, FindingKind, Severity};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, load};

/// What a thorough reading found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The session.
    pub session: String,
    /// The file.
    pub path: Option<std::path::PathBuf>,
    /// How many entries were read.
    pub entries: usize,
    /// How many records were found in damaged lines.
    pub salvaged: usize,
    /// How many ranges of bytes could not be read.
    pub unreadable: usize,
    /// Everything that was noticed.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// Says whether nothing is wrong with the data.
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.kind.severity() == Severity::Notice)
    }
}

impl Engine {
    /// Examines one session.
    pub fn doctor(&self, reference: &str, cwd: &str) -> Result<Diagnosis, EngineError> {
        Ok(diagnose(&self.open_at(reference, cwd, Depth::Whole)?))
    }

    /// Examines every session of the home. A session that cannot be opened is reported with the others.
    pub fn doctor_all(&self) -> Result<Vec<Result<Diagnosis, (String, EngineError)>>, EngineError> {
        let all = self.store.list()?.into_iter().map(|location| {
            let name = location.id.to_string();
            load(&self.store, location, Depth::Whole).map(|session| diagnose(&session)).map_err(|error| (name, error))
        });
        Ok(all.collect())
    }
}

fn diagnose(session: &Session) -> Diagnosis {
    let findings = session.log().findings().to_vec();
    let count = |kinds: &[FindingKind]| findings.iter().filter(|finding| kinds.contains(&finding.kind)).count();
    let unreadable = count(&[
        FindingKind::DamagedLine,
        FindingKind::NulBytes,
        FindingKind::TornTail,
        FindingKind::OversizedLine,
        FindingKind::NotAnEntry,
    ]);
    Diagnosis {
        session: session.id().to_string(),
        path: session.location().path.clone(),
        entries: session.log().own_len(),
        salvaged: session.log().salvaged(),
        unreadable,
        findings,
    }
}
