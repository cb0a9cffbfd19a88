//! Lists of sessions as a table.

use std::path::Path;

use ramus_engine::{SessionInfo, SessionStatus};
use ramus_model::time;
use ramus_store::Residence;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::{Answer as _, Text, clean, glyphs, quantity, short_id, style};

const UPDATED: usize = 10;
const MESSAGES: usize = 4;
const WIDEST_MODEL: usize = 24;
const WIDEST_DIRECTORY: usize = 40;
const NARROWEST_TITLE: usize = 20;

/// One line of the table.
pub(crate) struct Row<'a> {
    id: &'a str,
    /// How many bytes of the id are unique.
    unique: usize,
    updated: i64,
    messages: usize,
    model: Option<&'a str>,
    title: String,
    /// What must not be overlooked.
    marks: String,
    is_starred: bool,
    is_damaged: bool,
    cwd: &'a str,
}

impl<'a> Row<'a> {
    /// A line about a session that is here.
    pub(crate) fn of(info: &'a SessionInfo, unique: usize) -> Self {
        let marks = [
            (info.residence == Residence::Draft, " (draft)"),
            (info.archived_at.is_some(), " (archived)"),
            (info.damaged, " (damaged)"),
            (info.status == SessionStatus::Degraded, " (degraded)"),
            (matches!(info.status, SessionStatus::Running(_)), " (running)"),
        ];
        Self {
            id: info.id.as_str(),
            unique,
            updated: info.updated_millis,
            messages: info.messages,
            model: info.model.as_deref(),
            title: format!("{}{}", info.title, tags(&info.tags)),
            marks: joined(&marks),
            is_starred: info.starred,
            is_damaged: info.damaged,
            cwd: &info.cwd,
        }
    }

    /// A line about a session that a server tells of.
    pub(crate) fn told(session: &'a Value, unique: usize) -> Self {
        let marks = [
            (session.word("state") == "draft", " (draft)"),
            (session.says("archived"), " (archived)"),
            (session.says("damaged"), " (damaged)"),
            (session.word("status") == "degraded", " (degraded)"),
            (session.word("status") == "running", " (running)"),
        ];
        Self {
            id: session.word("id"),
            unique,
            updated: time::parse(session.word("updated")).unwrap_or_default(),
            messages: session.count("messages"),
            model: session.maybe("model"),
            title: format!("{}{}", session.word("title"), tags(&session.words("tags"))),
            marks: joined(&marks),
            is_starred: session.says("starred"),
            is_damaged: session.says("damaged"),
            cwd: session.word("cwd"),
        }
    }
}

fn joined(marks: &[(bool, &str)]) -> String {
    marks.iter().filter(|(applies, _)| *applies).map(|(_, mark)| *mark).collect()
}

/// Whether the table tells the directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directories {
    Shown,
    Hidden,
}

/// Writes sessions one per line.
pub(crate) fn sessions(text: &mut Text, rows: &[Row<'_>], directories: Directories, width: usize) {
    let id_width = widest(rows, |row| short_id::shown(row.id, row.unique).to_owned(), usize::MAX);
    let model_width = widest(rows, model, WIDEST_MODEL).max("MODEL".len());
    let directory_width = match directories {
        Directories::Shown => widest(rows, |row| directory(row.cwd), WIDEST_DIRECTORY).max("DIRECTORY".len()),
        Directories::Hidden => 0,
    };
    let before = id_width + UPDATED + MESSAGES + model_width + 8;
    let title_room = width.saturating_sub(before + if directory_width > 0 { directory_width + 2 } else { 0 });
    let title_room = title_room.max(NARROWEST_TITLE);
    let title_width = widest(rows, |row| title(row, usize::MAX), title_room).max("TITLE".len());
    text.padded(style::DIM, "ID", id_width).plain("  ").padded(style::DIM, "UPDATED", UPDATED).plain("  ");
    text.right(style::DIM, "MSGS", MESSAGES).plain("  ").padded(style::DIM, "MODEL", model_width).plain("  ");
    text.padded(style::DIM, "TITLE", title_width).plain("  ");
    if directories == Directories::Shown {
        text.styled(style::DIM, "DIRECTORY");
    }
    text.end();
    for row in rows {
        short_id::put(text, row.id, row.unique);
        let shown = short_id::shown(row.id, row.unique).chars().count();
        text.spaces(id_width.saturating_sub(shown)).plain("  ");
        text.padded(style::NONE, &quantity::ago(row.updated), UPDATED).plain("  ");
        text.right(style::NONE, &row.messages.to_string(), MESSAGES).plain("  ");
        text.padded(style::DIM, &clean::cut(&model(row), model_width), model_width).plain("  ");
        text.padded(title_style(row), &title(row, title_width), title_width).plain("  ");
        if directories == Directories::Shown {
            text.styled(style::DIM, &clean::cut(&directory(row.cwd), directory_width));
        }
        text.end();
    }
}

fn widest(rows: &[Row<'_>], cell: impl Fn(&Row<'_>) -> String, limit: usize) -> usize {
    rows.iter().map(|row| cell(row).width()).max().unwrap_or_default().min(limit)
}

/// The title and what must not be overlooked, which is never cut.
fn title(row: &Row<'_>, width: usize) -> String {
    let star = if row.is_starred { format!("{} ", glyphs::of_terminal().star) } else { String::new() };
    let title = clean::one_line(&row.title);
    format!("{star}{}{}", clean::cut(&title, width.saturating_sub(star.width() + row.marks.len())), row.marks)
}

/// The tags, as they stand behind a title.
pub(super) fn tags(tags: &[impl std::fmt::Display]) -> String {
    tags.iter().map(|tag| format!(" #{tag}")).collect()
}

fn title_style(row: &Row<'_>) -> anstyle::Style {
    if row.is_damaged { style::WARNING } else { style::NONE }
}

/// The model without its provider.
fn model(row: &Row<'_>) -> String {
    let model = row.model.unwrap_or("-");
    clean::one_line(model.split_once('/').map_or(model, |(_, name)| name))
}

/// A directory, with `~` for the user's own.
pub(crate) fn directory(cwd: &str) -> String {
    let home = std::env::home_dir().filter(|home| home.is_absolute() && home != Path::new("/"));
    let relative = home.and_then(|home| Path::new(cwd).strip_prefix(home).ok().map(Path::to_owned));
    let shown = match relative {
        Some(relative) if relative.as_os_str().is_empty() => "~".to_owned(),
        Some(relative) => format!("~/{}", relative.display()),
        None => cwd.to_owned(),
    };
    clean::one_line(&shown)
}
