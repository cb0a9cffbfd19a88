//! The title of a session: the latest word of the log, the title slot and the header.

use crate::log::Log;
use crate::time;

/// Returns the title that was given, if any.
pub fn given(log: &Log) -> Option<&str> {
    let slot = log.title_slot().filter(|slot| !slot.title.is_empty());
    let slot_time = slot.and_then(|slot| time::parse(&slot.updated_at));
    match (log.facts().title(), slot) {
        // The slot is rewritten in place, so it can be newer than anything in the log.
        (Some((_, entry_time)), Some(slot)) if slot_time > entry_time => Some(&slot.title),
        (Some((title, _)), _) => Some(title),
        (None, Some(slot)) => Some(&slot.title),
        (None, None) => log.header()?.title.as_deref(),
    }
}

/// Returns the title to show: the given one, or one made from the time of creation.
pub fn shown(log: &Log) -> String {
    match given(log) {
        Some(title) => title.to_owned(),
        None => match log.header().map(|header| &*header.timestamp).filter(|time| !time.is_empty()) {
            Some(time) => format!("New session - {time}"),
            None => "New session".to_owned(),
        },
    }
}

/// The longest title that is made of what somebody said, in characters.
const LONGEST: usize = 60;
/// How much of a line is looked at, in characters.
const LOOKED_AT: usize = 1000;

/// Makes a title of what somebody said: the first line that says something, without the marks around it. None when nothing is left.
pub fn made_of(said: &str) -> Option<String> {
    said.lines().find_map(|line| {
        let visible: String =
            line.trim().chars().take(LOOKED_AT).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let bare = visible.trim_start_matches(is_mark).trim_end_matches(|c: char| c == '.' || is_mark(c));
        let words = bare.split_whitespace().collect::<Vec<_>>().join(" ");
        let short = match words.char_indices().nth(LONGEST) {
            Some(_) => {
                let cut: String = words.chars().take(LONGEST - 1).collect();
                format!("{}…", cut.trim_end())
            }
            None => words,
        };
        (!short.is_empty()).then_some(short)
    })
}

/// The shortest title that is told from a word that anybody may use, in bytes.
const TELLING: usize = 12;

/// Says whether a title only repeats what somebody said: words of it as they stand there, or what is made of it.
pub fn repeats(title: &str, said: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = words(title);
    if title.is_empty() {
        return false;
    }
    if made_of(said).as_deref() == Some(&*title) {
        return true;
    }
    let bare = title.trim_end_matches(['…', '.']).trim_end();
    bare.len() >= TELLING && memchr::memmem::find(words(said).as_bytes(), bare.as_bytes()).is_some()
}

fn is_mark(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '”' | '«' | '»' | '*' | '#') || c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_repeats_what_it_is_made_of() {
        let long = "Look at  the wages\nof everybody, and say who earns too much.";
        for (title, said) in [
            ("hi", "hi."),
            ("Look at the wages", long),
            ("Look at the wages of everyb…", long),
            ("who earns too much...", long),
        ] {
            assert!(repeats(title, said), "{title}");
        }
        for (title, said) in [("", "hi"), ("wages", long), ("Comparing wages", long)] {
            assert!(!repeats(title, said), "{title}");
        }
    }

    #[test]
    fn titles_are_one_short_line_without_marks() {
        assert_eq!(made_of("\n  \"Sort a list.\"\nmore").as_deref(), Some("Sort a list"));
        assert_eq!(made_of("**Title**"), Some("Title".into()));
        assert_eq!(made_of("`.env` is missing."), Some(".env` is missing".into()));
        assert_eq!(made_of("a \u{7} b\tc"), Some("a b c".into()));
        assert_eq!(made_of("```\n## Fix it").as_deref(), Some("Fix it"));
        assert_eq!(made_of("\"\" \n"), None);
        for text in ["word ".repeat(40), "x".repeat(1 << 20)] {
            let long = made_of(&text).unwrap_or_default();
            assert!(long.chars().count() <= LONGEST && long.ends_with('…'), "{long}");
        }
    }
}
