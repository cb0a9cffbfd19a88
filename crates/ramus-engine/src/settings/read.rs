//! Reading a settings file. Everything in it must be understood: what is unknown or of another type is an error that names
//! the file, the line and what may have been meant. The order of a table is kept, because the order of rules counts.

use std::ops::Range;

use toml_edit::{Array, Document, Item, TableLike, Value};

use super::nearest;
use crate::error::EngineError;

/// A file that is being read.
#[derive(Clone, Copy)]
pub(super) struct Reader<'t> {
    name: &'t str,
    text: &'t str,
}

/// One key of a table, with its value.
#[derive(Clone, Copy)]
pub(super) struct Member<'t> {
    reader: Reader<'t>,
    /// The key behind those of the tables around it.
    pub(super) path: &'t str,
    item: &'t Item,
    at: usize,
}

impl<'t> Reader<'t> {
    /// Prepares to read a text; `name` is what errors call it.
    pub(super) fn new(text: &'t str, name: &'t str) -> Self {
        Self { name, text }
    }

    /// Parses the whole text.
    pub(super) fn document(self) -> Result<Document<&'t str>, EngineError> {
        Document::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.wrong(at, &format!("this is not TOML: {}", error.message().replace('\n', ", ")), None)
        })
    }

    /// Makes an error about a place in the text.
    pub(super) fn wrong(self, at: usize, message: &str, hint: Option<String>) -> EngineError {
        let line = self.text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        EngineError::Setting { message: format!("{}, line {line}: {message}", self.name), hint }
    }

    /// Goes through a table.
    pub(super) fn members(
        self,
        table: &dyn TableLike,
        mut take: impl FnMut(Member<'_>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        for (key, item) in table.iter() {
            let start = |span: Option<Range<usize>>| span.map(|span| span.start);
            let named = table.key(key).and_then(|key| start(key.span()));
            let at = named.or_else(|| start(item.span())).unwrap_or_default();
            take(Member { reader: self, path: key, item, at })?;
        }
        Ok(())
    }
}

impl Member<'_> {
    /// Makes an error about this member.
    pub(super) fn wrong(&self, message: &str) -> EngineError {
        self.reader.wrong(self.at, message, None)
    }

    /// Makes an error about a key that nobody knows.
    pub(super) fn unknown<'k>(&self, of: &str, known: impl IntoIterator<Item = &'k str>) -> EngineError {
        let hint = nearest::hint(self.path, known, "the keys");
        self.reader.wrong(self.at, &format!("{of} has no {:?}", self.path), Some(hint))
    }

    fn must_be(&self, what: &str) -> EngineError {
        self.wrong(&format!("{} must be {what}, not {}", self.path, self.item.type_name()))
    }

    /// Returns the type, as errors call it.
    pub(super) fn is_table(&self) -> bool {
        self.item.as_table_like().is_some()
    }

    /// Reads a text.
    pub(super) fn text(&self) -> Result<String, EngineError> {
        self.item.as_str().map(str::to_owned).ok_or_else(|| self.must_be("text"))
    }

    /// Reads a text, or a number as one.
    pub(super) fn scalar(&self) -> Result<String, EngineError> {
        match self.item.as_integer() {
            Some(number) => Ok(number.to_string()),
            None => self.text(),
        }
    }

    /// Reads yes or no.
    pub(super) fn flag(&self) -> Result<bool, EngineError> {
        self.item.as_bool().ok_or_else(|| self.must_be("true or false"))
    }

    /// Reads what is on or off.
    pub(super) fn switch(&self) -> Result<String, EngineError> {
        match self.item.as_bool() {
            Some(true) => Ok("on".to_owned()),
            Some(false) => Ok("off".to_owned()),
            None => self.text(),
        }
    }

    /// Reads a list of texts.
    pub(super) fn texts(&self) -> Result<Vec<String>, EngineError> {
        let wrong = || self.must_be("a list of texts");
        let list: &Array = self.item.as_array().ok_or_else(wrong)?;
        let text = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(wrong);
        list.iter().map(text).collect()
    }

    /// Goes through a table.
    pub(super) fn members(&self, take: impl FnMut(Member<'_>) -> Result<(), EngineError>) -> Result<(), EngineError> {
        let table = self.item.as_table_like().ok_or_else(|| self.must_be("a table"))?;
        self.reader.members(table, take)
    }
}
