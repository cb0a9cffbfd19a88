//! Disks of our own: an ext4 image behind a loop device whose power can be cut, and a small tmpfs. Only root may mount;
//! whatever is mounted is unmounted again, however the driver ends.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use super::pause;

/// `EXT4_IOC_SHUTDOWN` without flushing the journal: the file system stops as if the power had failed. Rust has
/// no safe call for it.
const CUT: &str = r#"
open(my $disk, "<", $ARGV[0]) or die "open: $!"; $| = 1; my $flag = pack("L", 2); print "ready\n"; <STDIN>;
ioctl($disk, 0x8004587d, $flag) or die "ioctl: $!"; print "cut\n";
"#;

/// How large the image of a disk is.
const IMAGE_SIZE: u64 = 96 << 20;

/// Says why disks cannot be mounted here, if so.
pub fn unavailable() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("only root may mount file systems".to_owned());
    }
    for program in ["mount", "umount", "mkfs.ext4", "perl"] {
        if Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            return Some(format!("{program} is not installed"));
        }
    }
    let probe = Disk::new().and_then(|mut disk| disk.mount()).and_then(|()| Tmpfs::mount("64k").map(drop));
    probe.err().map(|error| format!("file systems cannot be mounted here: {error:#}"))
}

/// An ext4 file system in a file.
pub struct Disk {
    folder: TempDir,
    mounted: bool,
}

impl Disk {
    /// Makes one; it is not mounted yet.
    pub fn new() -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let disk = Self { folder, mounted: false };
        File::create(disk.image())?.set_len(IMAGE_SIZE)?;
        std::fs::create_dir(disk.root())?;
        call(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(disk.image()))?;
        Ok(disk)
    }

    /// Returns the directory it is mounted on.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    /// Mounts it, replaying the journal as after a power cut.
    pub fn mount(&mut self) -> Result<()> {
        call(Command::new("mount").args(["-o", "loop"]).arg(self.image()).arg(self.root()))?;
        self.mounted = true;
        Ok(())
    }

    /// Unmounts it.
    pub fn unmount(&mut self) -> Result<()> {
        unmount(&self.root())?;
        self.mounted = false;
        Ok(())
    }

    /// Mounts it again with other options while it is in use.
    pub fn remount(&self, options: &str) -> Result<()> {
        call(Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(self.root()))
    }

    /// Prepares a power cut.
    pub fn switch(&self) -> Result<Switch> {
        let mut command = Command::new("perl");
        command.args(["-e", CUT]).arg(self.root()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start perl")?;
        let stdin = child.stdin.take().context("no stdin")?;
        let mut said = BufReader::new(child.stdout.take().context("no stdout")?);
        let mut line = String::new();
        said.read_line(&mut line)?;
        ensure!(line == "ready\n", "the switch says {line:?}");
        Ok(Switch { child, stdin, said })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted {
            // Nobody is left to be told.
            let _ = unmount(&self.root());
        }
    }
}

/// A power switch, ready to be thrown without delay.
pub struct Switch {
    child: Child,
    stdin: ChildStdin,
    said: BufReader<std::process::ChildStdout>,
}

impl Switch {
    /// Cuts the power.
    pub fn cut(mut self) -> Result<()> {
        self.stdin.write_all(b"\n")?;
        let mut line = String::new();
        self.said.read_line(&mut line)?;
        ensure!(line == "cut\n", "the switch says {line:?}");
        Ok(())
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A small file system in memory.
pub struct Tmpfs {
    folder: TempDir,
}

impl Tmpfs {
    /// Mounts one of this size.
    pub fn mount(size: &str) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let options = format!("size={size}");
        call(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path()))?;
        Ok(Self { folder })
    }

    /// Returns the directory it is mounted on.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = unmount(self.folder.path());
    }
}

/// A process that was killed lets go of its files a moment later.
fn unmount(root: &Path) -> Result<()> {
    let mut last = Ok(());
    for _ in 0..50 {
        last = call(Command::new("umount").arg(root));
        if last.is_ok() {
            return Ok(());
        }
        pause(Duration::from_millis(20));
    }
    call(Command::new("umount").arg("--lazy").arg(root)).and(last)
}

fn call(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot start {name}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} failed ({}): {}", output.status, complaint.trim());
    Ok(())
}
