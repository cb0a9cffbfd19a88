//! Names of directories and files, as the programs that share this format make them.

use std::path::{Path, PathBuf};

use ramus_model::SessionId;
use sha2::{Digest as _, Sha256};

/// How many bytes the name of a directory may have; file systems stop at 255.
const LONGEST: usize = 255;

/// How the directory of a working directory's sessions is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// As pi does it: `--home-ada-project--` for every directory.
    #[default]
    Pi,
    /// As omp does it: relative to the home directory (`-project`) or the temporary one (`-tmp-project`), else as pi.
    Omp {
        /// The home directory.
        home: PathBuf,
        /// The directory for temporary files.
        temporary: PathBuf,
    },
}

impl Layout {
    /// Returns the directory name for a working directory. What would be too long for a name is cut, and told apart by
    /// a hash of the whole.
    pub fn directory_name(&self, cwd: &str) -> String {
        let (mut name, end) = self.whole_name(cwd);
        if name.len() + end.len() > LONGEST {
            let hash = hex::encode(Sha256::digest(cwd.as_bytes()));
            let hash = hash.get(..16).unwrap_or(&hash);
            name.truncate(name.floor_char_boundary(LONGEST - hash.len() - 1 - end.len()));
            name.push('-');
            name.push_str(hash);
        }
        name + end
    }

    /// The name without what it ends with, and that.
    fn whole_name(&self, cwd: &str) -> (String, &'static str) {
        if let Self::Omp { home, temporary } = self {
            if let Some(relative) = relative(cwd, home) {
                return (format!("-{relative}"), "");
            }
            if let Some(relative) = relative(cwd, temporary) {
                return (if relative.is_empty() { "-tmp".to_owned() } else { format!("-tmp-{relative}") }, "");
            }
        }
        let inner = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
        (format!("--{}", dashed(inner)), "--")
    }
}

fn relative(cwd: &str, root: &Path) -> Option<String> {
    let relative = Path::new(cwd).strip_prefix(root).ok()?;
    Some(dashed(&relative.to_string_lossy()))
}

/// Replaces what cannot be in a name.
fn dashed(path: &str) -> String {
    path.replace(['/', '\\', ':', '\0'], "-")
}

/// Returns the file name of a session.
pub(super) fn file_name(timestamp: &str, id: &SessionId) -> String {
    format!("{}_{id}.jsonl", timestamp.replace([':', '.'], "-"))
}

/// Reads the session id out of a file name.
pub(super) fn id_in_file_name(name: &str) -> Option<SessionId> {
    id_of_file_name(name).map(SessionId::from)
}

/// The part of a file name that is the session id.
pub(super) fn id_of_file_name(name: &str) -> Option<&str> {
    let stem = name.strip_suffix(".jsonl")?;
    let id = stem.split_once('_').map_or(stem, |(_, id)| id);
    (!id.is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_directories_as_pi_does() {
        assert_eq!(Layout::Pi.directory_name("/srv/pi"), "--srv-pi--");
        assert_eq!(Layout::Pi.directory_name("C:\\code\\pi"), "--C--code-pi--");
        assert_eq!(Layout::Pi.directory_name("/"), "----");
    }

    #[test]
    fn names_directories_as_omp_does() {
        let layout = Layout::Omp { home: "/home/ada".into(), temporary: "/tmp".into() };
        for (cwd, name) in [
            ("/home/ada", "-"),
            ("/home/ada/code/ramus", "-code-ramus"),
            ("/tmp", "-tmp"),
            ("/tmp/x/y", "-tmp-x-y"),
            ("/home/adam/code", "--home-adam-code--"),
        ] {
            assert_eq!(layout.directory_name(cwd), name, "{cwd}");
        }
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let omp = Layout::Omp { home: "/home/ada".into(), temporary: "/tmp".into() };
        for (layout, root, end) in [
            (Layout::Pi, "/home/ada", "--"),
            (omp.clone(), "/home/ada", ""),
            (omp.clone(), "/tmp", ""),
            (omp, "/srv", "--"),
        ] {
            for letters in ["x", "ä", "日", "🦀"] {
                let cwd = format!("{root}/{}", letters.repeat(1000));
                let name = layout.directory_name(&cwd);
                assert!((252..=255).contains(&name.len()), "{name}");
                let hash = hex::encode(Sha256::digest(&cwd));
                assert!(name.ends_with(&format!("-{}{end}", &hash[..16])), "{name}");
                assert_ne!(layout.directory_name(&format!("{cwd}/x")), name);
            }
        }
        let longest = format!("/{}", "x".repeat(196));
        assert_eq!(Layout::Pi.directory_name(&longest), format!("--{}--", "x".repeat(196)));
    }

    #[test]
    fn file_names_carry_the_id() {
        let id = SessionId::from("0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000");
        let name = file_name("2026-02-16T10:20:30.000Z", &id);
        assert_eq!(name, "2026-02-16T10-20-30-000Z_0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000.jsonl");
        assert_eq!(id_in_file_name(&name), Some(id));
        assert_eq!(id_in_file_name("notes.txt"), None);
    }
}
