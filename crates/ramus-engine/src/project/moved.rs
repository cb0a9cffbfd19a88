//! Which sessions of other directories count as sessions of this one, because their repository proves that it is here now.
//!
//! A recorded session is proven to have moved when the repository here is the recorded one, the recorded root holds it no
//! longer, and it was at the same place below its root. The same git directory is a proof by itself. The same remote is
//! one only for a clone that came after the one that is gone, or else deleting a clone made for a trial would bring its
//! sessions to all others. Worktrees that were added to a repository have only the former: one that was removed has not
//! moved to its repository, nor to the next one.

use std::collections::HashMap;
use std::path::Path;

use ramus_model::Project;

use super::repository::{Presence, WORKTREE};

/// Where a session stands to a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It belongs to it.
    Here,
    /// It was started elsewhere, and what was there is proven to be here now.
    Moved,
    /// It belongs to another.
    Elsewhere,
}

/// A directory, and what must be known to tell which sessions are its own. Each place is looked at once.
pub(crate) struct Place<'a> {
    directory: String,
    project: Option<Project>,
    look: Box<dyn Fn(&str) -> Presence + 'a>,
    seen: HashMap<String, Presence>,
}

impl Place<'static> {
    /// Looks at a directory of this machine.
    pub(crate) fn of(directory: &str) -> Self {
        Self::new(directory, super::find(directory), super::at)
    }
}

impl<'a> Place<'a> {
    pub(crate) fn new(directory: &str, project: Option<Project>, look: impl Fn(&str) -> Presence + 'a) -> Self {
        Self { directory: directory.to_owned(), project, look: Box::new(look), seen: HashMap::new() }
    }

    /// Returns the repository that is here.
    pub(crate) fn project(&self) -> Option<&Project> {
        self.project.as_ref()
    }

    /// Says where a session stands that is recorded with this directory and project.
    pub(crate) fn standing(&mut self, cwd: &str, recorded: Option<&Project>) -> Standing {
        if cwd == self.directory {
            return Standing::Here;
        }
        match recorded {
            Some(recorded) if self.is_here(cwd, recorded) && !self.is_still_there(recorded) => Standing::Moved,
            _ => Standing::Elsewhere,
        }
    }

    /// Says whether the recorded repository is here, and the recorded directory at the same place in it.
    fn is_here(&self, cwd: &str, recorded: &Project) -> bool {
        let Some(project) = &self.project else { return false };
        let below = |directory, root| Path::new(directory).strip_prefix(Path::new(root)).ok();
        let place = below(cwd, &recorded.root);
        project.root != recorded.root
            && place.is_some()
            && place == below(&self.directory, &project.root)
            && is_continued_by(recorded, project)
    }

    /// Says whether the recorded root may still hold the repository. What cannot be seen proves nothing.
    fn is_still_there(&mut self, recorded: &Project) -> bool {
        let look = &self.look;
        match self.seen.entry(recorded.root.clone()).or_insert_with(|| look(&recorded.root)) {
            Presence::Here(found) => is_same_repository(found, recorded),
            Presence::Absent => false,
            Presence::Unclear => true,
        }
    }
}

/// Says whether two projects are the same repository, perhaps cloned twice.
pub(super) fn is_same_repository(one: &Project, other: &Project) -> bool {
    has_same_git(one, other) || (one.remote.is_some() && one.remote == other.remote)
}

fn has_same_git(one: &Project, other: &Project) -> bool {
    // Of a worktree it may be known that it is one, and nothing more.
    one.git.as_deref().is_some_and(|git| git != WORKTREE) && one.git == other.git
}

/// Says whether `now` is the working copy that was recorded, or the clone that took its place.
fn is_continued_by(recorded: &Project, now: &Project) -> bool {
    if has_same_git(recorded, now) {
        return true;
    }
    let is_worktree = |project: &Project| project.git.as_deref().is_some_and(|git| git.starts_with(WORKTREE));
    let is_clone = recorded.remote.is_some() && recorded.remote == now.remote;
    let is_older = matches!((born(now), born(recorded)), (Some(now), Some(recorded)) if now < recorded);
    is_clone && !is_older && !is_worktree(recorded) && !is_worktree(now)
}

/// When the git directory was made: seconds and nanoseconds.
fn born(project: &Project) -> Option<(u64, u32)> {
    let (_, born) = project.git.as_deref()?.rsplit_once(':')?;
    let (seconds, nanos) = born.split_once('.')?;
    Some((seconds.parse().ok()?, nanos.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn project(root: &str, remote: &str, git: &str) -> Project {
        let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Project { root: root.into(), remote: known(remote), git: known(git) }
    }

    /// Where a session recorded in `cwd` stands to `here`, when these directories hold these repositories.
    fn standing(here: &str, cwd: &str, recorded: &Project, disk: &[Project]) -> Standing {
        let around = |path: &str| disk.iter().find(|project| Path::new(path).starts_with(&project.root)).cloned();
        let at = |root: &str| match disk.iter().find(|project| project.root == root) {
            Some(project) => Presence::Here(project.clone()),
            None => Presence::Absent,
        };
        Place::new(here, around(here), at).standing(cwd, Some(recorded))
    }

    const GIT: &str = "1:10:1000.000000000";
    const LATER: &str = "1:20:2000.000000000";

    #[test]
    fn a_renamed_repository_takes_its_sessions_along() {
        let was = project("/old", "", GIT);
        let disk = [project("/new", "", GIT)];
        assert_eq!(standing("/new", "/old", &was, &disk), Standing::Moved, "without a remote too");
        assert_eq!(standing("/new/src", "/old/src", &was, &disk), Standing::Moved);
        assert_eq!(standing("/new", "/old/src", &was, &disk), Standing::Elsewhere, "another place in it");
        assert_eq!(standing("/new/src", "/old", &was, &disk), Standing::Elsewhere);
        assert_eq!(standing("/old", "/old", &was, &disk), Standing::Here, "who goes there still finds them");
        assert_eq!(standing("/other", "/old", &was, &disk), Standing::Elsewhere);
        let changed = [project("/new", "host/a", GIT)];
        assert_eq!(standing("/new", "/old", &was, &changed), Standing::Moved, "it got a remote since");
    }

    #[test]
    fn what_is_still_there_has_not_moved() {
        let was = project("/old", "host/a", GIT);
        let both = [project("/old", "host/a", GIT), project("/new", "host/a", LATER)];
        assert_eq!(standing("/new", "/old", &was, &both), Standing::Elsewhere, "two clones");
        let again = [project("/old", "host/a", "1:30:3000.0"), project("/new", "host/a", GIT)];
        assert_eq!(standing("/new", "/old", &was, &again), Standing::Elsewhere, "renamed, and cloned to the old place");
        let other = [project("/old", "host/b", "1:30:3000.0"), project("/new", "host/a", GIT)];
        assert_eq!(standing("/new", "/old", &was, &other), Standing::Moved, "another repository took its place");
        let unclear = |_: &str| Presence::Unclear;
        let mut place = Place::new("/new", Some(project("/new", "host/a", GIT)), unclear);
        assert_eq!(place.standing("/old", Some(&was)), Standing::Elsewhere, "what cannot be seen proves nothing");
        assert_eq!(place.standing("/old", None), Standing::Elsewhere);
    }

    #[test]
    fn a_clone_takes_the_place_of_one_that_is_gone() {
        let was = project("/old", "host/a", GIT);
        assert_eq!(standing("/new", "/old", &was, &[project("/new", "host/a", LATER)]), Standing::Moved);
        assert_eq!(standing("/new", "/old", &was, &[project("/new", "host/a", "")]), Standing::Moved);
        assert_eq!(standing("/new", "/old", &was, &[project("/new", "host/b", LATER)]), Standing::Elsewhere);
        let trial = project("/trial", "host/a", LATER);
        let disk = [project("/main", "host/a", GIT)];
        assert_eq!(standing("/main", "/trial", &trial, &disk), Standing::Elsewhere, "it was there before the other");
    }

    #[test]
    fn a_worktree_moves_only_as_itself() {
        let tree = "worktree:1:40:4000.0";
        let was = project("/tree", "host/a", tree);
        let repository = project("/main", "host/a", GIT);
        let moved = [repository.clone(), project("/elsewhere", "host/a", tree)];
        assert_eq!(standing("/elsewhere", "/tree", &was, &moved), Standing::Moved);
        assert_eq!(standing("/main", "/tree", &was, std::slice::from_ref(&repository)), Standing::Elsewhere, "removed");
        let next = [repository, project("/next", "host/a", "worktree:1:50:5000.0")];
        assert_eq!(standing("/next", "/tree", &was, &next), Standing::Elsewhere, "another one was added since");
        let unknown = project("/tree", "host/a", WORKTREE);
        let next = [project("/next", "host/a", WORKTREE)];
        assert_eq!(standing("/next", "/tree", &unknown, &next), Standing::Elsewhere, "nothing is known of either");
    }

    fn any_project() -> impl Strategy<Value = Project> {
        let root = prop::sample::select(vec!["/a", "/a/b", "/c", "/", "", "relative", "/a/../c"]);
        let remote = prop::sample::select(vec!["", "host/x", "host/y"]);
        let git = prop::sample::select(vec!["", GIT, LATER, WORKTREE, "worktree:1:2:3.4", "nonsense", ":", "1:2:x.y"]);
        (root, remote, git).prop_map(|(root, remote, git)| project(root, remote, git))
    }

    proptest! {
        #[test]
        fn nothing_moves_from_where_it_still_is(
            was in any_project(),
            now in any_project(),
            below in "(/[a-b]){0,2}",
        ) {
            let cwd = format!("{}{below}", was.root);
            let here = format!("{}{below}", now.root);
            let look = |_: &str| Presence::Here(was.clone());
            let is_identified = was.remote.is_some() || was.git.as_deref().is_some_and(|git| git != WORKTREE);
            let standing = Place::new(&here, Some(now.clone()), look).standing(&cwd, Some(&was));
            prop_assert!(!is_identified || standing != Standing::Moved);
            // And what moved was known by something, to the place it is at.
            let gone = |_: &str| Presence::Absent;
            if Place::new(&here, Some(now.clone()), gone).standing(&cwd, Some(&was)) == Standing::Moved {
                prop_assert!(is_identified && is_same_repository(&was, &now) && was.root != now.root);
            }
        }
    }
}
