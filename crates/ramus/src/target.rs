//! How sessions and entries are named on the command line: `SESSION` and `SESSION@ENTRY`.

use std::convert::Infallible;
use std::path::Path;

use ramus_engine::is_path;

/// A session, and an entry of it when one was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// What names the session.
    pub(crate) session: String,
    /// What follows the `@`: empty is the leaf, `-` its parent.
    pub(crate) entry: Option<String>,
}

impl Target {
    /// Reads an argument. A path to a file comes first, because paths may contain `@`.
    pub(crate) fn parse(argument: &str) -> Self {
        if is_path(argument) && Path::new(argument).is_file() {
            return Self { session: argument.to_owned(), entry: None };
        }
        match argument.rsplit_once('@') {
            Some(("", entry)) => Self { session: "last".to_owned(), entry: Some(entry.to_owned()) },
            Some((session, entry)) => Self { session: session.to_owned(), entry: Some(entry.to_owned()) },
            None => Self { session: argument.to_owned(), entry: None },
        }
    }
}

/// Reads an argument that names an entry and stands beside its session: `ENTRY`, or `@ENTRY` as it is written behind one.
pub(crate) fn entry(argument: &str) -> Result<String, Infallible> {
    Ok(argument.strip_prefix('@').unwrap_or(argument).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_the_last_at() {
        for (argument, session, entry) in [
            ("0190", "0190", None),
            ("0190@", "0190", Some("")),
            ("0190@-", "0190", Some("-")),
            ("@-", "last", Some("-")),
            ("0190@#3", "0190", Some("#3")),
            ("dir@home/s.jsonl@start", "dir@home/s.jsonl", Some("start")),
        ] {
            let expected = Target { session: session.into(), entry: entry.map(str::to_owned) };
            assert_eq!(Target::parse(argument), expected, "{argument}");
        }
    }
}
