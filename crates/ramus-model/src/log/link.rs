//! Parents that are read after their children, and the circles they can form.

use super::{Log, Status};
use crate::finding::FindingKind;
use crate::id::Seq;

impl Log {
    /// Links records to parents that appeared later in the file, cuts circles, reports what is missing.
    ///
    /// A record whose parent was already there cannot close a circle, so only a file with forward references pays for
    /// the search, which visits every record once.
    pub(super) fn link(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        for (child, parent) in std::mem::take(&mut self.pending) {
            if let Some(found) = self.ids.find(parent.as_str().as_bytes()) {
                self.set_parent(child, Some(found));
            } else {
                let detail = format!("entry {} names the parent {parent}, which is not there", self.id(child));
                self.note(FindingKind::MissingParent, detail);
            }
        }
        for child in self.circles() {
            let detail = format!("the parents of entry {} lead back to it; it was made a root", self.id(child));
            self.note(FindingKind::Cycle, detail);
            self.set_parent(child, None);
        }
    }

    pub(super) fn set_parent(&mut self, child: Seq, parent: Option<Seq>) {
        if let Some(record) = self.records.get_mut(child.index()) {
            record.parent = parent;
        }
    }

    pub(super) fn set_status(&mut self, seq: Seq, status: Status) {
        if let Some(record) = self.records.get_mut(seq.index()) {
            record.status = status;
        }
    }

    /// The first entry of every circle of parents. Cutting there is stable: an entry cannot have hung from one that did
    /// not exist yet, and appending more never changes which entry is first.
    fn circles(&self) -> Vec<Seq> {
        let mut walk_of = vec![0_u32; self.records.len()];
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
