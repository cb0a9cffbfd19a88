//! What a reading noticed: damage, and harmless oddities worth a word.

use std::fmt;

macro_rules! finding_kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $severity:ident,)*) => {
        /// The kind of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FindingKind {
            $($(#[$doc])* $variant,)*
        }

        impl FindingKind {
            /// Returns the stable kebab-case name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Says how bad it is.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)*
                }
            }
        }
    };
}

finding_kinds! {
    /// No header could be read.
    MissingHeader = "missing-header", Damage,
    /// A second header stands in the middle of the file.
    SecondHeader = "second-header", Damage,
    /// The last line was torn by a crash.
    TornTail = "torn-tail", Damage,
    /// A line or a part of one is not JSON.
    DamagedLine = "damaged-line", Damage,
    /// A line holds zero bytes.
    NulBytes = "nul-bytes", Damage,
    /// Bytes are not the ones that were written; something else changed them.
    ChangedOutside = "changed-outside", Damage,
    /// Several records share a line; all complete ones were read.
    GluedRecords = "glued-records", Damage,
    /// A line is longer than can be held.
    OversizedLine = "oversized-line", Damage,
    /// A line is JSON but not an entry.
    NotAnEntry = "not-an-entry", Damage,
    /// An entry has no usable id and got one derived from its position.
    MissingId = "missing-id", Damage,
    /// An id was used before; the later entry goes by `id~2`.
    DuplicateId = "duplicate-id", Damage,
    /// An entry names a parent that is not there.
    MissingParent = "missing-parent", Damage,
    /// Parents form a circle, which was cut at this entry.
    Cycle = "cycle", Damage,
    /// The body of an entry is not what its type requires.
    MalformedBody = "malformed-body", Damage,
    /// Text is not valid UTF-8.
    InvalidUtf8 = "invalid-utf8", Damage,
    /// The session this one was forked from is gone or cannot be read.
    MissingOrigin = "missing-origin", Damage,
    /// A blob that an entry refers to is missing or does not hold what it should.
    MissingBlob = "missing-blob", Damage,
    /// The last line has no newline but is complete.
    NoFinalNewline = "no-final-newline", Notice,
    /// The file starts with a byte order mark.
    ByteOrderMark = "bom", Notice,
    /// Lines end in CR LF.
    CarriageReturns = "crlf", Notice,
    /// The file is of an older version; the first append upgrades it.
    OldVersion = "old-version", Notice,
    /// The header names a version this program does not know; the entries were read as version 3.
    NewerVersion = "newer-version", Notice,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong with the data.
    Notice,
    /// Something was lost, hidden or repaired in memory.
    Damage,
}

/// One thing a reading noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The line, from 1.
    pub line: u64,
    /// The byte offset in the file.
    pub offset: u64,
    /// The details, for a person.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.kind.name(), self.detail)
    }
}
