//! Wildcards: whether a pattern speaks of a subject, part of which may be unknown.
//!
//! A subject may hold two marks for text that nobody knows yet: [`ANY`] for any text at all, as an unquoted variable of a
//! shell may become, and [`WORD`] for text inside one word. [`covers`] says that a pattern matches whatever the text turns out
//! to be, [`touches`] that it matches for some text. Without marks both are the same. Both take time that grows with the
//! product of the lengths, however many wildcards there are.

/// Stands in a subject for any text, however many words.
pub const ANY: char = '\0';

/// Stands in a subject for any text without white space.
pub const WORD: char = '\u{1}';

/// Says whether a pattern matches a subject whatever stands at its marks.
pub fn covers(pattern: &str, subject: &str) -> bool {
    either(pattern, |pattern| walk(pattern, subject, cover))
}

/// Says whether a pattern matches a subject for some text at its marks.
pub fn touches(pattern: &str, subject: &str) -> bool {
    either(pattern, |pattern| walk(pattern, subject, touch))
}

/// Tries a pattern as it is, and without a trailing ` *`.
fn either(pattern: &str, matches: impl Fn(&str) -> bool) -> bool {
    matches(pattern) || pattern.strip_suffix(" *").is_some_and(matches)
}

/// What a step over one character of each does to the places in both.
struct Step {
    /// The pattern goes on, the subject stays.
    pattern: bool,
    /// The subject goes on, the pattern stays.
    subject: bool,
    /// Both go on.
    both: bool,
}

fn cover(pattern: char, subject: Option<char>) -> Step {
    match (pattern, subject) {
        ('*', _) => Step { pattern: true, subject: true, both: false },
        (_, None | Some(ANY | WORD)) => Step { pattern: false, subject: false, both: false },
        ('?', Some(_)) => Step { pattern: false, subject: false, both: true },
        (this, Some(that)) => Step { pattern: false, subject: false, both: this == that },
    }
}

fn touch(pattern: char, subject: Option<char>) -> Step {
    match (pattern, subject) {
        ('*', _) => Step { pattern: true, subject: true, both: false },
        (_, Some(ANY)) => Step { pattern: true, subject: true, both: false },
        (this, Some(WORD)) => Step { pattern: !this.is_whitespace(), subject: true, both: false },
        (_, None) => Step { pattern: false, subject: false, both: false },
        ('?', Some(_)) => Step { pattern: false, subject: false, both: true },
        (this, Some(that)) => Step { pattern: false, subject: false, both: this == that },
    }
}

/// Walks both texts at once: keeps, for each place in the subject, which places of the pattern can be reached.
fn walk(pattern: &str, subject: &str, step: fn(char, Option<char>) -> Step) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let mut here = vec![false; pattern.len() + 1];
    if let Some(first) = here.first_mut() {
        *first = true;
    }
    for subject in subject.chars().map(Some).chain([None]) {
        let mut next = vec![false; pattern.len() + 1];
        let mut carried = false;
        for (at, start) in here.iter().enumerate() {
            let now = *start || carried;
            carried = false;
            let Some(letter) = pattern.get(at) else {
                // Behind the pattern only a mark can be left, and it may stand for nothing.
                let mark = matches!(subject, Some(ANY | WORD)) && step('a', subject).subject;
                if now && mark {
                    set(&mut next, at);
                }
                if subject.is_none() {
                    return now;
                }
                break;
            };
            if !now {
                continue;
            }
            let Step { pattern, subject, both } = step(*letter, subject);
            carried = pattern;
            if subject {
                set(&mut next, at);
            }
            if both {
                set(&mut next, at + 1);
            }
        }
        if subject.is_some() && !next.contains(&true) {
            return false;
        }
        here = next;
    }
    false
}

fn set(places: &mut [bool], at: usize) {
    if let Some(place) = places.get_mut(at) {
        *place = true;
    }
}
