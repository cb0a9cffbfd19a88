//! Where the history is: files of this user that nobody else can read, and the lock that keeps opening it and setting it
//! aside apart.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::CatalogueError;

const DATABASE: &str = "history.db";
const LOCK: &str = "history.lock";

/// What SQLite keeps beside a database, in the order in which it can do without.
const COMPANIONS: [&str; 2] = ["-shm", "-wal"];

/// How many damaged histories are kept at most before somebody has to look at them.
const MAX_SET_ASIDE: u32 = 1000;

/// The smallest page of a database.
const SMALLEST: u64 = 512;

/// Which file the database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

/// The directory of a history.
#[derive(Clone, Debug)]
pub(super) struct Place {
    directory: PathBuf,
}

impl Place {
    pub(super) fn new(directory: &Path) -> Self {
        // The home may be behind a link that its user made; the files in it may not be links.
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        Self { directory }
    }

    pub(super) fn database(&self) -> PathBuf {
        self.directory.join(DATABASE)
    }

    /// Returns which file has the name of the database now.
    pub(super) fn file(&self) -> Result<Option<FileId>, CatalogueError> {
        let id = |metadata: Metadata| FileId { device: metadata.dev(), inode: metadata.ino() };
        Ok(stat(&self.database())?.map(id))
    }

    /// Says whether the database was cut off so far that SQLite would take it for a new one: less than a header, or
    /// nothing though changes of it are waiting to be taken in.
    pub(super) fn is_cut_off(&self) -> Result<bool, CatalogueError> {
        let length = |path: &Path| Ok::<_, CatalogueError>(stat(path)?.map_or(0, |metadata| metadata.len()));
        Ok(match length(&self.database())? {
            0 => length(&companion(&self.database(), "-wal"))? > 0,
            length => length < SMALLEST,
        })
    }

    /// Makes sure that the database, if it is there, is a private file of this user.
    pub(super) fn check(&self) -> Result<(), CatalogueError> {
        let path = self.database();
        let Some(metadata) = stat(&path)? else { return Ok(()) };
        let refuse = |reason| Err(CatalogueError::Unsafe { path: path.clone(), reason });
        if !metadata.is_file() {
            return refuse("it is a link or no file");
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return refuse("it belongs to another user");
        }
        if metadata.mode() & 0o077 != 0 {
            fs::set_permissions(&path, Permissions::from_mode(0o600))
                .map_err(|error| io_error("protect", &path, error))?;
        }
        Ok(())
    }

    /// Makes an empty database, private whatever the umask, unless there is one.
    pub(super) fn make(&self) -> Result<(), CatalogueError> {
        let path = self.database();
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => {
                file.set_permissions(Permissions::from_mode(0o600)).map_err(|error| io_error("protect", &path, error))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(io_error("make", &path, error)),
        }
    }

    /// Waits until nobody sets the history aside. Held while it is opened.
    pub(super) fn hold_shared(&self) -> Result<File, CatalogueError> {
        let file = self.lock_file()?;
        file.lock_shared().map_err(|error| io_error("lock", &self.directory.join(LOCK), error))?;
        Ok(file)
    }

    /// Waits until nobody opens the history. Held while it is set aside.
    pub(super) fn hold_alone(&self) -> Result<File, CatalogueError> {
        let file = self.lock_file()?;
        file.lock().map_err(|error| io_error("lock", &self.directory.join(LOCK), error))?;
        Ok(file)
    }

    fn lock_file(&self) -> Result<File, CatalogueError> {
        let path = self.directory.join(LOCK);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        options.custom_flags(OFlags::NOFOLLOW.bits() as i32);
        options.open(&path).map_err(|error| io_error("open", &path, error))
    }

    /// Gives the database another name and returns it. Both names exist for a moment: whoever is killed in between has
    /// lost nothing.
    pub(super) fn set_aside(&self) -> Result<PathBuf, CatalogueError> {
        let database = self.database();
        let aside = self.link_to_free_name(&database)?;
        for suffix in COMPANIONS {
            let (from, to) = (companion(&database, suffix), companion(&aside, suffix));
            match fs::hard_link(&from, &to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(io_error("set aside", &from, error));
                }
                _ => {}
            }
        }
        for path in [database.clone()].into_iter().chain(COMPANIONS.map(|suffix| companion(&database, suffix))) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(io_error("set aside", &path, error));
                }
                _ => {}
            }
        }
        Ok(aside)
    }

    fn link_to_free_name(&self, database: &Path) -> Result<PathBuf, CatalogueError> {
        for number in 1..=MAX_SET_ASIDE {
            let aside = companion(database, &format!(".corrupt-{number}"));
            match fs::hard_link(database, &aside) {
                Ok(()) => return Ok(aside),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(io_error("set aside", database, error)),
            }
        }
        Err(io_error("set aside", database, io::ErrorKind::AlreadyExists.into()))
    }
}

/// The name of a file that belongs to another one.
fn companion(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn stat(path: &Path) -> Result<Option<Metadata>, CatalogueError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error("inspect", path, error)),
    }
}

fn io_error(action: &'static str, path: &Path, cause: io::Error) -> CatalogueError {
    CatalogueError::Io { action, path: path.to_owned(), cause }
}
