//! Artefacts: what a session makes for people to look at. Each has a directory with the session's name in its path, a manifest
//! of its own, and a line in the index of its kind.
//!
//! Everything goes through the workspace, so nothing is written outside it or through a link.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::read::contents;
use crate::workspace::{Intent, Place, PlaceError, Workspace};

/// How many artefacts an index lists; the newest ones.
const LISTED: usize = 1000;

/// Where the artefacts of one session and kind are.
#[derive(Clone, Debug)]
pub struct Gallery {
    /// The workspace they are in.
    pub workspace: Arc<Workspace>,
    /// The session that makes them.
    pub session: String,
}

impl Gallery {
    /// Finds a directory that nothing is in yet: `KIND/SESSION/NAME`, with a number when that is taken.
    pub(super) fn vacant(&self, kind: &str, name: &str) -> Result<String, PlaceError> {
        let base = format!("{kind}/{}/{}", slug(&self.session), slug(name));
        for number in 1..=LISTED {
            let path = if number == 1 { base.clone() } else { format!("{base}-{number}") };
            let place = self.workspace.resolve(&path, Intent::Write)?;
            match self.workspace.open_directory(&place) {
                Err(PlaceError::Missing(_)) => return Ok(path),
                Err(PlaceError::Kind(..) | PlaceError::Moved(_)) | Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
        Err(PlaceError::System(base, "there are too many of that name".to_owned()))
    }

    /// Writes a file that is not there yet.
    pub(super) fn write(&self, path: &str, content: &[u8]) -> Result<Place, PlaceError> {
        let place = self.workspace.resolve(path, Intent::Write)?;
        self.workspace.replace(&place, content, None)?;
        Ok(place)
    }

    /// Puts an artefact at the front of the index of its kind. An index that is not ours is not touched.
    pub(super) fn register(&self, kind: &str, artifact: &Map<String, Value>) -> Result<(), PlaceError> {
        let path = format!("{kind}/manifest.json");
        let place = self.workspace.resolve(&path, Intent::Write)?;
        let (before, identity) = match contents(&self.workspace, &place) {
            Ok((bytes, identity)) => (serde_json::from_slice::<Value>(&bytes).ok(), identity),
            Err(PlaceError::Missing(_)) => (Some(json!({"artifacts": []})), None),
            Err(error) => return Err(error),
        };
        let listed = before.as_ref().and_then(|index| index.get("artifacts")).and_then(Value::as_array);
        let listed = listed.ok_or_else(|| PlaceError::Kind(path.clone(), "a list of artefacts"))?;
        let all: Vec<Value> =
            std::iter::once(Value::Object(artifact.clone())).chain(listed.iter().cloned()).take(LISTED).collect();
        let mut text = format!("{:#}", json!({"artifacts": all}));
        text.push('\n');
        self.workspace.replace(&place, text.as_bytes(), identity)
    }
}

/// Makes a name for a file: lower-case letters, digits and dashes, and never nothing.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 60 {
            break;
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "untitled".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn names_of_files_are_tame() {
        assert_eq!(slug("My Site: v2!"), "my-site-v2");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("…"), "untitled");
        assert_eq!(slug(&"x".repeat(500)).len(), 60);
    }
}
