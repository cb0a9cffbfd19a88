//! Carrying out what a stage decided: by the import itself, or by whoever comes after one that was interrupted.
//!
//! Between an interrupted import and the next command somebody may have written to a session, or made one. What was staged
//! for it no longer fits. It is set aside, whole, and the rest goes on: an import that was killed stands in nobody's way.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::staging::Step;
use super::{JsonlStore, lock_name};
use crate::error::StoreError;
use crate::store::Location;

impl JsonlStore {
    /// Finishes or removes what is under `imports/`. Whoever calls holds the lock.
    pub(super) fn settle_under_lock(&self) -> Result<usize, StoreError> {
        let mut appeared = 0;
        for entry in self.entries(&self.imports())?.into_iter().filter(|entry| entry.is_dir) {
            let directory = self.imports().join(entry.name);
            if let Some(steps) = self.read_decision(&directory)? {
                appeared += self.carry_out_late(&steps)?;
            }
            self.remove_stage(&directory)?;
        }
        Ok(appeared)
    }

    /// Does every step that is not done yet.
    pub(super) fn carry_out(&self, steps: &[Step]) -> Result<usize, StoreError> {
        let mut done = 0;
        for step in steps {
            done += usize::from(self.carry_out_step(step)?);
        }
        self.sync_targets(steps)?;
        Ok(done)
    }

    /// Does every step that is not done yet and still fits. What does not fit is set aside.
    fn carry_out_late(&self, steps: &[Step]) -> Result<usize, StoreError> {
        let mut done = 0;
        for step in steps {
            if let Some(directory) = step.target.parent() {
                self.own_dir(directory)?;
            }
            match self.carry_out_step(step) {
                Ok(is_new) => done += usize::from(is_new),
                Err(StoreError::Exists { .. } | StoreError::Moved { .. } | StoreError::NotFound { .. }) => {
                    self.set_aside(step)?;
                }
                Err(error) => return Err(error),
            }
        }
        self.sync_targets(steps)?;
        Ok(done)
    }

    fn sync_targets(&self, steps: &[Step]) -> Result<(), StoreError> {
        let directories: BTreeSet<&Path> = steps.iter().filter_map(|step| step.target.parent()).collect();
        for directory in directories {
            self.fs.sync_dir(directory).map_err(|error| StoreError::io("sync", directory, error))?;
        }
        Ok(())
    }

    fn carry_out_step(&self, step: &Step) -> Result<bool, StoreError> {
        let at = located(step);
        let gate = self.gate(&at)?;
        let _held = gate.hold()?;
        match self.fs.stat(&step.staged) {
            // Done before the interruption.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            result => result.map_err(|error| StoreError::io("inspect", &step.staged, error))?,
        };
        let Some(len) = step.replaces else {
            let renamed = self.fs.rename_new(&step.staged, &step.target);
            return renamed.map(|()| true).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => StoreError::Exists { path: step.target.clone() },
                _ => StoreError::io("create", &step.target, error),
            });
        };
        let stat = self.fs.stat(&step.target).map_err(|error| StoreError::io("inspect", &step.target, error))?;
        if stat.size != len {
            // Somebody wrote to it since: what came from elsewhere no longer continues it.
            return Err(StoreError::Moved { expected: len, actual: stat.size });
        }
        self.fs.rename(&step.staged, &step.target).map_err(|error| StoreError::io("replace", &step.target, error))?;
        Ok(true)
    }

    /// Keeps a staged log that cannot appear any more, where damage of its session is kept.
    fn set_aside(&self, step: &Step) -> Result<(), StoreError> {
        let directory = self.root.join("quarantine");
        self.own_dir(&directory)?;
        let hash = hex::encode(Sha256::digest(step.staged.as_os_str().as_encoded_bytes()));
        let name = format!("{}-{}-0{IMPORT}", lock_name(&located(step)), hash.get(..16).unwrap_or(&hash));
        let kept = directory.join(name);
        self.fs.rename(&step.staged, &kept).map_err(|error| StoreError::io("set aside", &step.staged, error))?;
        // The journal that names the staged file is removed next: until then a crash repeats all of this.
        self.sync_dir_of(&kept)
    }
}

/// What the name of a staged log that was set aside ends with.
pub(super) const IMPORT: &str = ".import";

fn located(step: &Step) -> Location {
    Location { id: step.id.clone(), residence: step.residence, path: Some(step.target.clone()) }
}
