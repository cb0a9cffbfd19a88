//! Which repository a directory is in, and which sessions of other directories moved here with it.
//!
//! Repositories are somebody else's: anything may be in them. They are only read, never run and never written; every read
//! is bounded, links are not followed, nothing they include is looked at, and of what they say only the address of
//! `origin`, freed of secrets, is kept.

mod config;
mod moved;
mod remote;
mod repository;

use std::path::{Component, Path};

use ramus_model::Project;

pub(crate) use moved::{Place, Standing};
pub(crate) use repository::{GitStanding, Presence};

/// How many directories are looked at on the way up.
const HIGHEST: usize = 128;

/// Finds the repository around a directory, as git would: the nearest one on the way up, on the same file system.
pub fn find(directory: &str) -> Option<Project> {
    let directory = Path::new(directory);
    if !directory.is_absolute() || directory.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let device = repository::directory_device(directory)?;
    for root in directory.ancestors().take(HIGHEST) {
        if repository::directory_device(root) != Some(device) {
            return None;
        }
        match repository::at(root) {
            Presence::Here(project) => return Some(project),
            Presence::Absent => {}
            // What is nearest counts, even when nothing can be made of it.
            Presence::Unclear => return None,
        }
    }
    None
}

/// Says which commit the repository around a directory is at, and whether files differ from it, as its files say it.
pub(crate) fn state(directory: &str) -> GitStanding {
    let directory = Path::new(directory);
    if !directory.is_absolute() || directory.components().any(|part| part == Component::ParentDir) {
        return GitStanding::default();
    }
    let Some(device) = repository::directory_device(directory) else { return GitStanding::default() };
    let on_device = |root: &&Path| repository::directory_device(root) == Some(device);
    let mut around = directory.ancestors().take(HIGHEST).take_while(on_device);
    around.find_map(repository::state_at).unwrap_or_default()
}

/// Says what a directory itself holds.
pub(crate) fn at(root: &str) -> Presence {
    let root = Path::new(root);
    // It is what some session file says: a part of a path would be looked for wherever we are.
    if root.is_absolute() { repository::at(root) } else { Presence::Unclear }
}

/// Decides which project a session records that goes on from another one in the same directory: what is there now, unless
/// that is another repository.
pub(crate) fn inherited(cwd: &str, recorded: Option<&Project>) -> Option<Project> {
    match (find(cwd), recorded) {
        (Some(found), Some(recorded)) if !moved::is_same_repository(&found, recorded) => Some(recorded.clone()),
        (Some(found), _) => Some(found),
        (None, recorded) => recorded.cloned(),
    }
}
