//! Names of directories and files, as the programs that share this format make them.

use std::path::{Path, PathBuf};

use ramus_model::SessionId;

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
    /// Returns the directory name for a working directory.
    pub fn directory_name(&self, cwd: &str) -> String {
        if let Self::Omp { home, temporary } = self {
            if let Some(relative) = relative(cwd, home) {
                return format!("-{relative}");
            }
            if let Some(relative) = relative(cwd, temporary) {
                return if relative.is_empty() { "-tmp".to_owned() } else { format!("-tmp-{relative}") };
            }
        }
        let inner = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
        format!("--{}--", dashed(inner))
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
    let stem = name.strip_suffix(".jsonl")?;
    let id = stem.split_once('_').map_or(stem, |(_, id)| id);
    (!id.is_empty()).then(|| SessionId::from(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_directories_as_pi_does() {
        assert_eq!(Layout::Pi.directory_name("/work/pi"), "--work-pi--");
        assert_eq!(Layout::Pi.directory_name("C:\\work\\pi"), "--C--work-pi--");
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
    fn file_names_carry_the_id() {
        let id = SessionId::from("0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000");
        let name = file_name("2026-02-16T10:20:30.000Z", &id);
        assert_eq!(name, "2026-02-16T10-20-30-000Z_0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000.jsonl");
        assert_eq!(id_in_file_name(&name), Some(id));
        assert_eq!(id_in_file_name("notes.txt"), None);
    }
}
