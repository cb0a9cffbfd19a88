//! An outline: what a page needs to know of all entries before it can write the first. It grows with the number of entries
//! and not with what they say.

use crate::transcript::{Entry, Part, Speaker, Transcript};

/// How many characters of an entry are shown in a list.
const PREVIEW: usize = 80;

/// A transcript without what its entries say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// The title.
    pub title: String,
    /// The session.
    pub session: String,
    /// Its working directory; empty when that is nobody's business.
    pub cwd: String,
    /// When it was created.
    pub created: String,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// The entry the conversation ends with.
    pub leaf: Option<usize>,
    pub(crate) rows: Vec<Row>,
}

/// What is known of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) parent: Option<usize>,
    pub(crate) speaker: Speaker,
    pub(crate) label: Option<String>,
    pub(crate) preview: String,
}

impl Outline {
    /// Takes what concerns the whole from a transcript, and nothing of its entries.
    #[must_use]
    pub fn with_head(self, transcript: &Transcript) -> Self {
        Self {
            title: transcript.title.clone(),
            session: transcript.session.clone(),
            cwd: transcript.cwd.clone(),
            created: transcript.created.clone(),
            notes: transcript.notes.clone(),
            leaf: transcript.leaf,
            rows: self.rows,
        }
    }

    /// Adds the next entry.
    pub fn add(&mut self, entry: &Entry) {
        self.rows.push(Row {
            id: entry.id.clone(),
            parent: entry.parent,
            speaker: entry.speaker,
            label: entry.label.clone(),
            preview: preview(entry),
        });
    }

    /// Says for every entry whether it is on the path to the one the conversation ends with.
    pub(crate) fn on_path(&self) -> Vec<bool> {
        let mut on_path = vec![false; self.rows.len()];
        let mut next = self.leaf;
        // A parent comes before its children, so this ends whatever the outline says.
        while let Some((at, on)) = next.and_then(|at| Some((at, on_path.get_mut(at)?))) {
            *on = true;
            next = self.rows.get(at).and_then(|row| row.parent).filter(|parent| *parent < at);
        }
        on_path
    }
}

impl From<&Transcript> for Outline {
    fn from(transcript: &Transcript) -> Self {
        let mut outline = Self::default().with_head(transcript);
        transcript.entries.iter().for_each(|entry| outline.add(entry));
        outline
    }
}

fn preview(entry: &Entry) -> String {
    let text = entry.parts.iter().find_map(|part| match part {
        Part::Text(text) if !text.trim().is_empty() => Some(text.as_str()),
        Part::Call { name, .. } => Some(name.as_str()),
        _ => None,
    });
    let line = text.unwrap_or(&entry.role).trim().lines().next().unwrap_or_default();
    line.chars().filter(|character| !matches!(character, '*' | '`')).take(PREVIEW).collect()
}
