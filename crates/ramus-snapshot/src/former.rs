//! What a snapshot left out, as far as the ignore files that it holds say so: for snapshots that do not tell, because they
//! are older, or came from elsewhere without what is kept beside them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix_hash::ObjectId;
use gix_object::Kind;

use crate::objects::Objects;
use crate::plan::look_up;
use crate::rules::{RuleReader, Rules, Unheeded};

/// The ignore files of a snapshot. What counts outside of the directory counts as it is now.
pub(crate) struct Former<'a> {
    objects: &'a Objects,
    /// The directory of the snapshot, and where it is.
    root: ObjectId,
    ground: &'a Path,
    reader: RuleReader,
    /// The rules above the directory, and its path in its repository.
    above: Arc<Rules>,
    inside: PathBuf,
    known: RefCell<HashMap<PathBuf, Arc<Rules>>>,
}

impl<'a> Former<'a> {
    pub(crate) fn new(objects: &'a Objects, root: ObjectId, ground: &'a Path) -> Self {
        let reader = RuleReader::default();
        let (above, inside) = reader.above(ground, &mut Unheeded::new());
        Self { objects, root, ground, reader, above, inside, known: RefCell::default() }
    }

    /// Says whether a path was ignored then.
    pub(crate) fn leaves_out(&self, path: &Path) -> bool {
        let mut at = PathBuf::new();
        let mut rules = self.beneath(&self.above, &at);
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            at.push(part);
            let is_directory = parts.peek().is_some();
            if rules.exclude(&self.inside.join(&at), is_directory) {
                return true;
            }
            if is_directory {
                rules = self.beneath(&rules, &at);
            }
        }
        false
    }

    fn beneath(&self, above: &Arc<Rules>, at: &Path) -> Arc<Rules> {
        if let Some(known) = self.known.borrow().get(at) {
            return Arc::clone(known);
        }
        let texts = [".ignore", ".gitignore"].map(|name| self.content(&at.join(name)));
        // Nothing that is joined would leave a slash behind.
        let whole = if at.as_os_str().is_empty() { self.inside.clone() } else { self.inside.join(at) };
        let rules = self.reader.former(above, (&whole, &self.ground.join(at)), texts);
        self.known.borrow_mut().insert(at.to_owned(), Arc::clone(&rules));
        rules
    }

    fn content(&self, path: &Path) -> Option<Vec<u8>> {
        let item = look_up(self.objects, self.root, path).ok().flatten()?;
        let mut bytes = Vec::new();
        self.objects.read(&item.id, Kind::Blob, &mut bytes).ok()?;
        Some(bytes)
    }
}
