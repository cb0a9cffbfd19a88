//! The colours.

use anstyle::{AnsiColor, Style};
use ramus_model::{Kind, Role};

const fn colour(colour: AnsiColor) -> Style {
    colour.on_default()
}

pub(crate) const NONE: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = colour(AnsiColor::BrightBlack);
/// The part of an id that is enough to name it.
pub(crate) const ID: Style = colour(AnsiColor::Magenta).bold();
pub(crate) const LABEL: Style = colour(AnsiColor::Yellow).bold();
/// What was looked for.
pub(crate) const FOUND: Style = colour(AnsiColor::Red).bold();
pub(crate) const LEAF: Style = colour(AnsiColor::Green).bold();
pub(crate) const ADDED: Style = colour(AnsiColor::Green);
pub(crate) const REMOVED: Style = colour(AnsiColor::Red);
pub(crate) const SUMMARY: Style = colour(AnsiColor::Blue);
pub(crate) const ERROR: Style = colour(AnsiColor::Red).bold();
pub(crate) const WARNING: Style = colour(AnsiColor::Yellow).bold();
pub(crate) const HINT: Style = colour(AnsiColor::Cyan).bold();

/// Returns the colour of who speaks.
pub(crate) fn speaker(kind: Kind, role: Role) -> Style {
    match (kind, role) {
        (Kind::Compaction | Kind::BranchSummary, _) => SUMMARY,
        (_, Role::User) => colour(AnsiColor::Cyan),
        (_, Role::Assistant) => colour(AnsiColor::Green),
        (_, Role::System) => colour(AnsiColor::Yellow),
        _ => DIM,
    }
}
