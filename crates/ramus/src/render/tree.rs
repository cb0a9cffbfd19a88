//! The tree in the terminal: runs stay flat, indentation and connectors only where it branches.

mod fold;
mod layout;

use ramus_engine::Session;
use ramus_engine::run::keeps_book;
use ramus_model::{Kind, Lines as _, Record, Role, Scope, Seq, Tree};

use super::glyphs::{self, Glyphs};
use super::preview::Preview;
use super::{Text, quantity, short_id, style};
use crate::screen::Screen;
use fold::{Folding, Weight};
use layout::{Layout, Row};

/// How many columns the name of who speaks takes.
const SPEAKER: usize = 10;

/// Beyond so many columns of an id, the others do not line up with it.
const WIDEST_ID: usize = 16;

/// How much of the width connectors may take.
const RAILS_SHARE: usize = 2;

/// Draws the tree of a session.
pub(crate) fn draw(screen: &mut Screen, session: &Session, scope: Scope) -> anyhow::Result<()> {
    let log = session.log();
    let (tree, folding) = match scope {
        Scope::All => (session.tree(scope), Folding::None),
        Scope::Visible => (Tree::without(log, |seq| is_bookkeeping(session, seq)), Folding::Turns),
    };
    let weigh = |seq: Seq| weight(session, &tree, seq);
    let layout = Layout::of(&tree, folding, &weigh);
    let drawing = Drawing::new(session, &tree, screen.width());
    let lines = session.lines();
    let mut text = Text::new();
    for row in layout.rows() {
        text.clear();
        match row {
            Row::Entry { seq, rails } => {
                let (Some(record), Some(place)) = (log.record(*seq), log.place(*seq)) else { continue };
                let preview =
                    Preview::of_entry(&lines.line(place)?, record, drawing.width, &glyphs::of_terminal().signs());
                drawing.entry(&mut text, *seq, record, &preview, rails);
            }
            Row::Fold { count, rails } => drawing.fold(&mut text, *count, rails),
            Row::Gap => drop(text.end()),
        }
        screen.text(&text)?;
    }
    text.clear();
    drawing.footer(&mut text, &layout, scope);
    screen.text(&text)
}

/// Says whether an entry is left out because it only keeps book. One with a label is shown.
fn is_bookkeeping(session: &Session, seq: Seq) -> bool {
    let log = session.log();
    keeps_book(session, seq) && log.facts().label(log.id(seq)).is_none()
}

/// How much an entry matters when a run is folded.
fn weight(session: &Session, tree: &Tree, seq: Seq) -> Weight {
    let log = session.log();
    let Some(record) = log.record(seq) else { return Weight::Light };
    let marked = log.facts().label(log.id(seq)).is_some() || tree.leaf == Some(seq);
    match record.kind {
        _ if marked => Weight::Landmark,
        Kind::Compaction | Kind::BranchSummary | Kind::ResetBoundary => Weight::Landmark,
        Kind::Message if record.role == Role::User => Weight::Prompt,
        _ => Weight::Light,
    }
}

/// What all rows of a drawing share.
struct Drawing<'a> {
    session: &'a Session,
    tree: &'a Tree,
    glyphs: &'static Glyphs,
    width: usize,
    /// How many bytes of each id are unique, by position in the log.
    unique: Vec<usize>,
    id_width: usize,
    on_path: Vec<bool>,
}

impl<'a> Drawing<'a> {
    fn new(session: &'a Session, tree: &'a Tree, width: usize) -> Self {
        let log = session.log();
        // What is not shown needs no telling apart.
        let ids: Vec<&str> = log.seqs().map(|seq| if log.belongs(seq) { log.id(seq) } else { "" }).collect();
        let unique = short_id::unique_lengths(&ids);
        let mut on_path = vec![false; log.len()];
        let mut id_width = 0;
        for node in &tree.entries {
            let at = index(node.seq);
            if let Some(slot) = on_path.get_mut(at) {
                *slot = node.on_path;
            }
            let id = short_id::shown(log.id(node.seq), unique.get(at).copied().unwrap_or_default());
            id_width = id_width.max(id.chars().count());
        }
        let id_width = id_width.min(WIDEST_ID);
        Self { session, tree, glyphs: glyphs::of_terminal(), width, unique, id_width, on_path }
    }

    fn entry(&self, text: &mut Text, seq: Seq, record: &Record, preview: &Preview, rails: &layout::Rails) {
        let on_path = self.on_path.get(index(seq)).copied().unwrap_or_default();
        let id = self.session.log().id(seq);
        self.rails(text, rails);
        let (marker, marker_style) = match record.kind {
            _ if self.tree.leaf == Some(seq) => (self.glyphs.leaf, style::LEAF),
            Kind::Compaction => (self.glyphs.compaction, style::SUMMARY),
            _ if on_path => (self.glyphs.on_path, style::speaker(record.kind, record.role)),
            _ => (self.glyphs.off_path, style::DIM),
        };
        text.styled(marker_style, marker).plain(" ");
        let unique = self.unique.get(index(seq)).copied().unwrap_or_default();
        short_id::put(text, id, unique);
        text.spaces(self.id_width.saturating_sub(short_id::shown(id, unique).chars().count())).plain(" ");
        text.padded(style::speaker(record.kind, record.role), &preview.speaker, SPEAKER).plain(" ");
        if let Some(label) = self.session.log().facts().label(id) {
            text.styled(style::LABEL, &format!("{} {label}", self.glyphs.label)).plain("  ");
        }
        let words = if on_path { style::NONE } else { style::DIM };
        text.cut(words, &preview.text, self.width).end();
    }

    fn fold(&self, text: &mut Text, count: usize, rails: &layout::Rails) {
        self.rails(text, rails);
        let entries = quantity::count(count, "entry", "entries");
        text.styled(style::DIM, &format!("{} {entries}", self.glyphs.fold)).end();
    }

    /// Connectors that would push everything else off the screen are left out on the left.
    fn rails(&self, text: &mut Text, rails: &layout::Rails) {
        let room = (self.width / RAILS_SHARE / 2).max(2);
        let cells = rails.cells();
        let hidden = if cells.len() > room { cells.len() + 1 - room } else { 0 };
        let mut line = String::new();
        if hidden > 0 {
            line.push_str(self.glyphs.squeezed);
        }
        for cell in cells.iter().skip(hidden) {
            line.push_str(match cell {
                layout::Cell::Rail => self.glyphs.rail,
                layout::Cell::Gap => self.glyphs.gap,
                layout::Cell::Tee => self.glyphs.tee,
                layout::Cell::Corner => self.glyphs.corner,
            });
        }
        text.styled(style::DIM, &line);
    }

    fn footer(&self, text: &mut Text, layout: &Layout, scope: Scope) {
        let log = self.session.log();
        // In the raw log labels and pointer moves have no children either, but they are no leaves.
        let leaves = if scope == Scope::All { &self.session.tree(Scope::Visible).leaves } else { &self.tree.leaves };
        let off_path = |seq: &&Seq| !self.on_path.get(index(**seq)).copied().unwrap_or_default();
        let branches = leaves.iter().filter(off_path).count();
        let hidden = log.len() - self.tree.entries.len();
        let mut counts = vec![
            quantity::count(self.tree.entries.len(), "entry", "entries"),
            quantity::count(branches, "branch", "branches"),
            quantity::count(leaves.len(), "leaf", "leaves"),
            format!("{hidden} hidden"),
        ];
        if layout.folded() > 0 {
            counts.push(format!("{} folded", quantity::grouped(layout.folded() as u64)));
        }
        let mut line = counts.join(", ");
        if scope == Scope::Visible && (hidden > 0 || layout.folded() > 0) {
            line.push_str(" (--all shows everything)");
        }
        if self.tree.leaf.is_none() && !log.is_empty() {
            line.push_str("; no leaf: the next entry becomes a root");
        }
        if !self.tree.entries.is_empty() {
            text.end();
        }
        text.block(style::DIM, &line, 0, Some(self.width));
    }
}

fn index(seq: Seq) -> usize {
    seq.number() as usize - 1
}
