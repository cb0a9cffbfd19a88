//! Bringing the catalogue up to date: whatever the home's stamps say has changed is read, everything else is believed.
//!
//! Files fall into buckets by name. What the stamps of a bucket come to is kept beside its rows, so files that did not
//! change cost a comparison per bucket and no row. A bucket with a row that is not settled has no such sum and is compared
//! row by row each time.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use ramus_catalogue::{Change, Held, digest};
use ramus_model::SessionId;
use ramus_store::{LogStore, Residence, Stamped};

use super::examine::Task;
use super::origins::Origins;
use super::{Progress, Trouble};
use crate::engine::Engine;

/// Into how many buckets files fall.
const BUCKETS: u16 = 256;

/// How many rows are written at once.
const BATCH: usize = 500;

/// How many bytes must be read to be worth a second thread.
const WORTH_A_THREAD: u64 = 4 << 20;

/// How often the home is looked at in a row when files are moved meanwhile.
const LOOKS: usize = 3;

/// How often forks of forks are followed.
const ROUNDS: usize = 66;

/// What the home looked like when the catalogue was brought up to date.
pub(crate) struct Current {
    files: Arc<Vec<Stamped>>,
    buckets: Arc<Vec<Bucket>>,
    /// The names of the files that were read because of what they looked like: their rows need not settle.
    read: HashSet<Arc<str>>,
}

impl Current {
    /// Sorts files into buckets, unless `last` are the same.
    pub(super) fn of(files: Arc<Vec<Stamped>>, last: &mut Option<Sorted>) -> Self {
        let buckets = match last {
            Some((sorted, buckets)) if Arc::ptr_eq(sorted, &files) => Arc::clone(buckets),
            _ => {
                let buckets = Arc::new(sort(&files));
                *last = Some((Arc::clone(&files), Arc::clone(&buckets)));
                buckets
            }
        };
        Self { files, buckets, read: HashSet::new() }
    }

    /// Says whether the rows are as the home was.
    pub(super) fn is_in(&self, held: &Held<'_>) -> Result<bool, Trouble> {
        Ok(self.stale(held)? == 0)
    }

    /// Counts the files that must be looked at, or forgotten.
    pub(super) fn stale(&self, held: &Held<'_>) -> Result<usize, Trouble> {
        let difference = self.compare(held)?;
        Ok(difference.tasks.len() + difference.gone.len())
    }

    /// Returns the ids of all sessions.
    pub(crate) fn ids(&self, store: &dyn LogStore) -> Vec<SessionId> {
        let listed = self.files.iter().filter(|file| file.residence != Residence::Base);
        listed.filter_map(|file| store.id_of(&file.name)).collect()
    }

    /// Returns how many logs there are, bases included.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }
}

/// The files of one bucket: what their stamps come to, and which they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Bucket {
    digest: u64,
    files: Vec<usize>,
}

/// Files and the buckets they fall into.
pub(super) type Sorted = (Arc<Vec<Stamped>>, Arc<Vec<Bucket>>);

fn sort(files: &[Stamped]) -> Vec<Bucket> {
    let mut buckets = vec![Bucket::default(); usize::from(BUCKETS)];
    for (index, file) in files.iter().enumerate() {
        if let Some(bucket) = buckets.get_mut(usize::from(bucket_of(&file.name))) {
            bucket.digest = bucket.digest.wrapping_add(digest(&file.name, &file.stamp.to_bytes()));
            bucket.files.push(index);
        }
    }
    buckets
}

/// What must be done, as far as comparing shows.
#[derive(Default)]
struct Difference {
    tasks: Vec<Task>,
    gone: Vec<Change>,
    /// Buckets whose sum may be written when all is done.
    digests: HashMap<u16, Option<i64>>,
}

impl Engine {
    /// Brings the catalogue up to date with the home. What is moved meanwhile is looked for under its new name.
    pub(super) fn bring_up_to_date(&self, held: &Held<'_>) -> Result<Current, Trouble> {
        for _ in 1..LOOKS {
            let (current, has_missed) = self.bring_closer(held)?;
            if !has_missed {
                return Ok(current);
            }
        }
        self.bring_closer(held).map(|(current, _)| current)
    }

    /// The same, but for what is moved meanwhile; says whether something was not where it was seen.
    fn bring_closer(&self, held: &Held<'_>) -> Result<(Current, bool), Trouble> {
        let mut current = Current::of(self.store.stamps()?, &mut self.shelf.sorted());
        let Difference { tasks, gone, digests } = current.compare(held)?;
        if tasks.is_empty() && gone.is_empty() && digests.is_empty() {
            return Ok((current, false));
        }
        let files = Arc::clone(&current.files);
        let origins = Origins::of(&files, self.store.as_ref());
        let mut work = Work { moved: Vec::new(), digests, batch: gone, read: &mut current.read, has_missed: false };
        work.moved.extend(work.batch.iter().map(|change| change.name().to_owned()));
        self.examine(held, tasks, &origins, &mut work)?;
        for _ in 0..ROUNDS {
            if work.moved.is_empty() {
                break;
            }
            held.apply(&std::mem::take(&mut work.batch), &[])?;
            let tasks = origins.shaken(held, &std::mem::take(&mut work.moved))?;
            self.examine(held, tasks, &origins, &mut work)?;
        }
        let digests: Vec<(u16, Option<i64>)> = work.digests.into_iter().collect();
        held.apply(&work.batch, &digests)?;
        let has_missed = work.has_missed;
        Ok((current, has_missed))
    }

    /// Reads files and writes their rows, all but the last few.
    fn examine(
        &self,
        held: &Held<'_>,
        tasks: Vec<Task>,
        origins: &Origins<'_>,
        work: &mut Work<'_>,
    ) -> Result<(), Trouble> {
        let of_bytes = tasks.iter().map(|task| task.file.stamp.end).sum();
        let mut progress = Progress { of_files: tasks.len(), of_bytes, ..Progress::default() };
        let mut take = |done: Examined| {
            progress.files += 1;
            progress.bytes += done.bytes;
            self.shelf.tell(progress);
            work.take(done);
            if work.batch.len() >= BATCH {
                held.apply(&std::mem::take(&mut work.batch), &[])?;
            }
            Ok::<(), Trouble>(())
        };
        if of_bytes < WORTH_A_THREAD {
            tasks.into_iter().try_for_each(|task| take(self.examine_one(task, origins)))
        } else {
            self.examine_in_threads(tasks, origins, &mut take)
        }
    }

    fn examine_one(&self, task: Task, origins: &Origins<'_>) -> Examined {
        let (bytes, bucket) = (task.file.stamp.end, task.bucket);
        let name = Arc::clone(&task.file.name);
        let gone = task.before.clone().map(|before| Change::Remove { name: name.to_string(), bucket, before });
        let change = task.examine(&self.store, &|id| origins.find(id));
        Examined { name, change, bytes, bucket, gone }
    }

    /// Reads in two threads and hands over what comes, in any order.
    fn examine_in_threads(
        &self,
        tasks: Vec<Task>,
        origins: &Origins<'_>,
        take: &mut dyn FnMut(Examined) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let next = AtomicUsize::new(0);
        let tasks: Vec<std::sync::Mutex<Option<Task>>> =
            tasks.into_iter().map(|task| std::sync::Mutex::new(Some(task))).collect();
        let (sender, receiver) = mpsc::sync_channel(BATCH);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let sender = sender.clone();
                let (tasks, next) = (&tasks, &next);
                scope.spawn(move || {
                    while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let task = task.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
                        let Some(task) = task else { continue };
                        // Whoever no longer listens has had an error to tell.
                        if sender.send(self.examine_one(task, origins)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            receiver.into_iter().try_for_each(take)
        })
    }
}

/// What is being brought up to date.
struct Work<'c> {
    /// The names of files that came, went or did more than grow: forks of them may show something else now.
    moved: Vec<String>,
    /// What buckets come to when all is done; none for those that must be compared again.
    digests: HashMap<u16, Option<i64>>,
    /// Rows that are not written yet.
    batch: Vec<Change>,
    read: &'c mut HashSet<Arc<str>>,
    /// Whether a file was gone when it was to be read.
    has_missed: bool,
}

impl Work<'_> {
    fn take(&mut self, done: Examined) {
        match done.change {
            Some(change) => {
                if let Change::Put { row, has_grown, .. } = &change {
                    if !has_grown {
                        self.moved.push(row.name.clone());
                    }
                    self.read.insert(done.name);
                    if row.is_unsettled {
                        self.digests.insert(row.bucket, None);
                    }
                }
                self.batch.push(change);
            }
            // It went while we were looking: the next look finds out where to.
            None => {
                self.has_missed = true;
                self.digests.insert(done.bucket, None);
                self.moved.push(done.name.to_string());
                self.batch.extend(done.gone);
            }
        }
    }
}

/// A file that was looked at.
struct Examined {
    name: Arc<str>,
    /// Its row; none when it was gone.
    change: Option<Change>,
    bytes: u64,
    bucket: u16,
    /// How its old row goes.
    gone: Option<Change>,
}

impl Current {
    fn compare(&self, held: &Held<'_>) -> Result<Difference, Trouble> {
        let known: HashMap<u16, i64> = held.digests()?.into_iter().collect();
        let mut difference = Difference::default();
        for (number, bucket) in (0..BUCKETS).zip(self.buckets.iter()) {
            let digest = bucket.digest.cast_signed();
            if known.get(&number) != Some(&digest) {
                self.compare_bucket(held, number, bucket, &mut difference)?;
                difference.digests.insert(number, Some(digest));
            }
        }
        Ok(difference)
    }

    fn compare_bucket(
        &self,
        held: &Held<'_>,
        number: u16,
        bucket: &Bucket,
        difference: &mut Difference,
    ) -> Result<(), Trouble> {
        let mut known: HashMap<String, (Vec<u8>, bool)> = HashMap::new();
        for row in held.known(number)? {
            known.insert(row.name, (row.stamp, row.is_unsettled));
        }
        for file in bucket.files.iter().filter_map(|index| self.files.get(*index)) {
            let before = known.remove(&*file.name);
            match before {
                Some((stamp, is_unsettled))
                    if stamp == file.stamp.to_bytes() && (!is_unsettled || self.read.contains(&file.name)) => {}
                before => {
                    let before = before.map(|(stamp, _)| stamp);
                    difference.tasks.push(task(held, file, number, before)?);
                }
            }
        }
        let gone = known.into_iter().map(|(name, (before, _))| Change::Remove { name, bucket: number, before });
        difference.gone.extend(gone);
        Ok(())
    }
}

fn task(held: &Held<'_>, file: &Stamped, bucket: u16, before: Option<Vec<u8>>) -> Result<Task, Trouble> {
    let may_add = before.as_ref().is_some_and(|before| Task::may_add(file, before));
    let row = if may_add { held.row(&file.name)?.map(Box::new) } else { None };
    Ok(Task { file: file.clone(), bucket, before, row })
}

fn bucket_of(name: &str) -> u16 {
    (crc32fast::hash(name.as_bytes()) % u32::from(BUCKETS)) as u16
}
