//! The command line of a task: words, flags and values, taken one by one.
//!
//! Whatever a task does not take is an error, so a misspelt flag is never ignored.

use std::str::FromStr;

use anyhow::{Context, Result, bail};

/// Arguments that nobody has taken yet.
pub(crate) struct Arguments {
    left: Vec<String>,
}

impl Arguments {
    /// What follows `cargo xtask`.
    pub(crate) fn from_command_line() -> Self {
        Self { left: std::env::args().skip(1).collect() }
    }

    /// Takes the next argument, whatever it looks like. Flags and values are taken before words.
    pub(crate) fn word(&mut self) -> Option<String> {
        (!self.left.is_empty()).then(|| self.left.remove(0))
    }

    /// Takes a flag and says whether it was there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.left.len();
        self.left.retain(|argument| argument != name);
        self.left.len() < before
    }

    /// Takes a flag with its value, written as `--name value` or `--name=value`.
    pub(crate) fn value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>> {
        let prefix = format!("{name}=");
        let Some(at) = self.left.iter().position(|argument| argument == name || argument.starts_with(&prefix)) else {
            return Ok(None);
        };
        let argument = self.left.remove(at);
        let text = match argument.strip_prefix(&prefix) {
            Some(text) => text.to_owned(),
            None if at < self.left.len() => self.left.remove(at),
            None => bail!("{name} needs a value"),
        };
        text.parse().ok().map(Some).with_context(|| format!("{name} cannot be {text:?}"))
    }

    /// Refuses what is left.
    pub(crate) fn finish(self) -> Result<()> {
        match self.left.as_slice() {
            [] => Ok(()),
            left => bail!("unknown argument: {}", left.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    fn given(words: &[&str]) -> Arguments {
        Arguments { left: words.iter().map(|word| (*word).to_owned()).collect() }
    }

    #[test]
    fn values_in_both_spellings() {
        let mut arguments = given(&["line", "--seconds", "5", "--minutes=7", "--record"]);
        assert_eq!(arguments.value("--seconds").unwrap(), Some(5));
        assert_eq!(arguments.value("--minutes").unwrap(), Some(7));
        assert_eq!(arguments.value::<u32>("--hours").unwrap(), None);
        assert!(arguments.flag("--record"));
        assert_eq!(arguments.word().as_deref(), Some("line"));
        arguments.finish().unwrap();
    }

    #[test]
    fn leftovers_and_bad_values_are_errors() {
        assert!(given(&["--recrod"]).finish().is_err());
        assert!(given(&["--seconds", "soon"]).value::<u32>("--seconds").is_err());
        assert!(given(&["--seconds"]).value::<u32>("--seconds").is_err());
    }
}
