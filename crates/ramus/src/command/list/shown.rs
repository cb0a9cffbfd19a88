//! What people are shown of a list, wherever it comes from.

use std::collections::{BTreeSet, HashMap};

use super::List;
use crate::invocation::Invocation;
use crate::render::table::{self, Directories};
use crate::render::{Text, quantity, short_id, style};

/// What people are shown of a list.
pub(super) struct Shown<'l> {
    pub(super) rows: Vec<table::Row<'l>>,
    /// Directories that are proven to be here now.
    pub(super) moved: BTreeSet<&'l str>,
    /// How many are not shown: of other directories, drafts, archived.
    pub(super) hidden: [usize; 3],
    pub(super) next_cursor: Option<&'l str>,
}

impl List {
    /// Draws the list.
    pub(super) fn show(&self, invocation: &Invocation<'_>, shown: &Shown<'_>) -> Text {
        let mut text = Text::new();
        if !shown.rows.is_empty() {
            let directories = if self.all { Directories::Shown } else { Directories::Hidden };
            table::sessions(&mut text, &shown.rows, directories, invocation.screen.width());
        }
        self.footer(&mut text, shown);
        text
    }

    fn footer(&self, text: &mut Text, shown: &Shown<'_>) {
        if shown.rows.is_empty() {
            text.plain(if self.all { "no sessions" } else { "no sessions in this directory" }).end();
        }
        if !shown.moved.is_empty() {
            let directories: Vec<&str> = shown.moved.iter().copied().collect();
            text.styled(style::DIM, &format!("moved here with their repository from: {}", directories.join(", ")))
                .end();
        }
        let [other_directories, drafts, archived] = shown.hidden;
        let reasons = [
            (other_directories, "in other directories (--all)"),
            (drafts, if drafts == 1 { "draft (--drafts)" } else { "drafts (--drafts)" }),
            (archived, "archived (--archived)"),
        ];
        let told = reasons.iter().filter(|(count, _)| *count > 0);
        let reasons: Vec<String> =
            told.map(|(count, reason)| format!("{} {reason}", quantity::grouped(*count as u64))).collect();
        if !reasons.is_empty() {
            text.styled(style::DIM, &format!("hidden: {}", reasons.join(", "))).end();
        }
        if let Some(cursor) = shown.next_cursor {
            let more = match self.limit {
                Some(_) => format!("there is more: --cursor {cursor}"),
                None => format!("there is more: --limit {} or --cursor {cursor}", shown.rows.len() * 10),
            };
            text.styled(style::DIM, &more).end();
        }
    }
}

/// Finds how much of each id tells it from the others.
pub(super) fn unique<'n>(names: &[&'n str]) -> HashMap<&'n str, usize> {
    names.iter().copied().zip(short_id::unique_lengths(names)).collect()
}

/// A session that came while we were looking is shown as if it were alone.
pub(super) fn unique_of(unique: &HashMap<&str, usize>, id: &str) -> usize {
    unique.get(id).copied().unwrap_or(short_id::SHOWN)
}
