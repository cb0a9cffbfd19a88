//! `doctor`: reads every byte of a session and says what is wrong. It changes nothing.

use ramus_model::{Depth, Finding, FindingKind, Severity};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, load_among};

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
    /// What was noticed, the first ten thousand.
    pub findings: Vec<Finding>,
    /// How many findings there were beyond those.
    pub more_findings: usize,
}

/// One session of many, and what examining it came to.
#[derive(Debug)]
pub struct Examined {
    /// The session's name in the home.
    pub session: String,
    /// What was found, or why it could not be opened.
    pub outcome: Result<Diagnosis, EngineError>,
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
        diagnose(&self.open_at(reference, cwd, Depth::Whole)?)
    }

    /// Examines every session of the home. A session that cannot be opened is reported with the others.
    pub fn doctor_all(&self) -> Result<Vec<Examined>, EngineError> {
        let known = self.store.list()?;
        let all = known.iter().map(|location| {
            let session = location.id.to_string();
            let outcome =
                load_among(&self.store, location.clone(), Depth::Whole, &known).and_then(|session| diagnose(&session));
            Examined { session, outcome }
        });
        Ok(all.collect())
    }
}

fn diagnose(session: &Session) -> Result<Diagnosis, EngineError> {
    let mut findings = session.log().findings().to_vec();
    findings.extend(session.findings_about_blobs()?);
    let count = |kinds: &[FindingKind]| findings.iter().filter(|finding| kinds.contains(&finding.kind)).count();
    let unreadable = count(&[
        FindingKind::DamagedLine,
        FindingKind::NulBytes,
        FindingKind::TornTail,
        FindingKind::OversizedLine,
        FindingKind::NotAnEntry,
    ]);
    Ok(Diagnosis {
        session: session.id().to_string(),
        path: session.location().path.clone(),
        entries: session.log().own_len(),
        salvaged: session.log().salvaged(),
        unreadable,
        findings,
        more_findings: session.log().more_findings(),
    })
}
