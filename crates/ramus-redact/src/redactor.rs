//! What is looked for, and everything that was found in a text, in its order.

use crate::encoded;
use crate::identity::{Identity, Names};
use crate::own::Own;
use crate::pass::Pass;
use crate::scan::Scanner;
use crate::span::{Span, part};
use crate::view::{self, View};

/// Finds secrets. Making one costs a millisecond; it can be used for any number of texts.
#[derive(Clone)]
pub struct Redactor {
    scanner: Option<Scanner>,
    own: Option<Own>,
    names: Option<Names>,
    /// Whether something that shall be looked for cannot be. Then nothing is shown: whoever shares must not believe that a
    /// text is clean because nobody could look.
    is_blind: bool,
}

/// What a text is called that nobody could look at.
const UNSEEN: &str = "not-looked-at";

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) span: Span,
    /// What it is without the spelling it has there.
    pub(crate) secret: Vec<u8>,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// Looks for everything whose form or surroundings give it away.
    pub fn new() -> Self {
        // The patterns are constants; a test makes sure that they can be built.
        let scanner = Scanner::new().ok();
        Self { is_blind: scanner.is_none(), scanner, own: None, names: None }
    }

    /// Looks for these values too, wherever they stand. Those of fewer than six characters are left alone: they are words.
    #[must_use]
    pub fn with_secrets(mut self, values: &[String]) -> Self {
        match Own::new(values) {
            Ok(own) => self.own = own,
            Err(_) => self.is_blind = true,
        }
        self
    }

    /// Replaces home directories, and the names of this user and machine.
    #[must_use]
    pub fn with_identity(mut self, identity: &Identity) -> Self {
        self.names = Names::new(identity);
        self.is_blind |= self.names.is_none();
        self
    }

    /// Starts to redact texts that belong together: the same secret gets the same number in all of them.
    pub fn pass(&self) -> Pass<'_> {
        Pass::new(self)
    }

    /// Says whether a name is that of a secret, as variables of the environment and settings are named.
    pub fn is_secret_name(name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let strong = [
            "password",
            "passwd",
            "passphrase",
            "secret",
            "token",
            "api_key",
            "apikey",
            "access_key",
            "private_key",
            "credential",
        ];
        strong.iter().any(|word| name.contains(word))
            || ["_key", "_pat", "_pwd", "_auth", "_dsn"].iter().any(|end| name.ends_with(end))
    }

    /// Finds everything, sorted, without overlaps.
    pub(crate) fn find(&self, text: &str) -> Vec<Found> {
        let bytes = text.as_bytes();
        if self.is_blind {
            return Span::new(0, bytes.len(), UNSEEN).map(|span| in_place(bytes, span)).into_iter().collect();
        }
        let mut all = self.look(bytes);
        for (start, end) in view::escaped_parts(bytes) {
            for view in View::all(part(bytes, start, end)) {
                let behind = |span: Span| Span { start: span.start + start, end: span.end + start, ..span };
                let found = self.look(&view.text).into_iter();
                all.extend(found.map(|found| Found { span: behind(view.in_text(found.span)), ..found }));
            }
        }
        if let Some(names) = &self.names {
            let mut spans = Vec::new();
            names.find(bytes, &mut spans);
            all.extend(spans.into_iter().map(|span| in_place(bytes, span)));
        }
        disjoint(text, all)
    }

    /// One look at a text as it stands, and into the base64 in it.
    fn look(&self, text: &[u8]) -> Vec<Found> {
        let mut all = self.plainly(text);
        encoded::each(text, |start, end, decoded| {
            let inside = self.plainly(decoded).into_iter().next();
            all.extend(inside.map(|found| Found { span: Span { start, end, ..found.span }, ..found }));
        });
        all
    }

    fn plainly(&self, text: &[u8]) -> Vec<Found> {
        let mut all = Vec::new();
        if let Some(own) = &self.own {
            own.find(text, |span, secret| all.push(Found { span, secret: secret.to_vec() }));
        }
        let mut spans = Vec::new();
        if let Some(scanner) = &self.scanner {
            scanner.scan(text, &mut spans);
        }
        all.extend(spans.into_iter().map(|span| in_place(text, span)));
        all
    }
}

fn in_place(text: &[u8], span: Span) -> Found {
    Found { span, secret: part(text, span.start, span.end).to_vec() }
}

/// Sorts, joins what overlaps, and widens what would cut a character.
fn disjoint(text: &str, mut all: Vec<Found>) -> Vec<Found> {
    for found in &mut all {
        while !text.is_char_boundary(found.span.start) {
            found.span.start -= 1;
        }
        while !text.is_char_boundary(found.span.end) {
            found.span.end += 1;
        }
    }
    // Stable: of spans that are the same, the one that says most was found first.
    all.sort_by_key(|found| (found.span.start, std::cmp::Reverse(found.span.end)));
    let mut out: Vec<Found> = Vec::with_capacity(all.len());
    for found in all {
        match out.last_mut() {
            Some(last) if found.span.start < last.span.end => last.span.end = last.span.end.max(found.span.end),
            _ => out.push(found),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Redactor;

    #[test]
    fn the_patterns_can_be_built() {
        assert!(Redactor::new().scanner.is_some());
    }

    #[test]
    fn who_cannot_look_shows_nothing() {
        let redactor = Redactor { is_blind: true, ..Redactor::new() };
        assert_eq!(redactor.pass().redact("anything", ""), "[redacted: not-looked-at 1]");
    }
}
