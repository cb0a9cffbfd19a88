//! Readers that follow a log while it is written: matrix row C8. Every one sees every line once, in order and whole.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::child::{Flushing, plant};
use super::kill::Patient;
use super::lines::{Lines, Sizes};

/// What the readers saw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Followed {
    /// Lines, over all readers.
    pub lines: u64,
    /// How often a reader found the beginning of a line and waited for the rest.
    pub waited: u64,
    /// How often a reader looked.
    pub looks: u64,
}

/// Lets `readers` processes follow while one appends `lines` entries.
pub fn follow(crashbox: &Path, readers: u64, lines: u64, sizes: Sizes, seed: u64) -> Result<Followed> {
    let patient = Patient::new(Lines { seed, sizes })?;
    let (count, seed) = (lines.to_string(), seed.to_string());
    let start = |verb: &str, rest: &[&str]| -> Result<Running> {
        let mut command = Command::new(crashbox);
        command.arg(verb).arg(&patient.judge.home).arg(&patient.session).args([seed.as_str(), sizes.name()]).args(rest);
        plant(&mut command, None);
        command.stdin(Stdio::null()).stderr(Stdio::inherit());
        command.stdout(if verb == "follow" { Stdio::piped() } else { Stdio::null() });
        Ok(Running(command.spawn().context("cannot start crashbox")?))
    };
    let followers = (0..readers).map(|_| start("follow", &[&count])).collect::<Result<Vec<_>>>()?;
    let mut writer = start("write", &["0", Flushing::Os.name(), &count])?;
    ensure!(writer.0.wait()?.success(), "the writer failed");
    let mut followed = Followed::default();
    for mut follower in followers {
        let mut said = String::new();
        std::io::Read::read_to_string(follower.0.stdout.as_mut().context("no stdout")?, &mut said)?;
        ensure!(follower.0.wait()?.success(), "a reader failed");
        let said: Value = serde_json::from_str(&said)?;
        let figure = |name: &str| said.get(name).and_then(Value::as_u64).with_context(|| format!("no {name}"));
        ensure!(figure("lines")? == lines, "a reader saw {} of {lines} lines", figure("lines")?);
        followed.lines += figure("lines")?;
        followed.waited += figure("waited")?;
        followed.looks += figure("looks")?;
    }
    Ok(followed)
}

/// A child that does not outlive the driver.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Ended already, unless the driver failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
