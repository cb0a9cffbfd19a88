//! The file of the tokens may change while the server runs: a token that is taken out of it is none any more.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use ramus_server::{Access, Line};

use super::token::Keys;
use super::write_log;

/// How often the file is looked at.
const PAUSE: Duration = Duration::from_secs(1);

/// What tells one state of the file from another.
type Stamp = (u64, u64, i64, i64, u64);

/// Lets in whom the file names, whenever it changes. One that cannot be used changes nothing, and that is said once.
pub(super) async fn follow(keys: Keys, access: Access) {
    let Some(path) = keys.file() else { return };
    let mut known = stamp(path);
    loop {
        tokio::time::sleep(PAUSE).await;
        let found = stamp(path);
        if found == known {
            continue;
        }
        known = found;
        match keys.again() {
            Ok(keys) => access.replace(&keys.access()),
            Err(error) => {
                write_log(&Line::Notice(format!("the tokens that were read before still count: {error:#}")));
            }
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino(), found.ctime(), found.ctime_nsec(), found.len()))
}
