//! Files for what is too large for memory, for a while.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;

use crate::engine::Engine;

impl Engine {
    /// Opens a file of the home that has no name, so that nothing of it stays when it is closed, nor when the process is killed.
    pub fn spool(&self) -> io::Result<File> {
        let Some(home) = &self.foreign else { return tempfile::tempfile() };
        DirBuilder::new().recursive(true).mode(0o700).create(home.scratch())?;
        tempfile::tempfile_in(home.scratch())
    }
}
