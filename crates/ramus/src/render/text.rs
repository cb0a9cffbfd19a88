//! [`Text`]: styled text whose every piece is clean.

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use super::clean::{self, Breaks};
use super::{quantity, style};

/// Text for people, built piece by piece. Colours are in it; whoever prints it may strip them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    styled: String,
    /// The columns used in the current line.
    column: usize,
}

impl Text {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Returns the text with its colours.
    pub(crate) fn as_styled(&self) -> &str {
        &self.styled
    }

    /// Forgets everything, to be filled again.
    pub(crate) fn clear(&mut self) {
        self.styled.clear();
        self.column = 0;
    }

    /// Adds a piece on the current line.
    pub(crate) fn plain(&mut self, piece: &str) -> &mut Self {
        self.styled(style::NONE, piece)
    }

    /// Adds a piece on the current line, in a style. Spaces at its ends stay.
    pub(crate) fn styled(&mut self, style: Style, piece: &str) -> &mut Self {
        let start = piece.len() - piece.trim_start_matches(' ').len();
        let end = piece.trim_end_matches(' ').len().max(start);
        let (inner, after) = (piece.get(start..end).unwrap_or_default(), piece.len() - end);
        self.spaces(start);
        self.clean(style, &clean::one_line(inner));
        self.spaces(after)
    }

    /// Adds a piece as it is, spaces included. Every line break ends a line.
    pub(crate) fn exact(&mut self, style: Style, piece: &str) -> &mut Self {
        let cleaned = clean::clean(piece, Breaks::Keep, usize::MAX);
        for (at, line) in cleaned.split('\n').enumerate() {
            if at > 0 {
                self.end();
            }
            self.clean(style, line);
        }
        self
    }

    /// Adds a line of a file and ends it: all of its white space stays, and what would not show is spelled out.
    pub(crate) fn verbatim(&mut self, style: Style, line: &str) -> &mut Self {
        self.clean(style, &clean::spelled(line));
        self.styled.push('\n');
        self.column = 0;
        self
    }

    /// Adds a piece that is cut where the line would become wider than `width`.
    pub(crate) fn cut(&mut self, style: Style, piece: &str, width: usize) -> &mut Self {
        let room = width.saturating_sub(self.column);
        let line = clean::clean(piece, Breaks::Fold, room.saturating_add(1));
        if room > 0 {
            self.clean(style, &clean::cut(&line, room));
        }
        self
    }

    /// Adds one line as it is, spaces included, cut where it would become wider than `width`.
    pub(crate) fn cut_exact(&mut self, style: Style, line: &str, width: usize) -> &mut Self {
        let room = width.saturating_sub(self.column);
        let cleaned = clean::clean(line.lines().next().unwrap_or_default(), Breaks::Keep, usize::MAX);
        self.clean(style, &clean::cut(&cleaned, room))
    }

    /// Adds a piece in a column of at least `width`.
    pub(crate) fn padded(&mut self, style: Style, piece: &str, width: usize) -> &mut Self {
        let start = self.column;
        self.styled(style, piece);
        self.spaces((start + width).saturating_sub(self.column))
    }

    /// Adds a piece at the right end of a column of at least `width`.
    pub(crate) fn right(&mut self, style: Style, piece: &str, width: usize) -> &mut Self {
        self.spaces(width.saturating_sub(clean::one_line(piece).width())).styled(style, piece)
    }

    /// Adds spaces.
    pub(crate) fn spaces(&mut self, count: usize) -> &mut Self {
        self.styled.extend(std::iter::repeat_n(' ', count));
        self.column += count;
        self
    }

    /// Ends the current line.
    pub(crate) fn end(&mut self) -> &mut Self {
        self.styled.truncate(self.styled.trim_end_matches(' ').len());
        self.styled.push('\n');
        self.column = 0;
        self
    }

    /// Adds several lines, each indented; with a width, words are wrapped to it.
    pub(crate) fn block(&mut self, style: Style, text: &str, indent: usize, width: Option<usize>) -> &mut Self {
        let cleaned = clean::clean(text, Breaks::Keep, usize::MAX);
        for line in cleaned.trim_matches('\n').split('\n') {
            let room = width.map_or(usize::MAX, |width| width.saturating_sub(indent).max(10));
            for piece in quantity::wrap(line, room) {
                self.spaces(indent).clean(style, piece).end();
            }
        }
        self
    }

    fn clean(&mut self, style: Style, piece: &str) -> &mut Self {
        self.column += piece.width();
        if piece.is_empty() || style == style::NONE {
            self.styled.push_str(piece);
        } else {
            self.styled.push_str(&format!("{style}{piece}{style:#}"));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_clean_and_counted() {
        let mut text = Text::new();
        text.plain("a\u{1b}[2Jb ").padded(style::NONE, "日本", 6).cut(style::NONE, "cdefgh\n\u{7}", 12).end();
        assert_eq!(text.as_styled(), "ab 日本  cd…\n");
    }

    #[test]
    fn lines_of_files_stay_as_they_are() {
        let mut text = Text::new();
        text.verbatim(style::NONE, " \tif x {  ").verbatim(style::NONE, "+\u{1b}[2J\r");
        assert_eq!(text.as_styled(), " \tif x {  \n+^[[2J^M\n");
    }

    #[test]
    fn blocks_are_indented_and_wrapped() {
        let mut text = Text::new();
        text.block(style::NONE, "one two three\n\nfour\n", 2, Some(12));
        assert_eq!(text.as_styled(), "  one two\n  three\n\n  four\n");
    }
}
