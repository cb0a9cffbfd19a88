//! Which logs forks stand on, according to what the home looks like now.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use ramus_catalogue::Held;
use ramus_model::SessionId;
use ramus_store::{Location, LogStore, Residence, Stamped};

use super::Trouble;
use super::examine::Task;

/// Where the origins of forks are, found out when the first one is asked for.
pub(super) struct Origins<'c> {
    files: &'c [Stamped],
    store: &'c dyn LogStore,
    names: OnceLock<HashMap<SessionId, &'c str>>,
}

impl<'c> Origins<'c> {
    pub(super) fn of(files: &'c [Stamped], store: &'c dyn LogStore) -> Self {
        Self { files, store, names: OnceLock::new() }
    }

    /// Finds the log that forks of a session stand on.
    pub(super) fn find(&self, id: &SessionId) -> Option<Location> {
        match self.names().get(id) {
            Some(name) => self.store.located(name),
            None => self.store.find_base(id).ok().flatten(),
        }
    }

    /// Of several logs of one session the first in the order of a list counts, as everywhere.
    fn names(&self) -> &HashMap<SessionId, &'c str> {
        self.names.get_or_init(|| {
            let mut names: Vec<&Stamped> = self.files.iter().filter(|file| file.residence != Residence::Base).collect();
            // The last one that is put in stays. Directories come in order, then the files in them.
            names.sort_unstable_by_key(|file| std::cmp::Reverse(file.name.rsplit_once('/')));
            names.into_iter().filter_map(|file| Some((self.store.id_of(&file.name)?, &*file.name))).collect()
        })
    }

    /// Finds the forks that stand on something else than their rows say, because of files that came, went or did more
    /// than grow.
    pub(super) fn shaken(&self, held: &Held<'_>, moved: &[String]) -> Result<Vec<Task>, Trouble> {
        let mut names: HashSet<String> = held.shaken_forks(moved)?.into_iter().collect();
        let ids = moved.iter().filter_map(|moved| Some(self.store.id_of(moved)?.to_string()));
        for (fork, id, name) in held.rests_on(&ids.collect::<Vec<_>>())? {
            let found = self.find(&SessionId::new(id)).and_then(|at| self.store.name_of(&at));
            if found != name {
                names.insert(fork);
            }
        }
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let mut tasks = Vec::new();
        for file in self.files.iter().filter(|file| names.contains(&*file.name)) {
            let Some(row) = held.row(&file.name)? else { continue };
            tasks.push(Task { file: file.clone(), bucket: row.bucket, before: Some(row.stamp), row: None });
        }
        Ok(tasks)
    }
}
