//! Where every row of a tree goes. No text here, and no recursion: a chain of any depth is one flat run.

use std::rc::Rc;

use ramus_model::{Seq, Tree};

use super::fold::{self, Folding, Piece, Weight};

/// One row of the drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// An entry.
    Entry { seq: Seq, rails: Rails },
    /// Entries that are left out.
    Fold { count: usize, rails: Rails },
    /// An empty line between two roots.
    Gap,
}

/// What stands left of a row, shared between the rows of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rails(Rc<[Cell]>);

impl Rails {
    pub(super) fn cells(&self) -> &[Cell] {
        &self.0
    }
}

/// Two columns left of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// A branch that goes on below passes by.
    Rail,
    /// Nothing.
    Gap,
    /// A branch starts here, and another one below.
    Tee,
    /// The last branch starts here.
    Corner,
}

/// More levels than any terminal shows are not kept per row.
const DEEPEST: usize = 256;

/// A tree, row by row.
pub(super) struct Layout {
    rows: Vec<Row>,
    folded: usize,
}

/// A run that is still to be drawn.
struct Frame {
    start: Seq,
    /// How many cells stand left of it, its own connector included.
    level: usize,
    last: bool,
}

impl Layout {
    /// Lays out `tree`: the branch with the leaf first, the others in the order they were started.
    pub(super) fn of(tree: &Tree, folding: Folding, weigh: &dyn Fn(Seq) -> Weight) -> Self {
        let children = Children::of(tree);
        let mut layout = Self { rows: Vec::new(), folded: 0 };
        let mut passing: Vec<Cell> = Vec::new();
        let roots = children.active_first(&tree.roots);
        let mut stack: Vec<Frame> = roots.iter().rev().map(|&start| Frame { start, level: 0, last: true }).collect();
        while let Some(frame) = stack.pop() {
            if frame.level == 0 && !layout.rows.is_empty() {
                layout.rows.push(Row::Gap);
            }
            passing.truncate(frame.level.saturating_sub(1));
            let first = rails(&passing, (frame.level > 0).then_some(if frame.last { Cell::Corner } else { Cell::Tee }));
            if frame.level > 0 {
                passing.push(if frame.last { Cell::Gap } else { Cell::Rail });
            }
            let run = children.run(frame.start);
            layout.push_run(&fold::pieces(&run, folding, weigh), first, rails(&passing, None));
            let Some(end) = run.last() else { continue };
            let branches = children.active_first(children.of_entry(*end));
            let level = frame.level + 1;
            let frames = branches.iter().rev().enumerate();
            stack.extend(frames.map(|(at, &start)| Frame { start, level, last: at == 0 }));
        }
        layout
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns how many entries were left out.
    pub(super) fn folded(&self) -> usize {
        self.folded
    }

    fn push_run(&mut self, pieces: &[Piece], first: Rails, others: Rails) {
        let mut next = first;
        for piece in pieces {
            let rails = std::mem::replace(&mut next, others.clone());
            self.rows.push(match *piece {
                Piece::Entry(seq) => Row::Entry { seq, rails },
                Piece::Fold(count) => {
                    self.folded += count;
                    Row::Fold { count, rails }
                }
            });
        }
    }
}

fn rails(passing: &[Cell], connector: Option<Cell>) -> Rails {
    let from = passing.len().saturating_sub(DEEPEST);
    Rails(passing.get(from..).unwrap_or_default().iter().copied().chain(connector).collect())
}

/// The children of every entry, in insertion order.
struct Children {
    /// Where the children of each entry start in `all`, by seq; the next one is where they end.
    starts: Vec<usize>,
    all: Vec<Seq>,
    on_path: Vec<bool>,
}

impl Children {
    fn of(tree: &Tree) -> Self {
        let size = tree.entries.iter().map(|node| node.seq.number() as usize).max().unwrap_or_default() + 2;
        let mut starts = vec![0_usize; size];
        let mut on_path = vec![false; size];
        for node in &tree.entries {
            if let Some(slot) = starts.get_mut(node.seq.number() as usize + 1) {
                *slot = node.children as usize;
            }
            if let Some(slot) = on_path.get_mut(node.seq.number() as usize) {
                *slot = node.on_path;
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut next = starts.clone();
        let mut all = vec![None; total];
        for node in &tree.entries {
            let Some(parent) = node.parent else { continue };
            let Some(at) = next.get_mut(parent.number() as usize) else { continue };
            if let Some(slot) = all.get_mut(*at) {
                *slot = Some(node.seq);
            }
            *at += 1;
        }
        Self { starts, all: all.into_iter().flatten().collect(), on_path }
    }

    fn of_entry(&self, seq: Seq) -> &[Seq] {
        let at = seq.number() as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(&start), Some(&end)) => self.all.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }

    /// The entries from `start` down to the next branch point or leaf.
    fn run(&self, start: Seq) -> Vec<Seq> {
        let only_child = |seq: &Seq| match self.of_entry(*seq) {
            [only] => Some(*only),
            _ => None,
        };
        std::iter::successors(Some(start), only_child).collect()
    }

    fn active_first(&self, siblings: &[Seq]) -> Vec<Seq> {
        let mut ordered = siblings.to_vec();
        ordered.sort_by_key(|seq| !self.on_path.get(seq.number() as usize).copied().unwrap_or_default());
        ordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramus_model::{Depth, Log, Scope};

    fn log(links: &[(&str, Option<&str>)]) -> Log {
        let mut file =
            String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"\",\"cwd\":\"/\"}\n");
        for (id, parent) in links {
            let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{parent}\""));
            file.push_str(&format!(
                "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}\n"
            ));
        }
        Log::from_bytes(file.as_bytes(), Depth::Envelope)
    }

    fn drawn(log: &Log) -> Vec<String> {
        let tree = Tree::of(log, Scope::Visible);
        let layout = Layout::of(&tree, Folding::None, &|_| Weight::Light);
        let cell = |cell: &Cell| match cell {
            Cell::Rail => "│ ",
            Cell::Gap => "  ",
            Cell::Tee => "├─",
            Cell::Corner => "└─",
        };
        let row = |row: &Row| match row {
            Row::Entry { seq, rails } => {
                format!("{}{}", rails.cells().iter().map(cell).collect::<String>(), log.id(*seq))
            }
            Row::Fold { count, .. } => format!("fold {count}"),
            Row::Gap => String::new(),
        };
        layout.rows().iter().map(row).collect()
    }

    #[test]
    fn runs_are_flat_and_the_active_branch_comes_first() {
        let log = log(&[
            ("a", None),
            ("b", Some("a")),
            ("c", Some("b")),
            ("d", Some("c")),
            ("e", Some("b")),
            ("f", Some("e")),
            ("g", Some("e")),
            ("h", Some("b")),
            ("i", Some("g")),
        ]);
        assert_eq!(drawn(&log), ["a", "b", "├─e", "│ ├─g", "│ │ i", "│ └─f", "├─c", "│ d", "└─h"]);
    }

    #[test]
    fn roots_stand_apart() {
        let log = log(&[("a", None), ("b", Some("a")), ("c", None)]);
        assert_eq!(drawn(&log), ["c", "", "a", "b"]);
    }

    #[test]
    fn deep_trees_are_laid_out_in_linear_time() {
        let links: Vec<(String, Option<String>)> = (0..200_000_u32)
            .map(|n| (n.to_string(), (n > 0).then(|| (if n % 2 == 0 { n - 2 } else { n - 1 }).to_string())))
            .collect();
        let borrowed: Vec<(&str, Option<&str>)> = links.iter().map(|(id, parent)| (&**id, parent.as_deref())).collect();
        assert_eq!(drawn(&log(&borrowed)).len(), 200_000);
    }
}
