//! `resume --in AGENT`: the chosen path as a session of another agent, where that agent looks for it.
//!
//! The file is complete before it has its name, takes no name that is taken, belongs to the user alone, and has an id of its own.
//! An agent with a database is given a file and told to take it in: nobody else's database is written.

use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use ramus_interchange::place::{Environment, Marker, destination};
use ramus_interchange::{Format, Loss, Target};
use ramus_model::{Origin, Seq, SessionId};
use ramus_store::fs::{FileHandle, FileSystem as _, RealFs};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::convert::Extent;
use crate::verb::create::new_session_id;

/// The largest file that is looked into to find a name.
const SMALL: u64 = 16 << 20;

/// A session that another agent can go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOver {
    /// Its new id. An agent that takes files in may give it another one: see [`Self::resume`].
    pub id: SessionId,
    /// The file that was written.
    pub file: PathBuf,
    /// The directory to run commands in.
    pub directory: PathBuf,
    /// A command that must be run first; empty when none must.
    pub import: Vec<String>,
    /// The command that goes on with it. It has [`TAKEN_ID`](ramus_interchange::TAKEN_ID) in it when the import gives the session
    /// its id.
    pub resume: Vec<String>,
    /// What the agent has no words for.
    pub losses: Vec<Loss>,
}

impl Engine {
    /// Writes a path for another agent. `directory` is where it shall work.
    pub fn hand_over(
        &self,
        session: &Session,
        leaf: Option<Seq>,
        format: Format,
        environment: &Environment,
        directory: &Path,
    ) -> Result<HandedOver, EngineError> {
        let directory = directory.canonicalize().map_err(|error| failed(directory, &error))?;
        let id = new_session_id();
        let mut start = session.start();
        start.id = id.to_string();
        start.created = self.timestamp();
        start.cwd = directory.to_string_lossy().into_owned();
        let place = destination(format, environment, &start, &peek);
        if place.resume.is_empty() {
            return Err(EngineError::Invalid(format!("nothing goes on with sessions of {}", format.name())));
        }
        let home = match &place.directory {
            Some(directory) => directory.clone(),
            None => self.passed_on()?,
        };
        let leaf = leaf.or_else(|| session.log().leaf());
        let mut target = Directory::at(&home)?;
        let report = self.convert(session, format, Extent::Path(leaf), start, &mut target)?;
        place.markers.iter().try_for_each(make_marker)?;
        let file = target.publish()?;
        if let (Some(home), Some(leaf)) = (&self.foreign, leaf) {
            let origin = Origin { session: session.id().clone(), entry: session.entry_id(leaf) };
            // One that is not remembered comes back as a session of its own, and that is all.
            let _ = home.note_handed(&id, &file, &origin);
        }
        let mut import = place.import;
        if !import.is_empty() {
            import.push(file.to_string_lossy().into_owned());
        }
        Ok(HandedOver { id, file, directory, import, resume: place.resume, losses: report.losses })
    }

    /// Where files are put that an agent takes in itself.
    fn passed_on(&self) -> Result<PathBuf, EngineError> {
        let home = self.foreign.as_ref();
        let home = home.ok_or_else(|| EngineError::Invalid("this home has no place for files of others".into()))?;
        Ok(home.scratch().join(uuid::Uuid::new_v4().simple().to_string()))
    }
}

fn failed(path: &Path, error: &io::Error) -> EngineError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => EngineError::Conflict(format!("{} is there already", path.display())),
        _ => EngineError::Invalid(format!("{}: {error}", path.display())),
    }
}

/// What a small file of another agent says; none when it is not there or not small.
fn peek(path: &Path) -> Option<String> {
    let is_small = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= SMALL);
    if is_small { std::fs::read_to_string(path).ok() } else { None }
}

/// Makes a file that says whose a directory is, unless one does.
fn make_marker(marker: &Marker) -> Result<(), EngineError> {
    if marker.path.exists() {
        return Ok(());
    }
    let made = marker.path.parent().map_or(Ok(()), |parent| RealFs.create_dir(parent));
    let made = made.and_then(|()| RealFs.create_file(&marker.path)).and_then(|mut file| {
        write_all(file.as_mut(), marker.content.as_bytes())?;
        file.sync()
    });
    match made {
        // Somebody else was faster, and says the same.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(|error| failed(&marker.path, &error)),
    }
}

fn write_all(file: &mut dyn FileHandle, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.append(bytes)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Files that get their names when all of them are complete.
pub struct Directory {
    root: PathBuf,
    files: Vec<(PathBuf, PathBuf, Box<dyn FileHandle>)>,
    is_published: bool,
}

impl Directory {
    /// Puts files into a directory, which is made when it is not there.
    pub fn at(root: &Path) -> Result<Self, EngineError> {
        RealFs.create_dir(root).map_err(|error| failed(root, &error))?;
        Ok(Self { root: root.to_owned(), files: Vec::new(), is_published: false })
    }

    /// Gives the files their names and returns the first one. No file is replaced.
    pub fn publish(mut self) -> Result<PathBuf, EngineError> {
        for (unfinished, path, file) in &mut self.files {
            file.sync().map_err(|error| failed(path, &error))?;
            RealFs.rename_new(unfinished, path).map_err(|error| failed(path, &error))?;
        }
        for (_, path, _) in &self.files {
            if let Some(directory) = path.parent() {
                RealFs.sync_dir(directory).map_err(|error| failed(directory, &error))?;
            }
        }
        self.is_published = true;
        let nothing = || EngineError::Invalid("there is nothing to write".into());
        self.files.first().map(|(_, path, _)| path.clone()).ok_or_else(nothing)
    }
}

impl Target for Directory {
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Write + '_>> {
        let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_plain || name.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name of the file leads elsewhere"));
        }
        let path = self.root.join(name);
        let directory = path.parent().unwrap_or(&self.root);
        RealFs.create_dir(directory)?;
        let unfinished = directory.join(format!(".ramus-{}", uuid::Uuid::new_v4().simple()));
        let file = RealFs.create_file(&unfinished)?;
        self.files.push((unfinished, path, file));
        let file = self.files.last_mut().map(|(_, _, file)| file.as_mut()).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Appending(file)))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if !self.is_published {
            // Those that have their names already are complete; the others are nobody's.
            for (unfinished, ..) in &self.files {
                let _ = std::fs::remove_file(unfinished);
            }
        }
    }
}

struct Appending<'f>(&'f mut dyn FileHandle);

impl Write for Appending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.append(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
