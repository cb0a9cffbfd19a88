//! Markdown as it comes in, piece by piece: headings, bold, code, lists. Everything else stays as it is.
//!
//! The invariant: no character is lost. A mark is left out only when its other half has come; until then what follows it is
//! held back, at most to the end of its line. So the pieces may be cut anywhere and the result is the same.

use super::{Text, glyphs, style};
use anstyle::{AnsiColor, Style};

const HEADING: Style = Style::new().bold().underline();
const CODE: Style = AnsiColor::Cyan.on_default();

/// How much is held back for the other half of a mark, in bytes.
const LONGEST_SPAN: usize = 600;

/// Where in the text the next character stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// At the beginning of a line, which may become anything.
    #[default]
    Start,
    /// In a line of ordinary text.
    Line(Style),
    /// In a line of a block of code.
    Code,
}

/// A block of code: what closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

/// Renders text while it comes in.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    place: Place,
    fence: Option<Fence>,
    /// What came and cannot be shown yet, because it is not clear what it is.
    held: String,
    /// The last character that was shown in this line.
    last: Option<char>,
}

/// What the beginning of a line turns out to be.
enum Beginning {
    /// It cannot be told yet.
    Unclear,
    /// Ordinary text.
    Plain,
    /// A heading: how many bytes its mark has.
    Heading(usize),
    /// An item of a list: how many bytes its mark has.
    Item(usize),
    /// A line that opens or closes a block of code: how many bytes it has.
    Fence(Fence, usize),
}

impl Markdown {
    /// Takes the next piece and writes what can be shown.
    pub(crate) fn push(&mut self, piece: &str, out: &mut Text) {
        self.held.push_str(piece);
        self.advance(false, out);
    }

    /// Writes what is still held: nothing more comes.
    pub(crate) fn finish(&mut self, out: &mut Text) {
        self.advance(true, out);
        *self = Self::default();
    }

    fn advance(&mut self, is_end: bool, out: &mut Text) {
        while !self.held.is_empty() {
            let before = (self.held.len(), self.place);
            match self.place {
                Place::Start => self.begin_line(is_end, out),
                Place::Line(base) => self.inline(base, is_end, out),
                Place::Code => self.code(out),
            }
            if before == (self.held.len(), self.place) {
                break;
            }
        }
    }

    fn begin_line(&mut self, is_end: bool, out: &mut Text) {
        self.last = None;
        match beginning(&self.held, self.fence, is_end) {
            Beginning::Unclear => {}
            Beginning::Plain => {
                self.place = if self.fence.is_some() { Place::Code } else { Place::Line(style::NONE) };
            }
            Beginning::Heading(mark) => {
                self.held.drain(..mark);
                self.place = Place::Line(HEADING);
            }
            Beginning::Item(mark) => {
                let taken: String = self.held.drain(..mark).collect();
                let indent = taken.len() - taken.trim_start_matches(' ').len();
                out.spaces(indent).plain(glyphs::of_terminal().item).spaces(1);
                self.place = Place::Line(style::NONE);
            }
            Beginning::Fence(fence, length) => {
                let line: String = self.held.drain(..length).collect();
                out.exact(style::DIM, &line);
                self.fence = if self.fence.is_some() { None } else { Some(fence) };
            }
        }
    }

    /// Shows the rest of a line of code, as far as it came.
    fn code(&mut self, out: &mut Text) {
        let end = self.held.find('\n').map_or(self.held.len(), |at| at + 1);
        let line: String = self.held.drain(..end).collect();
        out.exact(CODE, &line);
        if line.ends_with('\n') {
            self.place = Place::Start;
        }
    }

    /// Shows ordinary text up to the next mark that is not clear.
    fn inline(&mut self, base: Style, is_end: bool, out: &mut Text) {
        let Some(at) = self.held.find(['\n', '`', '*']) else {
            let all = std::mem::take(&mut self.held);
            return self.show(base, &all, out);
        };
        let before: String = self.held.drain(..at).collect();
        self.show(base, &before, out);
        if self.held.starts_with('\n') {
            self.held.drain(..1);
            out.end();
            self.place = Place::Start;
            return;
        }
        let mark = if self.held.starts_with('`') { '`' } else { '*' };
        let run = self.held.len() - self.held.trim_start_matches(mark).len();
        if run == self.held.len() && !is_end {
            return;
        }
        match self.span(mark, run, is_end) {
            Some(end) => {
                let span: String = self.held.drain(..end + run).collect();
                let inner = span.get(run..end).unwrap_or_default();
                let style = if mark == '`' { CODE } else { base.bold() };
                self.show(style, inner, out);
            }
            None if self.may_close(mark, run) && !is_end => {}
            None => {
                let marks: String = self.held.drain(..run).collect();
                self.show(base, &marks, out);
            }
        }
    }

    fn show(&mut self, style: Style, text: &str, out: &mut Text) {
        self.last = text.chars().next_back().or(self.last);
        out.exact(style, text);
    }

    /// Finds where the other half of a mark starts, in the same line. Marks at the very end may be followed by more.
    fn span(&self, mark: char, run: usize, is_end: bool) -> Option<usize> {
        if !self.can_open(mark, run) {
            return None;
        }
        let line = self.held.split('\n').next().unwrap_or_default();
        let mut from = run;
        while let Some(found) = line.get(from..).and_then(|rest| rest.find(mark)) {
            let at = from + found;
            let rest = line.get(at..).unwrap_or_default();
            let length = rest.len() - rest.trim_start_matches(mark).len();
            if at + length == self.held.len() && !is_end {
                return None;
            }
            let follows_space = line.get(..at).is_none_or(|before| before.ends_with(char::is_whitespace));
            let precedes_word = rest.get(length..).is_some_and(|behind| behind.starts_with(char::is_alphanumeric));
            if length == run && (mark == '`' || !follows_space && !precedes_word) {
                return Some(at);
            }
            from = at + length;
        }
        None
    }

    /// Says whether a run of marks means something here: code, or bold in front of a word.
    fn can_open(&self, mark: char, run: usize) -> bool {
        let next = self.held.get(run..).and_then(|rest| rest.chars().next());
        match mark {
            '`' => true,
            _ => {
                run == 2
                    && next.is_some_and(|next| !next.is_whitespace())
                    && !self.last.is_some_and(char::is_alphanumeric)
            }
        }
    }

    /// Says whether the other half of a mark may still come.
    fn may_close(&self, mark: char, run: usize) -> bool {
        self.can_open(mark, run) && !self.held.contains('\n') && self.held.len() <= LONGEST_SPAN
    }
}

/// Tells what a line is from how it begins.
fn beginning(held: &str, fence: Option<Fence>, is_end: bool) -> Beginning {
    let unclear = if is_end { Beginning::Plain } else { Beginning::Unclear };
    let rest = held.trim_start_matches(' ');
    let indent = held.len() - rest.len();
    let Some(first) = rest.chars().next() else {
        return if indent > LONGEST_SPAN { Beginning::Plain } else { unclear };
    };
    let run = rest.len() - rest.trim_start_matches(first).len();
    let behind = rest.get(run..).unwrap_or_default();
    match first {
        '`' | '~' => fence_line(held, Fence { mark: first, length: run }, fence, is_end),
        _ if fence.is_some() => Beginning::Plain,
        '#' if indent < 4 && run <= 6 => match behind.chars().next() {
            None => unclear,
            Some(' ') => Beginning::Heading(indent + run + 1),
            Some(_) => Beginning::Plain,
        },
        '-' | '*' | '+' if run == 1 => match behind.chars().next() {
            None => unclear,
            Some(' ') => Beginning::Item(indent + 2),
            Some(_) => Beginning::Plain,
        },
        _ => Beginning::Plain,
    }
}

/// Tells whether a line opens or closes a block of code: it must be known whole.
fn fence_line(held: &str, found: Fence, open: Option<Fence>, is_end: bool) -> Beginning {
    let end = held.find('\n').map(|at| at + 1);
    let line = held.get(..end.unwrap_or(held.len())).unwrap_or_default().trim_start();
    let behind = line.trim_start_matches(found.mark);
    let may_be = match open {
        Some(open) => found.mark == open.mark && behind.trim().is_empty(),
        None => !behind.contains('`'),
    };
    let least = open.map_or(3, |open| open.length);
    let may_grow = end.is_none() && behind.is_empty();
    match end {
        _ if !may_be || found.length < least && !may_grow => Beginning::Plain,
        Some(end) => Beginning::Fence(found, end),
        None if is_end && found.length >= least => Beginning::Fence(found, held.len()),
        None if is_end || held.len() > LONGEST_SPAN => Beginning::Plain,
        None => Beginning::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders a text that comes in pieces of `size` characters, with styles spelled out.
    fn rendered(text: &str, size: usize) -> String {
        let (mut markdown, mut out) = (Markdown::default(), Text::new());
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            markdown.push(&piece.iter().collect::<String>(), &mut out);
        }
        markdown.finish(&mut out);
        let names = [(HEADING, "<h>"), (CODE, "<c>"), (style::BOLD, "<b>"), (style::DIM, "<d>")];
        let mut shown = out.as_styled().to_owned();
        for (style, name) in names {
            shown = shown.replace(&style.render().to_string(), name);
        }
        shown.replace(&style::BOLD.render_reset().to_string(), "</>")
    }

    /// Pieces of one character show every mark alone, so neighbouring runs of one style are put together.
    fn joined(shown: &str) -> String {
        let mut joined = shown.to_owned();
        for name in ["<h>", "<c>", "<b>", "<d>"] {
            joined = joined.replace(&format!("</>{name}"), "");
        }
        joined
    }

    #[test]
    fn marks_become_styles_wherever_the_pieces_are_cut() {
        let text =
            "# A title\nSome **bold** and `code`.\n- one\n  * two\n```rust\nlet a = 1; // **not bold**\n```\nEnd";
        let wanted = "<h>A title</>\nSome <b>bold</> and <c>code</>.\n• one\n  • two\n<d>```rust</>\n\
                      <c>let a = 1; // **not bold**</>\n<d>```</>\nEnd";
        for size in 1..text.len() {
            assert_eq!(joined(&rendered(text, size)), wanted, "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_no_mark_stays_as_it_is() {
        for text in [
            "2 ** 3 and f(**kwargs) and a**b**c and 5 * 6 * 7",
            "an open `tick\nand **bold\nhere",
            "#hashtag and -5 and *emphasis* and __init__",
            "``` not a` fence",
            "~~struck~~ and ~ and `",
            "a trailing **",
        ] {
            for size in [1, 2, 3, 100] {
                assert_eq!(rendered(text, size), text, "in pieces of {size}");
            }
        }
    }

    #[test]
    fn text_is_shown_as_soon_as_it_is_clear() {
        let (mut markdown, mut out) = (Markdown::default(), Text::new());
        markdown.push("Hello wor", &mut out);
        assert_eq!(out.as_styled(), "Hello wor");
        markdown.push("ld **bo", &mut out);
        assert_eq!(out.as_styled(), "Hello world ");
        markdown.push(&"x".repeat(LONGEST_SPAN), &mut out);
        assert!(out.as_styled().starts_with("Hello world **boxxx"), "nothing is held for ever");
    }

    #[test]
    fn a_longer_fence_holds_a_shorter_one() {
        let shown = rendered("````\n```\ncode\n````\nout\n", 3);
        assert_eq!(joined(&shown), "<d>````</>\n<c>```</>\n<c>code</>\n<d>````</>\nout\n");
    }
}
