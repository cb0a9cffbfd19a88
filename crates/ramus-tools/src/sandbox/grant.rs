//! Grants: a policy as what the kernel understands. It knows only what is allowed, so a place around a hidden one is allowed
//! entry by entry, with the hidden one left out.

use std::fs;
use std::path::{Path, PathBuf};

use landlock::{ABI, Access, AccessFs, BitFlags};

use super::Policy;

/// Devices that programs expect to write to.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];

/// Returns what may be done beneath which paths.
pub(super) fn grants(policy: &Policy) -> Vec<(PathBuf, BitFlags<AccessFs>)> {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let hidden: Vec<PathBuf> = policy.hidden.iter().map(real).collect();
    let mut grants = vec![(PathBuf::from("/"), AccessFs::ReadDir.into())];
    around(Path::new("/"), &hidden, AccessFs::from_read(ABI::V4), &mut grants);
    for writable in policy.writable.iter().map(real) {
        around(&writable, &hidden, AccessFs::from_all(ABI::V4), &mut grants);
    }
    for device in DEVICES {
        grants.push((device.into(), AccessFs::from_all(ABI::V4)));
    }
    grants
        .into_iter()
        .map(|(path, access)| if path.is_dir() { (path, access) } else { (path, access & of_file()) })
        .collect()
}

fn of_file() -> BitFlags<AccessFs> {
    AccessFs::from_file(ABI::V4)
}

/// Allows a place without what is hidden in it.
fn around(
    place: &Path,
    hidden: &[PathBuf],
    access: BitFlags<AccessFs>,
    grants: &mut Vec<(PathBuf, BitFlags<AccessFs>)>,
) {
    let mut open = vec![place.to_owned()];
    while let Some(next) = open.pop() {
        if hidden.iter().any(|hidden| next.starts_with(hidden)) {
            continue;
        }
        if !hidden.iter().any(|hidden| hidden.starts_with(&next)) {
            grants.push((next, access));
            continue;
        }
        let entries = fs::read_dir(&next).into_iter().flatten().flatten();
        open.extend(
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink())).map(|entry| entry.path()),
        );
    }
}
