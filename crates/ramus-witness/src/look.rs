//! Looking at a system call that waits: which paths it is about, as its process sees them, and what they are for us.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use crate::calls::{Base, Deed, WRITES, deed};
use crate::kernel::{self, Asked};

/// The longest path that the kernel takes.
const LONGEST: usize = 4096;

/// What a system call can change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// What is at a path.
    Path(PathBuf),
    /// A directory with everything in it.
    Tree(PathBuf),
    /// A file with several names: its device and its number.
    File(u64, u64),
}

/// It cannot be told what a system call is about.
#[derive(Debug)]
pub(crate) struct Unclear;

impl From<io::Error> for Unclear {
    fn from(_: io::Error) -> Self {
        Self
    }
}

/// A process that waits.
struct Waiting {
    asked: Asked,
}

/// Says what a system call can change.
pub(crate) fn look(asked: Asked) -> Result<Vec<Touch>, Unclear> {
    let waiting = Waiting { asked };
    match deed(asked.arch, asked.number).ok_or(Unclear)? {
        Deed::Opens(base, path, flags) => {
            let flags = flags.map(|at| waiting.argument(at)).transpose()?;
            waiting.opened(base, path, flags)
        }
        Deed::OpensHow(base, path, how) => {
            let flags = waiting.number(waiting.argument(how)?)?;
            let resolve = waiting.number(waiting.argument(how)? + 16)?;
            match flags & u64::from(WRITES) {
                0 => Ok(Vec::new()),
                // Whose root it is depends on the descriptor.
                _ if resolve & libc::RESOLVE_IN_ROOT != 0 => Err(Unclear),
                _ => waiting.opened(base, path, Some(flags)),
            }
        }
        Deed::Names(base, path) => Ok(vec![Touch::Path(waiting.named(base, path)?)]),
        Deed::Moves(old, new) => {
            let ends = [waiting.named(old.0, old.1)?, waiting.named(new.0, new.1)?];
            let is_directory = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
            let kind = if ends.iter().any(is_directory) { Touch::Tree } else { Touch::Path };
            Ok(ends.map(kind).into())
        }
        Deed::Descriptor(at) => {
            let link = waiting.descriptor(waiting.argument(at)?);
            let found = fs::metadata(&link)?;
            Ok(changed(fs::read_link(link)?, &found))
        }
        Deed::Connects(at) => waiting.connected(at),
        Deed::Hides => Err(Unclear),
    }
}

impl Waiting {
    fn argument(&self, at: usize) -> Result<u64, Unclear> {
        self.asked.arguments.get(at).copied().ok_or(Unclear)
    }

    /// What a descriptor of the process is called for us.
    fn descriptor(&self, number: u64) -> PathBuf {
        // Only its lower half counts.
        PathBuf::from(format!("/proc/{}/fd/{}", self.asked.thread, number as u32))
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
        kernel::read(self.asked.thread, address, buffer)
    }

    fn number(&self, address: u64) -> Result<u64, Unclear> {
        let mut bytes = [0; 8];
        let mut have = 0;
        while have < bytes.len() {
            let rest = bytes.get_mut(have..).unwrap_or_default();
            match self.read(address + have as u64, rest)? {
                0 => return Err(Unclear),
                count => have += count,
            }
        }
        Ok(u64::from_ne_bytes(bytes))
    }

    /// Reads a path; none when there is none, which the kernel will refuse too.
    fn text(&self, address: u64) -> Result<Option<PathBuf>, Unclear> {
        let mut text = Vec::new();
        let mut buffer = [0; LONGEST];
        while text.len() < LONGEST {
            let count = match self.read(address + text.len() as u64, &mut buffer) {
                // What is not there the kernel cannot read either.
                Err(error) if error.raw_os_error() == Some(libc::EFAULT) => return Ok(None),
                result => result?,
            };
            let piece = buffer.get(..count).unwrap_or_default();
            if let Some(end) = piece.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(piece.get(..end).unwrap_or_default());
                return Ok(Some(self.ours(OsString::from_vec(text).into())));
            }
            if count == 0 {
                return Err(Unclear);
            }
            text.extend_from_slice(piece);
        }
        Ok(None)
    }

    /// Some paths mean another thing to every process.
    fn ours(&self, path: PathBuf) -> PathBuf {
        let own = Path::new("/proc").join(self.asked.thread.to_string());
        let spelled = [("/proc/self", ""), ("/proc/thread-self", ""), ("/dev/fd", "fd")];
        for (theirs, here) in spelled {
            if let Ok(rest) = path.strip_prefix(theirs) {
                return own.join(here).join(rest);
            }
        }
        let streams = [("/dev/stdin", "fd/0"), ("/dev/stdout", "fd/1"), ("/dev/stderr", "fd/2")];
        let stream = streams.iter().find(|(theirs, _)| path == Path::new(theirs));
        stream.map_or(path, |(_, here)| own.join(here))
    }

    /// Where a path leads from here.
    fn whole(&self, base: Base, path: &Path) -> Result<PathBuf, Unclear> {
        if path.is_absolute() {
            return Ok(path.to_owned());
        }
        let from = match base {
            Base::Argument(at) if self.argument(at)? as i32 != libc::AT_FDCWD => self.descriptor(self.argument(at)?),
            _ => PathBuf::from(format!("/proc/{}/cwd", self.asked.thread)),
        };
        // An empty path is the descriptor itself, which may be no directory.
        Ok(if path.as_os_str().is_empty() { from } else { from.join(path) })
    }

    /// The path of a name, whatever is there: links on the way are followed, the last one is not.
    fn named(&self, base: Base, path: usize) -> Result<PathBuf, Unclear> {
        match self.text(self.argument(path)?)? {
            Some(path) => name(&self.whole(base, &path)?),
            None => Ok(PathBuf::new()),
        }
    }

    /// What opening a path to write can change, or, without flags, changing what is there in another way.
    fn opened(&self, base: Base, path: usize, flags: Option<u64>) -> Result<Vec<Touch>, Unclear> {
        let Some(path) = self.text(self.argument(path)?)? else { return Ok(Vec::new()) };
        if flags.is_some() && path.as_os_str().is_empty() {
            return Ok(Vec::new());
        }
        let whole = self.whole(base, &path)?;
        match open(&whole) {
            Ok(file) => {
                let found = file.metadata()?;
                // No directory is written to, and no device is kept.
                if flags.is_some() && found.is_dir() || found.file_type().is_char_device() {
                    return Ok(Vec::new());
                }
                Ok(changed(real(&file)?, &found))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = name(&whole)?;
                // What a link leads to that leads nowhere is made.
                if name.is_symlink() { Err(Unclear) } else { Ok(vec![Touch::Path(name)]) }
            }
            // What cannot be reached is not changed either: we may do whatever the process may.
            Err(error) if refused(&error) => Ok(Vec::new()),
            Err(_) => Err(Unclear),
        }
    }

    /// Programs that are asked through a socket in the file system are of this machine, and may do anything.
    fn connected(&self, at: usize) -> Result<Vec<Touch>, Unclear> {
        let mut family = [0; 2];
        let count = self.read(self.argument(at)?, &mut family)?;
        let is_local = count < family.len() || i32::from(u16::from_ne_bytes(family)) == libc::AF_UNIX;
        if !is_local {
            return Ok(Vec::new());
        }
        let mut name = [0; 108];
        let count = self.read(self.argument(at)? + 2, &mut name)?;
        let name = name.get(..count).unwrap_or_default();
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let is_harmless = HARMLESS.iter().any(|known| name.starts_with(known.as_bytes()));
        if is_harmless { Ok(Vec::new()) } else { Err(Unclear) }
    }
}

/// Services of the system that only look something up or write it down.
const HARMLESS: &[&str] = &[
    "/var/run/nscd/",
    "/run/nscd/",
    "/run/systemd/userdb/",
    "/run/systemd/resolve/",
    "/run/systemd/journal/",
    "/run/dbus/system_bus_socket",
    "/var/run/dbus/system_bus_socket",
    "/dev/log",
    "/var/lib/sss/",
];

/// The real path of a name. When the directory is not there, the path is taken as it is written.
fn name(whole: &Path) -> Result<PathBuf, Unclear> {
    let (Some(above), Some(Component::Normal(last))) = (whole.parent(), whole.components().next_back()) else {
        return Ok(real(&open(whole)?)?);
    };
    match open(above) {
        Ok(directory) => Ok(real(&directory)?.join(last)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => plain(whole),
        Err(error) if refused(&error) => Ok(PathBuf::new()),
        Err(_) => Err(Unclear),
    }
}

/// A path through what is not there yet, beneath the deepest directory that is.
fn plain(whole: &Path) -> Result<PathBuf, Unclear> {
    for above in whole.ancestors().skip(1) {
        let Ok(directory) = open(above) else { continue };
        let rest = whole.strip_prefix(above).map_err(|_| Unclear)?;
        let is_plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
        return if is_plain { Ok(real(&directory)?.join(rest)) } else { Err(Unclear) };
    }
    Err(Unclear)
}

/// Opens whatever is there, without any effect on it.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)
}

fn real(file: &File) -> io::Result<PathBuf> {
    fs::read_link(Path::new("/proc/self/fd").join(file.as_raw_fd().to_string()))
}

fn refused(error: &io::Error) -> bool {
    let known = [libc::ENOTDIR, libc::EACCES, libc::ELOOP, libc::ENAMETOOLONG];
    error.raw_os_error().is_some_and(|code| known.contains(&code))
}

/// What a change of a file concerns.
fn changed(path: PathBuf, found: &fs::Metadata) -> Vec<Touch> {
    match (found.is_dir(), found.nlink()) {
        (true, _) => vec![Touch::Tree(path)],
        (false, 0 | 1) => vec![Touch::Path(path)],
        (false, _) => vec![Touch::Path(path), Touch::File(found.dev(), found.ino())],
    }
}
