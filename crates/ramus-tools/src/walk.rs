//! Walking through a workspace as ignore files allow. Links are not followed, and `.git` is left out.

use ignore::WalkBuilder;

use crate::workspace::{Place, Workspace};

/// Returns the regular files beneath a place.
pub(crate) fn walk<'a>(workspace: &'a Workspace, place: &Place) -> impl Iterator<Item = Place> + 'a {
    let mut builder = WalkBuilder::new(workspace.path().join(place.path()));
    builder.hidden(false).require_git(false).follow_links(false).parents(false);
    builder.filter_entry(|entry| entry.file_name() != ".git");
    let files = builder.build().flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.filter_map(|entry| workspace.place_of(entry.path())).filter(|place| workspace.may_read(place))
}
