//! Files that the command line itself writes: either the old one or the whole new one, never half of either.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Only the user.
    Private,
    /// Whoever the user lets read new files.
    Shared,
}

/// Writes a file. A link stays a link, and what it points to is replaced; pipes and devices are written to.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let old = std::fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return std::fs::write(&path, bytes);
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = match access {
        Access::Private => 0o600,
        Access::Shared => 0o666,
    };
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(directory)?;
    file.write_all(bytes)?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}
