//! A conversation as people read it: who said what, tools folded to a line, summaries marked.

use ramus_engine::{Session, SessionInfo, SessionStatus, Summary};
use ramus_model::message::{Message, Part};
use ramus_model::usage::Cost;
use ramus_model::{Kind, Role, Seq};

use super::glyphs::{self, Glyphs};
use super::{Answer as _, Text, preview, quantity, short_id, style, table, usage};

/// How far what is said is indented.
const INDENT: usize = 2;

/// One thing to show.
pub(crate) struct Turn<'a> {
    pub(crate) seq: Seq,
    pub(crate) id: &'a str,
    /// Who speaks, or what kind of entry it is.
    pub(crate) speaker: &'a str,
    pub(crate) kind: Kind,
    pub(crate) label: Option<&'a str>,
    pub(crate) timestamp: &'a str,
    /// The message; none for entries that are no messages, which show as one line.
    pub(crate) message: Option<&'a Message>,
    /// What such an entry says.
    pub(crate) note: &'a str,
    /// What the call changed in files whose result it is.
    pub(crate) changed: Option<Summary>,
}

/// Writes conversations.
pub(crate) struct Conversation {
    unique: Vec<usize>,
    glyphs: &'static Glyphs,
    width: usize,
    /// Whether long lines are wrapped.
    wrap: bool,
}

impl Conversation {
    pub(crate) fn new(session: &Session, width: usize, wrap: bool) -> Self {
        let log = session.log();
        // What is not shown needs no telling apart.
        let ids: Vec<&str> = log.seqs().map(|seq| if log.belongs(seq) { log.id(seq) } else { "" }).collect();
        Self { unique: short_id::unique_lengths(&ids), glyphs: glyphs::of_terminal(), width, wrap }
    }

    /// Writes what a session is.
    pub(crate) fn header(&self, text: &mut Text, info: &SessionInfo, branches: usize, cost: Cost) {
        if info.starred {
            text.styled(style::LABEL, self.glyphs.star).plain(" ");
        }
        text.styled(style::BOLD, &info.title).styled(style::DIM, &table::tags(&info.tags)).end();
        let mut facts = vec![
            quantity::count(info.messages, "message", "messages"),
            quantity::count(info.entries, "entry", "entries"),
            quantity::count(branches, "branch", "branches"),
        ];
        if let SessionStatus::Running(runner) = info.status {
            facts.push(format!("running (process {})", runner.pid));
        }
        facts.extend(info.model.clone());
        if info.summary.files > 0 {
            facts.push(told(info.summary));
        }
        facts.extend((cost.micros != Some(0) || cost.unpriced > 0).then(|| usage::cost(cost)));
        if info.updated_millis > 0 {
            facts.push(format!("updated {}", quantity::ago(info.updated_millis)));
        }
        let place = if info.cwd.is_empty() { "no directory" } else { &info.cwd };
        let moved = info.moved_to.as_ref().map(|to| format!(" (moved to {to})")).unwrap_or_default();
        text.styled(style::DIM, &format!("{}{}{place}{moved}", info.id, self.glyphs.separator)).end();
        text.styled(style::DIM, &facts.join(self.glyphs.separator)).end();
    }

    /// Writes one message.
    pub(crate) fn turn(&self, text: &mut Text, turn: &Turn<'_>) {
        let Some(message) = turn.message else {
            self.head(text, turn, style::DIM);
            text.plain("  ").cut(style::DIM, turn.note, self.width).end();
            return;
        };
        let colour = style::speaker(turn.kind, message.role);
        if let Some(result) = message.result.as_ref().filter(|_| message.role == Role::ToolResult) {
            self.head(text, turn, colour);
            let verb = if result.is_error { " failed" } else { "" };
            let said = format!("{}{verb}, {}", result.name, weigh(message));
            text.plain("  ").cut(style::DIM, &said, self.width);
            if let Some(changed) = turn.changed {
                text.plain("  ");
                changes(text, changed);
            }
            text.end();
            return;
        }
        self.head(text, turn, colour.bold());
        let time: String = turn.timestamp.chars().take(16).collect();
        text.styled(style::DIM, &format!("  {}", time.replace('T', " "))).end();
        for part in &message.parts {
            self.part(text, turn, part);
        }
    }

    fn head(&self, text: &mut Text, turn: &Turn<'_>, colour: anstyle::Style) {
        let sign = match turn.kind {
            Kind::Compaction => format!("{} ", self.glyphs.compaction),
            _ => String::new(),
        };
        text.styled(colour, &format!("{sign}{}", turn.speaker)).plain(" ");
        short_id::put(text, turn.id, self.unique.get(turn.seq.number() as usize - 1).copied().unwrap_or_default());
        if let Some(label) = turn.label {
            text.plain(" ").styled(style::LABEL, &format!("{} {label}", self.glyphs.label));
        }
    }

    fn part(&self, text: &mut Text, turn: &Turn<'_>, part: &Part) {
        let width = self.wrap.then_some(self.width);
        let summary = matches!(turn.kind, Kind::Compaction | Kind::BranchSummary);
        let folded = |text: &mut Text, line: &str| {
            text.spaces(INDENT).cut(style::DIM, line, self.width).end();
        };
        match part {
            Part::Text(said) if said.trim().is_empty() => {}
            Part::Text(said) => {
                text.block(if summary { style::SUMMARY } else { style::NONE }, said, INDENT, width);
            }
            Part::Thinking(thought) => folded(text, &format!("(thought {})", quantity::size(thought.len() as u64))),
            Part::Image { mime, data } => folded(text, &format!("[{mime}, {}]", quantity::size(data.len() as u64))),
            Part::ToolCall { name, arguments, .. } => {
                folded(text, &preview::call(name, arguments, &glyphs::of_terminal().signs()));
            }
            Part::Unknown(kind, bytes) => folded(text, &format!("[{kind}, {}]", quantity::size(bytes.len() as u64))),
        }
    }
}

/// Writes how much changed, with colours.
pub(crate) fn changes(text: &mut Text, summary: Summary) {
    let glyphs = glyphs::of_terminal();
    let files = quantity::count(usize::try_from(summary.files).unwrap_or(usize::MAX), "file", "files");
    text.styled(style::LABEL, &format!("{}{files}", glyphs.changed));
    text.styled(style::ADDED, &format!(" +{}", summary.additions));
    text.styled(style::REMOVED, &format!(" {}{}", glyphs.minus, summary.deletions));
}

/// How much changed, in words.
pub(crate) fn told(summary: Summary) -> String {
    ramus_wire::preview::told(summary, &glyphs::of_terminal().signs())
}

/// The same, of an answer.
pub(crate) fn told_as(summary: &serde_json::Value) -> String {
    told(Summary {
        additions: summary.number("additions"),
        deletions: summary.number("deletions"),
        files: summary.number("files"),
    })
}

/// How much a tool said.
fn weigh(message: &Message) -> String {
    let said = message.text();
    let lines = said.lines().count();
    let mut weight = quantity::size(said.len() as u64);
    if lines > 1 {
        weight = format!("{weight}, {}", quantity::count(lines, "line", "lines"));
    }
    let images = message.parts.iter().filter(|part| matches!(part, Part::Image { .. })).count();
    if images > 0 {
        weight = format!("{weight}, {}", quantity::count(images, "image", "images"));
    }
    weight
}
