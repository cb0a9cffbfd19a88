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

/// Writes a file that is made on the way, and returns what `write` did and how long it is. The file is there when it is
/// complete; pipes and devices are written to as it comes.
pub(crate) fn write_stream<T>(
    path: &Path,
    access: Access,
    write: impl FnOnce(&mut dyn io::Write) -> anyhow::Result<T>,
) -> anyhow::Result<(T, u64)> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if std::fs::metadata(&path).is_ok_and(|old| !old.is_file()) {
        let mut out = io::BufWriter::new(std::fs::OpenOptions::new().write(true).open(&path)?);
        let done = write(&mut out)?;
        out.flush()?;
        return Ok((done, 0));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mode = match access {
        Access::Private => 0o600,
        Access::Shared => 0o666,
    };
    let file = tempfile::Builder::new().permissions(Permissions::from_mode(mode)).tempfile_in(directory)?;
    let mut out = io::BufWriter::with_capacity(1 << 18, file);
    let done = write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if access == Access::Shared
        && let Ok(old) = std::fs::metadata(&path)
    {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    let len = file.as_file().metadata()?.len();
    file.persist(&path)?;
    Ok((done, len))
}
