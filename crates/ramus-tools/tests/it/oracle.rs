//! The oracle: what bash really runs. Commands run in an empty directory, without an environment and without a network where
//! that can be had, and find only stubs that record how they were called.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs that only record.
pub(crate) const CANARIES: &[&str] = &["alpha", "bravo", "charlie"];

/// Other programs that only record.
const STUBS: &[&str] =
    &["ls", "git", "rm", "curl", "make", "tar", "rg", "sort", "tee", "watch", "ssh", "python3", "perl"];

/// Programs that record and then do what they do.
const REAL: &[&str] =
    &["env", "xargs", "find", "timeout", "nohup", "nice", "setsid", "stdbuf", "sh", "bash", "cat", "sleep"];

/// A place to run commands in.
pub(crate) struct Oracle {
    directory: tempfile::TempDir,
    isolated: bool,
}

impl Oracle {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let bin = directory.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let log = directory.path().join("log");
        let record = format!("#!/bin/bash\nprintf '%s\\0' \"${{0##*/}}\" \"$@\" $'\\x1e' >> {}\n", log.display());
        for name in CANARIES.iter().chain(STUBS) {
            write_program(&bin.join(name), &record);
        }
        for name in REAL {
            let Some(real) = ["/usr/bin", "/bin"].iter().map(|at| Path::new(at).join(name)).find(|path| path.exists())
            else {
                continue;
            };
            write_program(&bin.join(name), &format!("{record}exec {} \"$@\"\n", real.display()));
        }
        write_program(&bin.join("sudo"), &format!("{record}while [[ $1 == -* ]]; do shift; done\nexec \"$@\"\n"));
        let isolated = Command::new("unshare")
            .args(["-n", "true"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        Self { directory, isolated }
    }

    fn bin(&self) -> PathBuf {
        self.directory.path().join("bin")
    }

    /// Runs a command and returns how each program was called.
    pub(crate) fn run(&self, command: &str) -> Vec<Vec<String>> {
        let log = self.directory.path().join("log");
        fs::write(&log, "").unwrap();
        let place = tempfile::tempdir_in(self.directory.path()).unwrap();
        for name in CANARIES {
            fs::copy(self.bin().join(name), place.path().join(name)).unwrap();
        }
        fs::write(place.path().join("name"), "alpha").unwrap();
        let limited = ["/usr/bin/timeout", "-s", "KILL", "2", "/bin/bash", "-c", command];
        let isolated = ["/usr/bin/unshare", "-n", "--"];
        let words: Vec<&str> = isolated.into_iter().filter(|_| self.isolated).chain(limited).collect();
        let mut bash = Command::new(words[0]);
        bash.args(&words[1..]).env_clear().env("PATH", self.bin()).current_dir(place.path()).stdin(Stdio::null());
        // Reading until the end of the output waits for what runs in the background too.
        let _ = bash.output();
        let bytes = fs::read(&log).unwrap();
        let fields = bytes.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
        let mut calls = vec![Vec::new()];
        for field in fields {
            match field == "\u{1e}" {
                true => calls.push(Vec::new()),
                false => calls.last_mut().unwrap().push(field),
            }
        }
        calls.pop();
        calls
    }
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
