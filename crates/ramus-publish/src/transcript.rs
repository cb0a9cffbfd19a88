//! A transcript: what of a session is shown to somebody else, and nothing besides.
//!
//! Whoever fills one decides what may leave; whoever renders it has no other source. Every text in it can be visited
//! ([`Transcript::each_text`]), so a redaction that visits them all misses none.

/// What of a session is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// The title.
    pub title: String,
    /// The session.
    pub session: String,
    /// Its working directory; empty when that is nobody's business.
    pub cwd: String,
    /// When it was created.
    pub created: String,
    /// The entries, in the order of the log. A parent comes before its children.
    pub entries: Vec<Entry>,
    /// The entry the conversation ends with.
    pub leaf: Option<usize>,
    /// What the reader should know: that something was taken out, for one.
    pub notes: Vec<String>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// A person.
    User,
    /// A model.
    Assistant,
    /// A tool that was called.
    Tool,
    /// The system.
    System,
    /// A summary of what came before, or of another branch.
    Summary,
    /// An extension, or something this version does not know.
    Other,
}

impl Speaker {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
            Self::Summary => "summary",
            Self::Other => "note",
        }
    }
}

/// One entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// The entry it hangs from, by its place in the transcript.
    pub parent: Option<usize>,
    /// Who speaks.
    pub speaker: Speaker,
    /// The role or kind as it is written, when the speaker does not say it.
    pub role: String,
    /// Its label.
    pub label: Option<String>,
    /// When it was written.
    pub time: String,
    /// Which model answered.
    pub model: Option<String>,
    /// For the result of a call: the name of the tool, and whether it failed.
    pub result: Option<(String, bool)>,
    /// What it says.
    pub parts: Vec<Part>,
}

/// A part of an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text, in Markdown when people or models wrote it.
    Text(String),
    /// What a model thought.
    Thinking(String),
    /// A request to run a tool: its name and arguments.
    Call {
        /// The tool.
        name: String,
        /// The arguments, as JSON.
        input: String,
    },
    /// A picture: its media type and its content in base64, empty when it is not there.
    Image {
        /// The media type.
        mime: String,
        /// The content.
        data: String,
    },
    /// How a file was changed.
    Diff {
        /// The file.
        path: String,
        /// The difference.
        diff: String,
    },
    /// Something this version does not know: its type and its content.
    Other(String, String),
}

impl Transcript {
    /// Visits every text, with the id of the entry it belongs to, which is empty for what concerns the whole.
    pub fn each_text(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        for text in [&mut self.title, &mut self.session, &mut self.cwd, &mut self.created] {
            visit("", text);
        }
        self.notes.iter_mut().for_each(|note| visit("", note));
        self.entries.iter_mut().for_each(|entry| entry.each_text(visit));
    }

    /// Returns the entries from the first to the one the conversation ends with.
    pub fn path(&self) -> Vec<usize> {
        let mut path: Vec<usize> = Vec::new();
        let mut next = self.leaf;
        // A parent comes before its children, so this ends whatever the transcript says.
        while let Some(at) = next.filter(|at| path.last().is_none_or(|last| at < last)) {
            path.push(at);
            next = self.entries.get(at).and_then(|entry| entry.parent);
        }
        path.reverse();
        path
    }
}

impl Entry {
    /// Visits every text, with the id of the entry as it was.
    pub fn each_text(&mut self, visit: &mut dyn FnMut(&str, &mut String)) {
        let id = self.id.clone();
        for text in [&mut self.id, &mut self.role, &mut self.time] {
            visit(&id, text);
        }
        let tool = self.result.iter_mut().map(|result| &mut result.0);
        self.label.iter_mut().chain(&mut self.model).chain(tool).for_each(|text| visit(&id, text));
        self.parts.iter_mut().for_each(|part| part.each_text(&mut |text| visit(&id, text)));
    }
}

impl Part {
    fn each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Text(text) | Self::Thinking(text) => visit(text),
            Self::Call { name: one, input: other }
            | Self::Diff { path: one, diff: other }
            | Self::Other(one, other) => {
                visit(one);
                visit(other);
            }
            // Base64 of a picture is no text; what it is said to be is.
            Self::Image { mime, .. } => visit(mime),
        }
    }
}
