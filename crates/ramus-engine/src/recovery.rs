//! What was wrong with a session, what was done about it, and what is still wrong: one report for every surface.

use std::fmt;
use std::path::PathBuf;

use ramus_model::{Finding, FindingKind, Severity};
use ramus_store::Location;

use crate::error::EngineError;
use crate::session::Session;

macro_rules! action_kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The kind of an action.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ActionKind {
            $($(#[$doc])* $variant,)*
        }

        impl ActionKind {
            /// Returns the stable kebab-case name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

action_kinds! {
    /// The end of the file was no whole record: it was copied to the quarantine and cut off.
    TornTailSetAside = "torn-tail-set-aside",
    /// The last record got the newline it lacked.
    SealedFinalNewline = "sealed-final-newline",
    /// Bytes that belong to no record were copied to the quarantine.
    DamageSetAside = "damage-set-aside",
    /// Those bytes were overwritten with spaces; every record stayed where it was.
    Blanked = "blanked",
    /// Entries with damaged content were replaced by placeholders with the same id and parent.
    EntriesReplaced = "entries-replaced",
    /// Records that shared a line got lines of their own.
    RecordsSeparated = "records-separated",
    /// A header was put where none could be read.
    HeaderRestored = "header-restored",
    /// A file without a header was kept under another name, and a new session started in its place.
    HeaderSetAside = "header-set-aside",
    /// A file of an older version was upgraded.
    Upgraded = "upgraded",
    /// The file as it was before is kept under another name.
    BackedUp = "backed-up",
    /// What something else changed in the file counts from now on.
    ChangesAccepted = "changes-accepted",
    /// A writer that had failed writes again.
    WriterRecovered = "writer-recovered",
    /// What had come of an answer when its turn was interrupted became an entry.
    AnswerKept = "answer-kept",
    /// What a journal held and could not be used was copied to the quarantine.
    JournalSetAside = "journal-set-aside",
}

/// One thing that was done to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What it is.
    pub kind: ActionKind,
    /// What was done, in a sentence.
    pub detail: String,
    /// How many bytes were set aside.
    pub quarantined: u64,
    /// The files that hold what was set aside.
    pub kept: Vec<PathBuf>,
}

impl Action {
    pub(crate) fn new(kind: ActionKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), quarantined: 0, kept: Vec::new() }
    }

    pub(crate) fn torn_tail(bytes: u64, kept: Option<PathBuf>) -> Self {
        let place = kept.as_ref().map(|path| format!(": {}", path.display())).unwrap_or_default();
        let detail = format!("the last {bytes} bytes were no whole entry and were set aside{place}");
        let kept = kept.into_iter().collect();
        Self { quarantined: bytes, kept, ..Self::new(ActionKind::TornTailSetAside, detail) }
    }

    pub(crate) fn backed_up(at: &Location, backup: &str) -> Self {
        let path = at.path.as_ref().map(|path| {
            let mut name = path.as_os_str().to_owned();
            name.push(backup);
            PathBuf::from(name)
        });
        let detail = format!("the file as it was is kept beside it ({backup})");
        Self { kept: path.into_iter().collect(), ..Self::new(ActionKind::BackedUp, detail) }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

/// How a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecoveryStatus {
    /// Nothing is wrong.
    Clean,
    /// Something was wrong and is not any more.
    Repaired,
    /// Something is wrong.
    Damaged,
    /// There is no session in the file, or it could not be read at all.
    Unreadable,
}

impl RecoveryStatus {
    /// Returns the stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Repaired => "repaired",
            Self::Damaged => "damaged",
            Self::Unreadable => "unreadable",
        }
    }

    /// Says whether nothing is wrong now.
    pub fn is_sound(self) -> bool {
        self <= Self::Repaired
    }
}

/// What was wrong with a session, what was done about it, and what is still wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryReport {
    /// The session.
    pub session: String,
    /// The file.
    pub path: Option<PathBuf>,
    /// How the session is now.
    pub status: RecoveryStatus,
    /// What was done, in order.
    pub actions: Vec<Action>,
    /// How many entries there are.
    pub entries: usize,
    /// How many records were found in damaged lines, before anything was done.
    pub salvaged: usize,
    /// How many ranges of bytes could not be read, before anything was done.
    pub unreadable: usize,
    /// What is wrong or worth a word now, the first ten thousand.
    pub findings: Vec<Finding>,
    /// How many findings there are beyond those.
    pub more_findings: usize,
    /// What a person should know about what was left as it is.
    pub remarks: Vec<String>,
    /// The hash of the file before and after, when a repair changed it.
    pub sha256: Option<(String, String)>,
}

impl RecoveryReport {
    /// Says how a session that was read is.
    pub(crate) fn of(session: &Session) -> Self {
        let log = session.log();
        let mut report = Self {
            session: session.id().to_string(),
            path: session.location().path.clone(),
            status: RecoveryStatus::Clean,
            actions: session.recovered.clone(),
            entries: log.own_len(),
            salvaged: log.salvaged(),
            unreadable: log.findings().iter().filter(|finding| is_unreadable(finding.kind)).count(),
            findings: log.findings().to_vec(),
            more_findings: log.more_findings(),
            remarks: Vec::new(),
            sha256: None,
        };
        report.judge(log.header().is_none_or(|header| header.synthetic) && log.is_empty());
        report
    }

    /// Like [`RecoveryReport::of`], with what the session refers to and cannot be had.
    pub(crate) fn with_blobs(session: &Session) -> Result<Self, EngineError> {
        let mut report = Self::of(session);
        let missing = session.findings_about_blobs()?;
        if !missing.is_empty() {
            report.findings.extend(missing);
            report.judge(report.status == RecoveryStatus::Unreadable);
        }
        Ok(report)
    }

    fn judge(&mut self, is_nothing: bool) {
        let damaged = self.findings.iter().any(|finding| finding.kind.severity() == Severity::Damage);
        self.status = match () {
            () if is_nothing => RecoveryStatus::Unreadable,
            () if damaged => RecoveryStatus::Damaged,
            () if self.actions.is_empty() => RecoveryStatus::Clean,
            () => RecoveryStatus::Repaired,
        };
    }

    /// Says whether nothing is wrong with the data.
    pub fn is_clean(&self) -> bool {
        self.status == RecoveryStatus::Clean
    }

    /// Returns how many bytes were set aside.
    pub fn quarantined_bytes(&self) -> u64 {
        self.actions.iter().map(|action| action.quarantined).sum()
    }

    /// Returns the files that hold what was set aside, and the files that were replaced.
    pub fn kept(&self) -> impl Iterator<Item = &PathBuf> {
        self.actions.iter().flat_map(|action| &action.kept)
    }
}

fn is_unreadable(kind: FindingKind) -> bool {
    use FindingKind::{DamagedLine, NotAnEntry, NulBytes, OversizedLine, TornTail};
    matches!(kind, DamagedLine | NulBytes | TornTail | OversizedLine | NotAnEntry)
}
