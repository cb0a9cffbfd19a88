//! The system prompt: who the model is, where it works, and what the project's own files say.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};

/// Files in which projects tell agents what to know. The first one that a directory has counts.
const FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// How much of each is told.
const MOST: u64 = 32 << 10;

/// Makes a system prompt. Files of directories above `cwd` count too, up to the root of the project.
pub fn system_prompt(agent: &str, cwd: &str, root: Option<&str>) -> String {
    let mut text = agent.trim().to_owned();
    // Writing to a string cannot fail.
    let _ = write!(text, "\n\nThe working directory is {cwd}.");
    let root = root.filter(|root| Path::new(cwd).starts_with(root)).unwrap_or(cwd);
    let directories = Path::new(cwd).ancestors().take_while(|directory| directory.starts_with(root));
    let told = directories.filter_map(|directory| FILES.iter().find_map(|name| instructions(directory, name, root)));
    for file in told.collect::<Vec<_>>().iter().rev() {
        text.push_str("\n\n");
        text.push_str(file);
    }
    text
}

/// Reads what a file says; none when there is none. A link may lead to another file of the project, and to nothing else: what
/// is told here goes to a provider, and the project may be anyone's.
fn instructions(directory: &Path, name: &str, root: &str) -> Option<String> {
    let path = directory.join(name);
    let inside = path.strip_prefix(root).ok()?;
    let flags = OFlags::CLOEXEC | OFlags::NONBLOCK;
    let root = openat(CWD, root, flags | OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).ok()?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let file = File::from(openat2(&root, inside, flags | OFlags::RDONLY, Mode::empty(), resolve).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    // What was cut in the middle of a character ends in front of it.
    let content = match std::str::from_utf8(&bytes) {
        Ok(content) => content,
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()).map(std::str::from_utf8)?.ok()?,
        Err(_) => return None,
    };
    Some(format!("<instructions file=\"{}\">\n{}\n</instructions>", path.display(), content.trim_end()))
}
