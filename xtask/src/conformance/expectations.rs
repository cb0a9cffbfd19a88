//! Where a real program fails on a file, and what ramus answers instead.
//!
//! A row is a claim about both sides: the program must really fail that way, and our answer must be that of the named
//! reference. A row that no longer holds is a failure, so the table cannot rot.

use super::oracle::Oracle;

/// How a program fails on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It reports an error or crashes; the file stays as it is.
    Refuses,
    /// It does not answer in many times the time it should take; some end when their memory, or an array, is full.
    Hangs,
    /// It replaces the file with an empty session.
    Destroys,
}

/// Whose answer ours must equal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reference {
    /// Another program reads this very file well.
    Program(Oracle),
    /// The same conversation without the damage, in a neighbouring file.
    Neighbour(&'static str),
}

/// One file on which one program fails.
pub(super) struct Expectation {
    /// Name of the file, without its folder.
    pub(super) file: &'static str,
    pub(super) program: Oracle,
    pub(super) fails: Failure,
    pub(super) ours: Reference,
    pub(super) why: &'static str,
}

const HEADER: &str = "a damaged header hides nothing: every entry is shown under a header made up for reading";
const MARK: &str = "a byte order mark is not part of the first line";
const CYCLE: &str = "an entry that names itself as its parent is cut off there and becomes a root";
const SCALAR: &str = "a line that is JSON but no entry is reported and skipped";
const SLOT: &str = "the title line of newer files is read as a title, and the header after it";

const TABLE: [Expectation; 8] = [
    row("04-corrupt-header.jsonl", Oracle::Pi87, Failure::Refuses, Reference::Neighbour("00-base.jsonl"), HEADER),
    row("04-corrupt-header.jsonl", Oracle::Omp13, Failure::Destroys, Reference::Neighbour("00-base.jsonl"), HEADER),
    row("07-bom.jsonl", Oracle::Pi87, Failure::Refuses, Reference::Program(Oracle::Omp13), MARK),
    row("12-self-parent.jsonl", Oracle::Pi87, Failure::Hangs, Reference::Program(Oracle::Omp18), CYCLE),
    row("12-self-parent.jsonl", Oracle::Omp13, Failure::Hangs, Reference::Program(Oracle::Omp18), CYCLE),
    row("39-json-array-line.jsonl", Oracle::Omp13, Failure::Refuses, Reference::Program(Oracle::Pi87), SCALAR),
    row("40-title-slot.jsonl", Oracle::Pi87, Failure::Refuses, Reference::Program(Oracle::Omp18), SLOT),
    row("40-title-slot.jsonl", Oracle::Omp13, Failure::Destroys, Reference::Program(Oracle::Omp18), SLOT),
];

const fn row(file: &'static str, program: Oracle, fails: Failure, ours: Reference, why: &'static str) -> Expectation {
    Expectation { file, program, fails, ours, why }
}

/// The row for this file and program.
pub(super) fn find(file: &str, program: Oracle) -> Option<&'static Expectation> {
    const ROWS: &[Expectation] = &TABLE;
    ROWS.iter().find(|row| row.file == file && row.program == program)
}
