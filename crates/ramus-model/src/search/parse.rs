//! The query language: from what a person typed to terms, or to an error that says what to write instead.

use super::dates;
use super::error::QueryError;
use super::facets::Speaker;
use super::operator::{State, Test};
use super::query::{Phrase, Reading, Term};

/// The longest query, in bytes.
pub(super) const LONGEST: usize = 4096;

/// The letters of the shortest word that may go on while it is typed.
const SHORTEST: usize = 3;

const ROLES: &str = "user, assistant, tool, bash, system, custom, summary, label or title";

/// What people write who know other programs, and what it is called here.
const ALIASES: [(&str, &str); 14] = [
    ("author", "role"),
    ("from", "role"),
    ("by", "role"),
    ("speaker", "role"),
    ("path", "file"),
    ("filename", "file"),
    ("dir", "cwd"),
    ("directory", "cwd"),
    ("folder", "cwd"),
    ("repo", "project"),
    ("since", "after"),
    ("until", "before"),
    ("tags", "tag"),
    ("session", "--session"),
];

const OPERATORS: [&str; 10] = ["role", "tool", "model", "cwd", "project", "before", "after", "is", "has", "file"];

/// One term as it was typed.
struct Token {
    at: usize,
    negated: bool,
    name: Option<String>,
    value: String,
    quoted: bool,
    star: bool,
    /// Whether nothing follows, not even a space.
    last: bool,
}

/// Reads a query.
pub(super) fn query(text: &str, reading: Reading) -> Result<Vec<Term>, QueryError> {
    if text.len() > LONGEST {
        return Err(QueryError::TooLong(text.len()));
    }
    let mut terms = Vec::new();
    for token in tokens(text, reading.typing)? {
        let negated = token.negated;
        if let Some(test) = token.test(reading)? {
            terms.push(Term { negated, test });
        }
    }
    if terms.is_empty() { Err(QueryError::Empty) } else { Ok(terms) }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”')
}

fn tokens(text: &str, typing: bool) -> Result<Vec<Token>, QueryError> {
    let chars: Vec<char> = text.chars().collect();
    let char_at = |at: usize| chars.get(at).copied();
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(c) = char_at(position) {
        if c.is_whitespace() {
            position += 1;
            continue;
        }
        let at = position + 1;
        let negated = c == '-' && char_at(position + 1).is_some_and(|next| !next.is_whitespace() && next != '-');
        position += usize::from(negated);
        let mut token =
            Token { at, negated, name: None, value: String::new(), quoted: false, star: false, last: false };
        while let Some(c) = char_at(position).filter(|c| !c.is_whitespace()) {
            if is_quote(c) && token.value.is_empty() {
                let closed = chars.iter().skip(position + 1).position(|c| is_quote(*c));
                let end = match closed {
                    Some(length) => position + 1 + length,
                    None if typing => chars.len(),
                    None => return Err(QueryError::Unclosed { at: position + 1 }),
                };
                token.value = chars.get(position + 1..end).unwrap_or_default().iter().collect();
                token.quoted = true;
                position = end + 1;
                token.star = char_at(position) == Some('*') || closed.is_none();
                position += usize::from(char_at(position) == Some('*'));
                break;
            }
            if c == ':' && token.name.is_none() && is_name(&token.value) {
                token.name = Some(std::mem::take(&mut token.value));
            } else {
                token.value.push(c);
            }
            position += 1;
        }
        token.last = position >= chars.len();
        tokens.push(token);
    }
    Ok(tokens)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

impl Token {
    /// What the token asks; none when someone is still typing it.
    fn test(mut self, reading: Reading) -> Result<Option<Test>, QueryError> {
        let may_go_on = reading.typing && self.last;
        if !self.quoted
            && let Some(value) = self.value.strip_suffix('*')
        {
            self.value = value.to_owned();
            self.star = true;
        }
        let Some(name) = self.name.take() else { return self.words(may_go_on).map(Some) };
        let lower = name.to_ascii_lowercase();
        // Paths of modules and addresses look like operators and are not.
        let is_text = !self.quoted && (self.value.starts_with(':') || self.value.starts_with("//"));
        if !is_text && (OPERATORS.contains(&lower.as_str()) || lower == "tag") {
            if self.value.trim().is_empty() && may_go_on && !self.quoted {
                return Ok(None);
            }
            return self.operator(&lower, reading.now, may_go_on).map(Some);
        }
        if let Some(meant) = meant(&lower).filter(|_| !is_text && !self.value.is_empty()) {
            return Err(QueryError::UnknownOperator { at: self.at, name, value: self.value, meant });
        }
        self.value = format!("{name}:{}", self.value);
        self.words(may_go_on).map(Some)
    }

    fn words(self, may_go_on: bool) -> Result<Test, QueryError> {
        let prefix = self.star || may_go_on && !self.quoted && is_long_enough(&self.value);
        let (at, text) = (self.at, self.value);
        Phrase::new(&text, prefix).map(Test::Words).ok_or(QueryError::NoWords { at, text })
    }

    fn operator(self, name: &str, now: i64, may_go_on: bool) -> Result<Test, QueryError> {
        let value = self.value.trim().to_owned();
        let expected = expected(name);
        if value.is_empty() {
            return Err(QueryError::MissingValue { at: self.at, name: name.to_owned(), expected });
        }
        let prefix = self.star || may_go_on && !self.quoted && is_long_enough(&self.value);
        let starred = if self.star { format!("{value}*") } else { value.clone() };
        let test = match name {
            "role" => speakers(&value.to_lowercase()).map(|speakers| Test::Role(value.to_lowercase(), speakers)),
            "tool" => Some(Test::Tool(starred.clone())),
            "model" => Some(Test::Model(value)),
            "cwd" => Some(Test::Cwd(value)),
            "project" => Some(Test::Project(value)),
            "tag" => Some(Test::Tag(value)),
            "before" => dates::parse(&value, now).map(Test::Before),
            "after" => dates::parse(&value, now).map(Test::After),
            "is" => State::ALL.iter().find(|(name, _)| value.eq_ignore_ascii_case(name)).map(|(_, s)| Test::Is(*s)),
            "has" => matches!(&*value.to_lowercase(), "error" | "errors").then_some(Test::Error),
            _ => Phrase::new(&value, prefix).map(Test::File),
        };
        test.ok_or_else(|| QueryError::BadValue { at: self.at, name: name.to_owned(), value: starred, expected })
    }
}

/// Says whether the last word is one that others are found by while it is typed: nearly every entry has words that start
/// with any two letters.
fn is_long_enough(text: &str) -> bool {
    text.chars().rev().take_while(|c| c.is_alphanumeric()).take(SHORTEST).count() == SHORTEST
}

/// What may follow an operator.
fn expected(name: &str) -> &'static str {
    match name {
        "role" => ROLES,
        "tool" => "the name of a tool",
        "model" => "a part of a model's name",
        "cwd" => "a directory",
        "project" => "a part of a repository's place or origin",
        "tag" => "a tag",
        "before" | "after" => dates::FORMS,
        "is" => "archived, fork, starred, draft or damaged",
        "has" => "error",
        _ => "a file, or the end of its path",
    }
}

fn speakers(name: &str) -> Option<Vec<Speaker>> {
    let speakers: &[Speaker] = match name {
        "user" | "human" | "me" => &[Speaker::User],
        "assistant" | "model" | "ai" | "agent" => &[Speaker::Assistant],
        "tool" | "toolresult" | "result" => &[Speaker::ToolResult],
        "bash" | "bashexecution" => &[Speaker::BashExecution],
        "system" | "developer" => &[Speaker::System],
        "custom" => &[Speaker::Custom],
        "summary" => &[Speaker::CompactionSummary, Speaker::BranchSummary],
        "compaction" | "compactionsummary" => &[Speaker::CompactionSummary],
        "branchsummary" => &[Speaker::BranchSummary],
        "label" => &[Speaker::Label],
        "title" => &[Speaker::Title],
        "other" => &[Speaker::Other],
        _ => return None,
    };
    Some(speakers.to_vec())
}

/// The operator that may have been meant, when one is near.
fn meant(name: &str) -> Option<&'static str> {
    if let Some((_, meant)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
        return Some(meant);
    }
    let near = |operator: &&&'static str| name.len() > 2 && is_near(name, operator);
    OPERATORS.iter().chain(&["tag"]).find(near).copied()
}

/// Says whether two names differ by one letter that was added, left out, changed, or swapped with the next.
fn is_near(a: &str, b: &str) -> bool {
    let (a, b) = if a.len() <= b.len() { (a.as_bytes(), b.as_bytes()) } else { (b.as_bytes(), a.as_bytes()) };
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.get(front..).unwrap_or_default(), b.get(front..).unwrap_or_default());
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.get(..a.len() - back).unwrap_or_default(), b.get(..b.len() - back).unwrap_or_default());
    match (a, b) {
        ([], [_]) | ([_], [_]) => true,
        ([x, y], [v, w]) => x == w && y == v,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Query;

    fn spelled(text: &str) -> String {
        match Query::parse(text, Reading::default()) {
            Ok(query) => query.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn queries_are_read_and_written() {
        for same in [
            "one two",
            "\"one two\" -three",
            "parse_header src/main.rs",
            "role:user -role:tool tool:bash tool:mcp* model:sonnet has:error",
            "is:archived -is:fork is:starred tag:todo cwd:/srv/shop project:shop file:main.rs",
            "cwd:\"/home/a b\" -\"x y\" file:\"a b.rs\"",
            "word* \"two words\"* file:ma*",
            "before:2026-02-16T00:00:00.000Z",
            "日本語",
        ] {
            assert_eq!(spelled(same), same);
        }
        for (text, expected) in [
            ("  a   b ", "a b"),
            ("“one two”", "\"one two\""),
            ("std::fs https://x.org/a localhost:3000", "\"std::fs\" \"https://x.org/a\" \"localhost:3000\""),
            ("file::read", "\"file::read\""),
            ("Role:User IS:Fork", "role:user is:fork"),
            ("after:2026-02", "after:2026-02-01T00:00:00.000Z"),
        ] {
            assert_eq!(spelled(text), expected);
        }
    }

    #[test]
    fn errors_say_where_and_what_instead() {
        for (text, message) in [
            ("", "the query is empty"),
            ("a \"b c", "the quote at character 3 is not closed"),
            ("a -> b", "\">\" at character 3 has no letters or digits to search for"),
            ("- a", "\"-\" at character 1 has no letters or digits to search for"),
            ("x rol:user", "there is no operator rol: at character 3"),
            (
                "role:",
                "role: at character 1 needs a value: it takes user, assistant, tool, bash, system, custom, summary, label or title",
            ),
            (
                "role:nobody",
                "role:nobody at character 1 is not understood: role: takes user, assistant, tool, bash, system, custom, summary, label or title",
            ),
            ("is:big", "is:big at character 1 is not understood: is: takes archived, fork, starred, draft or damaged"),
            ("has:fun", "has:fun at character 1 is not understood: has: takes error"),
        ] {
            assert_eq!(spelled(text), message, "{text}");
        }
        assert!(
            spelled("é before:soon").starts_with("before:soon at character 3 is not understood: before: takes a date")
        );
        let hint = |text: &str| Query::parse(text, Reading::default()).unwrap_err().hint().unwrap();
        assert_eq!(hint("path:a.rs"), "did you mean file:a.rs? Quotes make it text: \"path:a.rs\"");
        assert_eq!(hint("session:0190"), "did you mean --session 0190? Quotes make it text: \"session:0190\"");
        assert_eq!(hint("toool:x"), "did you mean tool:x? Quotes make it text: \"toool:x\"");
        assert_eq!(hint("modle:x"), "did you mean model:x? Quotes make it text: \"modle:x\"");
    }

    #[test]
    fn what_is_being_typed_may_go_on() {
        let typed = |text: &str| Query::parse(text, Reading { now: 0, typing: true }).map(|query| query.to_string());
        assert_eq!(typed("one thr").as_deref(), Ok("one thr*"));
        assert_eq!(typed("one th").as_deref(), Ok("one th"));
        assert_eq!(typed("one two ").as_deref(), Ok("one two"));
        assert_eq!(typed("\"one tw").as_deref(), Ok("\"one tw\"*"));
        assert_eq!(typed("\"one two\"").as_deref(), Ok("\"one two\""));
        assert_eq!(typed("one role:").as_deref(), Ok("one"));
        assert_eq!(typed("file:mai").as_deref(), Ok("file:mai*"));
    }
}
