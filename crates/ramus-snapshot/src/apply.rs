//! Carrying out a plan, so that whatever is killed or changed in the middle of it loses nothing.
//!
//! New content is written beside its place and made durable, many files at a time; then it is exchanged with what is
//! there in one move. What came out of the exchange is looked at before it is let go: if it is not what the plan saw, it
//! goes back and the path is a conflict. Every step can be done again.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use gix_object::Kind;
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::clear::Moment;
use crate::error::SnapshotError;
use crate::moves::is_unable;
use crate::objects::Objects;
use crate::place::{Place, There};
use crate::plan::{Step, is_writable};
use crate::spread::{processors, spread};

/// How many files are made durable at a time; each takes two open files.
const BATCH: usize = 128;

/// What became of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is as it shall be.
    Done,
    /// Somebody changed it meanwhile, or it may not be changed; it was left alone.
    Kept,
}

/// Changes files beneath a directory.
pub(crate) struct Applier<'a> {
    pub(crate) root: &'a File,
    pub(crate) objects: &'a Objects,
    /// What became of each path.
    pub(crate) outcomes: BTreeMap<PathBuf, Outcome>,
    /// Content that the store should have had. The rest is carried out all the same.
    pub(crate) missing: Option<SnapshotError>,
    /// When this was begun, if that is over and it was not ended.
    pub(crate) begun: Option<Moment>,
}

/// What temporary names start with. Snapshots leave them out.
pub(crate) const TEMPORARY: &str = ".ramus-restore-";

/// What a step comes to at first sight.
enum Begun {
    Settled(Outcome),
    /// It is to be done here.
    Open(Place),
}

/// What a step with new content comes to before anything is exchanged.
enum Made {
    Settled(Outcome),
    /// The store does not have the content.
    Missing(SnapshotError),
    /// The content is beside its place; the file, unless it is a link, is to be made durable.
    Ready(Place, Option<File>),
}

impl Applier<'_> {
    /// Carries out the steps.
    pub(crate) fn apply(&mut self, steps: &[Step]) -> Result<(), SnapshotError> {
        let (gone, come): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(|step| step.new.is_none());
        let (hollow, gone): (Vec<&Step>, Vec<&Step>) = gone.into_iter().partition(|step| step.is_hollow());
        // A file must be gone before a directory can have its name, and a directory before a file can.
        for step in &gone {
            let removed = if step.clears { self.clear_out(step) } else { self.remove(step) };
            let outcome = removed.or_else(|error| self.refused(step, error))?;
            self.outcomes.insert(step.path.clone(), outcome);
        }
        for batch in come.chunks(BATCH) {
            self.write(batch)?;
        }
        gone.iter().for_each(|step| self.prune(step));
        for step in gone.iter().chain(&hollow) {
            self.keep_hollow(step);
        }
        self.make_durable(steps)
    }

    /// Removes whatever is there, with everything in it. Whoever ends this later saw less than there is then: what came
    /// since it was begun stays.
    fn clear_out(&self, step: &Step) -> io::Result<Outcome> {
        let (parent, name) = split(&step.path);
        match self.directory(&parent, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            directory => {
                if crate::clear::clear(directory?.as_fd(), &name, self.begun)? {
                    return Ok(Outcome::Kept);
                }
            }
        }
        Ok(Outcome::Done)
    }

    /// Makes the directories that were there with nothing in them, unless something else stands there.
    fn keep_hollow(&mut self, step: &Step) {
        let is_there = step.stays.iter().all(|path| self.directory(path, true).is_ok());
        if step.is_hollow() {
            let outcome = if is_there { Outcome::Done } else { Outcome::Kept };
            self.outcomes.insert(step.path.clone(), outcome);
        }
    }

    fn remove(&self, step: &Step) -> io::Result<Outcome> {
        match self.begin(step)? {
            Begun::Settled(outcome) => Ok(outcome),
            Begun::Open(place) => place.remove(step.old),
        }
    }

    /// Writes files: all of a batch beside their places, then each to its own.
    fn write(&mut self, steps: &[&Step]) -> Result<(), SnapshotError> {
        let trouble = || SnapshotError::io("make durable what is restored to", Path::new("."));
        let made = spread(steps, processors(), |step| self.make(step)).map_err(trouble())?;
        let (mut places, mut files) = (Vec::new(), Vec::new());
        for (step, made) in steps.iter().zip(made) {
            match made? {
                Made::Settled(outcome) => drop(self.outcomes.insert(step.path.clone(), outcome)),
                Made::Missing(error) => {
                    self.missing.get_or_insert(error);
                    self.outcomes.insert(step.path.clone(), Outcome::Kept);
                }
                Made::Ready(place, file) => {
                    files.extend(file);
                    places.push((*step, place));
                }
            }
        }
        self.pass(crate::durable::wait(&files)).map_err(trouble())?;
        let publish = |(step, place): &(&Step, Place)| {
            place.publish(step.old, step.new).or_else(|error| self.refused(step, error))
        };
        let outcomes = spread(&places, processors(), publish).map_err(trouble())?;
        for ((step, _), outcome) in places.iter().zip(outcomes) {
            self.outcomes.insert(step.path.clone(), outcome?);
        }
        Ok(())
    }

    /// Writes the content of a step beside its place, unless there is nothing to do.
    fn make(&self, step: &Step) -> Result<Made, SnapshotError> {
        let Some(new) = step.new else { return Ok(Made::Settled(Outcome::Done)) };
        let mut content = Vec::new();
        if let Err(error) = self.objects.read(&new.id, Kind::Blob, &mut content) {
            return Ok(Made::Missing(error));
        }
        let made = self.begin(step).and_then(|begun| match begun {
            Begun::Settled(outcome) => Ok(Made::Settled(outcome)),
            Begun::Open(place) => {
                let file = place.make(new.kind, &content, step.mode);
                // What is half there is of no use, whatever comes of the rest.
                let file = file.inspect_err(|_| drop(place.discard()))?;
                file.iter().for_each(crate::durable::begin);
                Ok(Made::Ready(place, file))
            }
        });
        made.or_else(|error| self.refused(step, error).map(Made::Settled))
    }

    /// Looks whether a step is to be done, and where.
    fn begin(&self, step: &Step) -> io::Result<Begun> {
        if !is_writable(&step.path) {
            return Ok(Begun::Settled(Outcome::Kept));
        }
        let (parent, name) = split(&step.path);
        let directory = match self.directory(&parent, step.new.is_some()) {
            // A directory that is gone holds nothing.
            Err(error) if step.new.is_none() && error.kind() == io::ErrorKind::NotFound => {
                return Ok(Begun::Settled(Outcome::Done));
            }
            directory => directory?,
        };
        let place = Place::new(directory, name);
        place.settle(step.old, step.new)?;
        if step.old.is_none() {
            place.make_room();
        }
        Ok(match place.item(&place.name)? {
            there if there == There::Item(step.new) => Begun::Settled(Outcome::Done),
            there if there == There::Item(step.old) => Begun::Open(place),
            _ => Begun::Settled(Outcome::Kept),
        })
    }

    /// Opens a directory beneath the root without following links; makes it if asked to.
    fn directory(&self, path: &Path, make: bool) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let open = |path: &Path| rustix::fs::openat2(self.root.as_fd(), path, flags, Mode::empty(), resolve);
        let here = Path::new(".");
        let whole = if path.as_os_str().is_empty() { here } else { path };
        match open(whole) {
            Err(Errno::NOENT) if make => {}
            opened => return Ok(opened?),
        }
        let mut at = PathBuf::new();
        for part in path.components() {
            let parent = open(if at.as_os_str().is_empty() { here } else { &at })?;
            match rustix::fs::mkdirat(&parent, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            at.push(part);
        }
        Ok(open(whole)?)
    }

    /// Removes directories above a path that became empty, as long as they do and were not so before.
    fn prune(&self, step: &Step) {
        let mut above = step.path.parent();
        while let Some(directory) = above.filter(|directory| !directory.as_os_str().is_empty()) {
            if step.stays.iter().any(|stays| stays == directory) {
                return;
            }
            let (parent, name) = split(directory);
            let Ok(parent) = self.directory(&parent, false) else { return };
            // One that is not empty stays: the system refuses.
            if rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
            above = directory.parent();
        }
    }

    /// Makes the names durable, before the journal that could bring them back is gone.
    fn make_durable(&self, steps: &[Step]) -> Result<(), SnapshotError> {
        let mut paths: Vec<&Path> = steps.iter().flat_map(|step| step.path.ancestors().skip(1)).collect();
        paths.sort_unstable();
        paths.dedup();
        for batch in paths.chunks(BATCH) {
            // One that is gone, or no directory of ours, has nothing to keep.
            let open = batch.iter().filter_map(|path| self.directory(path, false).ok().map(File::from));
            let wait = self.pass(crate::durable::wait(&open.collect::<Vec<_>>()));
            wait.map_err(SnapshotError::io("make durable what is restored to", Path::new(".")))?;
        }
        Ok(())
    }

    /// A path at which the system refuses is left alone. Any other trouble ends the restore, and the journal stays, so that
    /// it is tried again; what is still in the way then is left alone too, unless there may be room for it one day: a
    /// journal that nobody could end would keep everybody from snapshots for good.
    fn refused(&self, step: &Step, error: io::Error) -> Result<Outcome, SnapshotError> {
        let found = Errno::from_io_error(&error);
        match found {
            // It may not be changed.
            Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Ok(Outcome::Kept),
            // Something else stands there, or on the way: a link, a file, a directory.
            Some(
                Errno::LOOP
                | Errno::NOTDIR
                | Errno::XDEV
                | Errno::ISDIR
                | Errno::NOENT
                | Errno::EXIST
                | Errno::NOTEMPTY,
            ) => Ok(Outcome::Kept),
            Some(Errno::NAMETOOLONG | Errno::BUSY | Errno::TXTBSY | Errno::AGAIN) => Ok(Outcome::Kept),
            // The file system has no such name, or no such thing.
            Some(Errno::ILSEQ) => Ok(Outcome::Kept),
            Some(error) if is_unable(error) => Ok(Outcome::Kept),
            _ if self.begun.is_some() && !may_pass(found) => Ok(Outcome::Kept),
            _ => Err(SnapshotError::io("restore", &step.path)(error)),
        }
    }

    /// Passes over that a file system cannot make things durable, and over what went wrong with that before.
    fn pass(&self, waited: io::Result<()>) -> io::Result<()> {
        waited.or_else(|error| {
            let found = Errno::from_io_error(&error);
            let is_lasting = found.is_some_and(is_unable) || self.begun.is_some() && !may_pass(found);
            if is_lasting { Ok(()) } else { Err(error) }
        })
    }
}

/// Says whether trouble goes away when there is room, or somebody needs less of the machine.
fn may_pass(error: Option<Errno>) -> bool {
    matches!(
        error,
        Some(Errno::NOSPC | Errno::DQUOT | Errno::NOMEM | Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::INTR)
    )
}

fn split(path: &Path) -> (PathBuf, PathBuf) {
    let parent = path.parent().map(Path::to_owned).unwrap_or_default();
    (parent, path.file_name().map(PathBuf::from).unwrap_or_default())
}
