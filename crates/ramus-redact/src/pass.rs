//! Redacting texts that belong together, and the account of what was taken out.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::identity::stand_in;
use crate::redactor::{Found, Redactor};

/// How many places of a finding are named.
const PLACES: usize = 20;

/// What was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub kind: &'static str,
    /// Which one of its kind, from 1: it stands in the text too.
    pub number: usize,
    /// How often it stood there.
    pub count: usize,
    /// Where, each place once, the first twenty.
    pub places: Vec<String>,
}

/// Redacts texts one after the other.
pub struct Pass<'r> {
    redactor: &'r Redactor,
    known: HashMap<(&'static str, Vec<u8>), usize>,
    numbers: HashMap<&'static str, usize>,
    findings: Vec<Finding>,
}

impl<'r> Pass<'r> {
    pub(crate) fn new(redactor: &'r Redactor) -> Self {
        Self { redactor, known: HashMap::new(), numbers: HashMap::new(), findings: Vec::new() }
    }

    /// Returns the text without its secrets. `place` says in the account where it was.
    pub fn redact<'t>(&mut self, text: &'t str, place: &str) -> Cow<'t, str> {
        let all = self.redactor.find(text);
        if all.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for found in all {
            out.push_str(text.get(at..found.span.start).unwrap_or_default());
            at = found.span.end;
            let (kind, number) = (found.span.kind, self.note(found, place));
            match stand_in(kind) {
                Some(name) => out.push_str(name),
                None => out.push_str(&format!("[redacted: {kind} {number}]")),
            }
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Returns what was taken out so far, in the order it was met.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Counts a finding and returns its number.
    fn note(&mut self, found: Found, place: &str) -> usize {
        let kind = found.span.kind;
        let index = match self.known.get(&(kind, found.secret.clone())) {
            Some(index) => *index,
            None => {
                let number = self.numbers.entry(kind).and_modify(|number| *number += 1).or_insert(1);
                self.findings.push(Finding { kind, number: *number, count: 0, places: Vec::new() });
                self.known.insert((kind, found.secret), self.findings.len() - 1);
                self.findings.len() - 1
            }
        };
        let Some(finding) = self.findings.get_mut(index) else { return 0 };
        finding.count += 1;
        if finding.places.len() < PLACES && finding.places.last().is_none_or(|last| last != place) {
            finding.places.push(place.to_owned());
        }
        finding.number
    }
}
