//! Who and where: home directories, the name of the user, the name of the machine.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::alphabet::Alphabet;
use crate::span::{Span, before, part, rest};

/// Whose machine a text comes from. What is empty is not looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The name of the user.
    pub user: String,
    /// The home directory.
    pub home: String,
    /// The name of the machine.
    pub host: String,
}

pub(crate) const HOME: &str = "home-directory";
pub(crate) const USER: &str = "user-name";
pub(crate) const HOST: &str = "host-name";

/// Names that say nothing about anybody.
const COMMON: &[&str] =
    &["root", "user", "users", "admin", "ubuntu", "debian", "home", "guest", "test", "localhost", "code"];

/// What stands for one of them in a text that was anonymised.
pub(crate) fn stand_in(kind: &str) -> Option<&'static str> {
    match kind {
        HOME => Some("~"),
        USER => Some("user"),
        HOST => Some("host"),
        _ => None,
    }
}

/// What may be in the name of a user.
const NAME: &Alphabet = &Alphabet::word_and(b"._-");

#[derive(Clone, Copy)]
enum Sign {
    /// A directory that holds home directories.
    Homes,
    /// A home directory.
    Home,
    /// A name.
    Name(&'static str),
}

/// Finds who and where.
#[derive(Clone)]
pub(crate) struct Names {
    signs: AhoCorasick,
    meaning: Vec<Sign>,
}

impl Names {
    pub(crate) fn new(identity: &Identity) -> Option<Self> {
        let mut all: Vec<(String, Sign)> = ["/home/", "/Users/", "\\Users\\", "\\\\Users\\\\", "/home%2F"]
            .iter()
            .map(|homes| ((*homes).to_owned(), Sign::Homes))
            .collect();
        all.push(("/root".to_owned(), Sign::Home));
        let home = identity.home.trim_end_matches(['/', '\\']);
        if home.len() > 1 {
            all.push((home.to_owned(), Sign::Home));
            // How directories of sessions are named after it.
            all.push((home.replace(['/', '\\'], "-"), Sign::Home));
            all.push((home.replace('/', "%2F"), Sign::Home));
            all.push((home.replace('\\', "\\\\"), Sign::Home));
        }
        for (name, kind) in [(&identity.user, USER), (&identity.host, HOST)] {
            if name.len() >= 3 && !COMMON.contains(&name.to_ascii_lowercase().as_str()) {
                all.push((name.clone(), Sign::Name(kind)));
            }
        }
        let (patterns, meaning): (Vec<String>, Vec<Sign>) = all.into_iter().unzip();
        let signs = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns).ok()?;
        Some(Self { signs, meaning })
    }

    pub(crate) fn find(&self, text: &[u8], found: &mut Vec<Span>) {
        for hit in self.signs.find_iter(text) {
            let span = match self.meaning.get(hit.pattern().as_usize()) {
                Some(Sign::Homes) => home_of_somebody(text, hit.start(), hit.end()),
                Some(Sign::Home) => whole_name(text, hit.start(), hit.end(), HOME),
                Some(Sign::Name(kind)) => whole_name(text, hit.start(), hit.end(), kind),
                None => None,
            };
            found.extend(span);
        }
    }
}

fn home_of_somebody(text: &[u8], start: usize, end: usize) -> Option<Span> {
    let len = NAME.run(rest(text, end), 64);
    let is_letter = text.get(end).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let drive = part(text, start.saturating_sub(2), start);
    let start = if matches!(drive, [letter, b':'] if letter.is_ascii_alphabetic()) { start - 2 } else { start };
    // A directory called `home` in the middle of a path holds no homes, unless an address begins there.
    let is_free = !before(text, start).is_some_and(|byte| NAME.has(byte) || byte == b'/')
        || part(text, 0, start).ends_with(b"://");
    let len = if part(text, end, end + len).ends_with(b".") { len - 1 } else { len };
    Span::new(start, end + len, HOME).filter(|_| is_letter && is_free)
}

/// The span, if no longer name is around it.
fn whole_name(text: &[u8], start: usize, end: usize, kind: &'static str) -> Option<Span> {
    let in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_alone = !before(text, start).is_some_and(in_word) && !text.get(end).copied().is_some_and(in_word);
    Span::new(start, end, kind).filter(|_| is_alone)
}
