//! Where output goes: data to stdout, talk to stderr, colours only where they are wanted.
//!
//! Text reaches a terminal only as a [`Text`], which is free of control characters. Data is written byte for byte,
//! except that on a terminal control characters are spelled as JSON escapes.

use std::cell::RefCell;
use std::io::{self, BufRead as _, BufWriter, IsTerminal as _, Write};
use std::rc::Rc;

use anstream::{AutoStream, ColorChoice};
use ramus_wire::{SCHEMA_VERSION, versioned};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::{Color, Global};
use crate::render::{Text, clean, style};

/// How wide lines are when nobody says.
const DEFAULT_WIDTH: usize = 100;

/// How many lines there are when nobody says.
const DEFAULT_HEIGHT: usize = 24;

/// For whom the output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// People.
    Text,
    /// Programs.
    Json,
}

/// Both output streams and what may be written to them.
pub(crate) struct Screen {
    out: Stream,
    talk: Stream,
    format: Format,
    quiet: bool,
    width: usize,
    has_status: bool,
}

struct Stream {
    to: Box<dyn Write>,
    coloured: bool,
    terminal: bool,
}

impl Stream {
    fn text(&mut self, styled: &str) -> io::Result<()> {
        if self.coloured {
            return self.to.write_all(styled.as_bytes());
        }
        write!(self.to, "{}", anstream::adapter::strip_str(styled))
    }

    fn data(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.terminal {
            return self.to.write_all(bytes);
        }
        self.to.write_all(clean::escape(&String::from_utf8_lossy(bytes)).as_bytes())
    }
}

impl Screen {
    /// Takes the streams of this process.
    pub(crate) fn standard(global: &Global) -> Self {
        let (out, talk) = (io::stdout(), io::stderr());
        let coloured = |automatic: ColorChoice| match global.color {
            Color::Auto => automatic != ColorChoice::Never,
            Color::Always => true,
            Color::Never => false,
        };
        Self {
            format: if global.json { Format::Json } else { Format::Text },
            quiet: global.quiet,
            width: terminal_width(),
            has_status: false,
            talk: Stream {
                coloured: coloured(AutoStream::choice(&talk)),
                terminal: talk.is_terminal(),
                to: Box::new(talk),
            },
            out: Stream {
                coloured: coloured(AutoStream::choice(&out)),
                terminal: out.is_terminal(),
                to: Box::new(BufWriter::with_capacity(1 << 16, out)),
            },
        }
    }

    /// Makes a screen that looks like this one and keeps what both streams are told.
    pub(crate) fn captured(&self) -> (Self, Capture) {
        let capture = Capture::default();
        let stream = |like: &Stream| Stream { to: Box::new(capture.clone()), coloured: like.coloured, terminal: false };
        let screen = Self {
            out: stream(&self.out),
            talk: stream(&self.out),
            format: Format::Text,
            quiet: false,
            width: self.width,
            has_status: false,
        };
        (screen, capture)
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn wants_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Returns how many columns a line may have.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns how many lines a person sees at once.
    pub(crate) fn height(&self) -> usize {
        terminal_size::terminal_size().map_or(DEFAULT_HEIGHT, |(_, height)| usize::from(height.0))
    }

    /// Says whether a person would see how far something has come, and wants to.
    pub(crate) fn can_show_progress(&self) -> bool {
        self.talk.terminal && !self.quiet && self.format == Format::Text
    }

    /// Takes the last lines of text back, on a terminal.
    pub(crate) fn take_back(&mut self, lines: usize) -> anyhow::Result<()> {
        if self.out.terminal && lines > 0 {
            write!(self.out.to, "\x1b[{lines}A\x1b[J")?;
        }
        Ok(())
    }

    /// Shows what is going on in a line that the next output replaces, where a person watches. The line above must have
    /// ended.
    pub(crate) fn status(&mut self, text: &mut Text) -> anyhow::Result<()> {
        if !self.can_show_progress() {
            return Ok(());
        }
        self.flush()?;
        self.clear_status()?;
        self.talk.text(text.as_styled())?;
        self.has_status = true;
        Ok(())
    }

    /// Takes the line that [`Self::status`] showed away.
    pub(crate) fn clear_status(&mut self) -> anyhow::Result<()> {
        if std::mem::take(&mut self.has_status) {
            write!(self.talk.to, "\r\x1b[K")?;
        }
        Ok(())
    }

    /// Says whether styles reach whoever reads stdout.
    pub(crate) fn is_coloured(&self) -> bool {
        self.out.coloured
    }

    /// Says whether a person watches stdout.
    pub(crate) fn is_terminal(&self) -> bool {
        self.out.terminal
    }

    /// Prints one object of JSON on a line of its own.
    pub(crate) fn json(&mut self, members: Map<String, Value>) -> anyhow::Result<()> {
        let mut line = versioned(members).to_string();
        line.push('\n');
        self.data(line.as_bytes())
    }

    /// Prints an object of JSON that is long, without building it up first.
    pub(crate) fn json_of(&mut self, object: &impl Serialize) -> anyhow::Result<()> {
        #[derive(Serialize)]
        struct Versioned<'o, T> {
            schema_version: u32,
            #[serde(flatten)]
            object: &'o T,
        }
        let mut line = serde_json::to_vec(&Versioned { schema_version: SCHEMA_VERSION, object })?;
        line.push(b'\n');
        self.data(&line)
    }

    /// Starts an object of JSON that ends in a list, which is printed item by item.
    pub(crate) fn json_list(&mut self, members: Map<String, Value>, name: &str) -> anyhow::Result<JsonList<'_>> {
        let object = versioned(members).to_string();
        self.data(object.strip_suffix('}').unwrap_or(&object).as_bytes())?;
        self.data(format!(",{}:[", Value::from(name)).as_bytes())?;
        Ok(JsonList { screen: self, is_empty: true })
    }

    /// Prints bytes as they are.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        Ok(self.out.data(bytes)?)
    }

    /// Prints text for people.
    pub(crate) fn text(&mut self, text: &Text) -> anyhow::Result<()> {
        self.clear_status()?;
        Ok(self.out.text(text.as_styled())?)
    }

    /// Asks a question that can be answered with yes; none when there is nobody to ask.
    pub(crate) fn ask(&mut self, question: &mut Text) -> anyhow::Result<Option<bool>> {
        if !self.can_ask() {
            return Ok(None);
        }
        self.complain(question.plain(" [y/N] "))?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        Ok(Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")))
    }

    /// Says whether there is somebody who can answer.
    pub(crate) fn can_ask(&self) -> bool {
        io::stdin().is_terminal()
    }

    /// Prints text of our own that brings its colours along.
    pub(crate) fn styled(&mut self, styled: &str) -> anyhow::Result<()> {
        Ok(self.out.text(styled)?)
    }

    /// Tells people what was done. Programs read it in the data.
    pub(crate) fn note(&mut self, text: &Text) -> anyhow::Result<()> {
        if self.quiet || self.format == Format::Json {
            return Ok(());
        }
        self.complain(text)
    }

    /// Tells something that should not go unnoticed.
    pub(crate) fn warn(&mut self, message: &str) -> anyhow::Result<()> {
        if self.quiet {
            return Ok(());
        }
        if self.format == Format::Json {
            return self.complain_json(Map::from_iter([("warning".to_owned(), message.into())]));
        }
        let mut text = Text::new();
        text.styled(style::WARNING, "warning:").plain(" ").plain(message).end();
        self.complain(&text)
    }

    /// Prints text on stderr. Trouble with stdout shows at its next flush and must not swallow what is said here.
    pub(crate) fn complain(&mut self, text: &Text) -> anyhow::Result<()> {
        let _ = self.flush();
        self.clear_status()?;
        Ok(self.talk.text(text.as_styled())?)
    }

    /// Prints one object of JSON on stderr.
    pub(crate) fn complain_json(&mut self, members: Map<String, Value>) -> anyhow::Result<()> {
        let _ = self.flush();
        let mut line = versioned(members).to_string();
        line.push('\n');
        Ok(self.talk.data(line.as_bytes())?)
    }

    /// Hands everything on.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.out.to.flush()?)
    }
}

/// The list at the end of an object of JSON that is being printed.
pub(crate) struct JsonList<'s> {
    screen: &'s mut Screen,
    is_empty: bool,
}

impl JsonList<'_> {
    /// Prints one item.
    pub(crate) fn push(&mut self, item: &Value) -> anyhow::Result<()> {
        let separator = if std::mem::take(&mut self.is_empty) { "" } else { "," };
        self.screen.data(format!("{separator}{item}").as_bytes())
    }

    /// Ends the list and the object.
    pub(crate) fn end(self) -> anyhow::Result<()> {
        self.screen.data(b"]}\n")
    }
}

fn terminal_width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    said.or_else(measured).unwrap_or(DEFAULT_WIDTH).clamp(20, 400)
}

/// What a captured screen was told.
#[derive(Clone, Default)]
pub(crate) struct Capture(Rc<RefCell<Vec<u8>>>);

impl Capture {
    /// Returns it as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

impl Write for Capture {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
