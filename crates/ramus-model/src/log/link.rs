//! Parents that are read after their children, and the circles they can form.

use hashbrown::HashMap;

use super::{Log, Status};
use crate::finding::{Finding, FindingKind};
use crate::id::{EntryId, Seq};

/// A parent that has been named and not read.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    parent: EntryId,
    line: u64,
    offset: u64,
    reported: bool,
}

impl Log {
    /// Remembers that the parent of `child` has not been read yet.
    pub(super) fn await_parent(&mut self, child: Seq, parent: &str) {
        let (line, offset) = self.reading.position();
        let parent = EntryId::from(parent);
        self.pending.insert(child, Pending { parent, line, offset, reported: false });
    }

    /// Returns the entries that name `id` as their parent although it is not there.
    pub fn awaiting(&self, id: &str) -> impl Iterator<Item = Seq> {
        self.pending.iter().filter(move |(_, pending)| pending.parent.as_str() == id).map(|(child, _)| *child)
    }

    /// Links records to parents that appeared later in the file, cuts circles, reports what is missing.
    ///
    /// A record whose parent was already there cannot close a circle, so only a file with forward references pays for
    /// the search, which visits every record once.
    pub(super) fn link(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut linked = HashMap::new();
        let mut waiting: Vec<(Seq, Pending)> = std::mem::take(&mut self.pending).into_iter().collect();
        waiting.sort_unstable_by_key(|(child, _)| *child);
        for (child, mut pending) in waiting {
            if let Some(found) = self.ids.find(pending.parent.as_str().as_bytes()) {
                self.set_parent(child, Some(found));
                linked.insert(child, pending);
                continue;
            }
            if !std::mem::replace(&mut pending.reported, true) {
                let detail =
                    format!("entry {} names the parent {}, which is not there", self.id(child), pending.parent);
                self.report(FindingKind::MissingParent, &pending, detail);
            }
            self.pending.insert(child, pending);
        }
        if linked.is_empty() {
            return;
        }
        for child in self.circles() {
            let detail = format!("the parents of entry {} lead back to it; it was made a root", self.id(child));
            match linked.get(&child) {
                Some(pending) => self.report(FindingKind::Cycle, pending, detail),
                None => self.note(FindingKind::Cycle, detail),
            }
            self.set_parent(child, None);
        }
    }

    fn report(&mut self, kind: FindingKind, pending: &Pending, detail: String) {
        self.find(Finding { kind, line: pending.line, offset: pending.offset, detail });
    }

    pub(super) fn set_parent(&mut self, child: Seq, parent: Option<Seq>) {
        if let Some(record) = self.record_mut(child) {
            record.parent = parent;
        }
    }

    pub(super) fn set_status(&mut self, seq: Seq, status: Status) {
        if let Some(record) = self.record_mut(seq) {
            record.status = status;
        }
    }

    /// The first entry of every circle of parents. Cutting there is stable: an entry cannot have hung from one that did
    /// not exist yet, and appending more never changes which entry is first.
    pub(super) fn circles(&self) -> Vec<Seq> {
        let mut walk_of = vec![0_u32; self.len()];
        let mut cuts = Vec::new();
        for start in self.seqs() {
            let walk = start.number();
            let mut at = Some(start);
            while let Some(seq) = at {
                let Some(mark) = walk_of.get_mut(seq.index()) else { break };
                if *mark == walk {
                    cuts.extend(self.circle_through(seq).min());
                    break;
                }
                if *mark != 0 {
                    break;
                }
                *mark = walk;
                at = self.record(seq).and_then(|record| record.parent);
            }
        }
        cuts
    }

    fn circle_through(&self, seq: Seq) -> impl Iterator<Item = Seq> + '_ {
        let mut first = true;
        self.ancestors(Some(seq)).take_while(move |other| std::mem::take(&mut first) || *other != seq)
    }
}
