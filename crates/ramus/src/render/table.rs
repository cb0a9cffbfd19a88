//! Lists of sessions as a table.

use std::path::Path;

use ramus_engine::{SessionInfo, SessionStatus};
use ramus_store::Residence;
use unicode_width::UnicodeWidthStr as _;

use super::{Text, clean, glyphs, quantity, short_id, style};

const UPDATED: usize = 10;
const MESSAGES: usize = 4;
const WIDEST_MODEL: usize = 24;
const WIDEST_DIRECTORY: usize = 40;
const NARROWEST_TITLE: usize = 20;

/// One line of the table.
pub(crate) struct Row<'a> {
    pub(crate) info: &'a SessionInfo,
    /// How many bytes of the id are unique.
    pub(crate) unique: usize,
}

/// Whether the table tells the directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directories {
    Shown,
    Hidden,
}

/// Writes sessions one per line.
pub(crate) fn sessions(text: &mut Text, rows: &[Row<'_>], directories: Directories, width: usize) {
    let id_width = widest(rows, |row| short_id::shown(row.info.id.as_str(), row.unique).to_owned(), usize::MAX);
    let model_width = widest(rows, |row| model(row.info), WIDEST_MODEL).max("MODEL".len());
    let directory_width = match directories {
        Directories::Shown => widest(rows, |row| directory(row.info), WIDEST_DIRECTORY).max("DIRECTORY".len()),
        Directories::Hidden => 0,
    };
    let before = id_width + UPDATED + MESSAGES + model_width + 8;
    let title_room = width.saturating_sub(before + if directory_width > 0 { directory_width + 2 } else { 0 });
    let title_room = title_room.max(NARROWEST_TITLE);
    let title_width = widest(rows, |row| title(row.info, usize::MAX), title_room).max("TITLE".len());
    text.padded(style::DIM, "ID", id_width).plain("  ").padded(style::DIM, "UPDATED", UPDATED).plain("  ");
    text.right(style::DIM, "MSGS", MESSAGES).plain("  ").padded(style::DIM, "MODEL", model_width).plain("  ");
    text.padded(style::DIM, "TITLE", title_width).plain("  ");
    if directories == Directories::Shown {
        text.styled(style::DIM, "DIRECTORY");
    }
    text.end();
    for row in rows {
        let info = row.info;
        short_id::put(text, info.id.as_str(), row.unique);
        let shown = short_id::shown(info.id.as_str(), row.unique).chars().count();
        text.spaces(id_width.saturating_sub(shown)).plain("  ");
        text.padded(style::NONE, &quantity::ago(info.updated_millis), UPDATED).plain("  ");
        text.right(style::NONE, &info.messages.to_string(), MESSAGES).plain("  ");
        text.padded(style::DIM, &clean::cut(&model(info), model_width), model_width).plain("  ");
        text.padded(title_style(info), &title(info, title_width), title_width).plain("  ");
        if directories == Directories::Shown {
            text.styled(style::DIM, &clean::cut(&directory(info), directory_width));
        }
        text.end();
    }
}

fn widest(rows: &[Row<'_>], cell: impl Fn(&Row<'_>) -> String, limit: usize) -> usize {
    rows.iter().map(|row| cell(row).width()).max().unwrap_or_default().min(limit)
}

/// The title and what must not be overlooked, which is never cut.
fn title(info: &SessionInfo, width: usize) -> String {
    let marks = [
        (info.residence == Residence::Draft, " (draft)"),
        (info.archived_at.is_some(), " (archived)"),
        (info.damaged, " (damaged)"),
        (info.status == SessionStatus::Degraded, " (degraded)"),
        (matches!(info.status, SessionStatus::Running(_)), " (running)"),
    ];
    let marks: String = marks.iter().filter(|(applies, _)| *applies).map(|(_, mark)| *mark).collect();
    let star = if info.starred { format!("{} ", glyphs::of_terminal().star) } else { String::new() };
    let title = clean::one_line(&format!("{}{}", info.title, tags(info)));
    format!("{star}{}{marks}", clean::cut(&title, width.saturating_sub(star.width() + marks.len())))
}

/// The tags, as they stand behind a title.
pub(super) fn tags(info: &SessionInfo) -> String {
    info.tags.iter().map(|tag| format!(" #{tag}")).collect()
}

fn title_style(info: &SessionInfo) -> anstyle::Style {
    if info.damaged { style::WARNING } else { style::NONE }
}

/// The model without its provider.
fn model(info: &SessionInfo) -> String {
    let model = info.model.as_deref().unwrap_or("-");
    clean::one_line(model.split_once('/').map_or(model, |(_, name)| name))
}

/// The directory, with `~` for the user's own.
fn directory(info: &SessionInfo) -> String {
    let home = std::env::home_dir().filter(|home| home.is_absolute() && home != Path::new("/"));
    let relative = home.and_then(|home| Path::new(&info.cwd).strip_prefix(home).ok().map(Path::to_owned));
    let shown = match relative {
        Some(relative) if relative.as_os_str().is_empty() => "~".to_owned(),
        Some(relative) => format!("~/{}", relative.display()),
        None => info.cwd.clone(),
    };
    clean::one_line(&shown)
}
