//! A server of a home, for as long as somebody asks it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::world::World;

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server that runs until it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Server {
    /// Starts a server of the home of a world.
    pub(crate) fn start(world: &World, more: &[&str]) -> Self {
        Self::of(world.command(&[&["serve", "--json"], more].concat()))
    }

    /// Starts the server that a command is.
    pub(super) fn of(mut command: Command) -> Self {
        command.env("RAMUS_TOKEN", TOKEN);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        Self { child, address: ready["address"].as_str().unwrap().to_owned() }
    }

    /// The process that it is.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
