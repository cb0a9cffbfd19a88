//! A person at a terminal: a pseudo-terminal that the program asks on, and answers that are typed when it does.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::world::{Ran, World};

/// Runs a command on a terminal and types an answer each time it asks. Returns what it printed and asked.
pub(crate) fn run(world: &World, arguments: &[&str], answers: &[&str]) -> Ran {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal = || std::fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = world.command(arguments);
    let mut child = command.stdin(terminal()).stdout(Stdio::piped()).stderr(terminal()).spawn().unwrap();
    // Only the program holds the terminal now, so reading ends when it does.
    drop(command);
    let (mut screen, mut keys) = (std::fs::File::from(controller), None);
    let mut output = child.stdout.take().unwrap();
    let printed = std::thread::spawn(move || {
        let mut printed = String::new();
        output.read_to_string(&mut printed).unwrap();
        printed
    });
    let (mut shown, mut answered, mut buffer) = (String::new(), 0, [0; 4096]);
    // A terminal that nobody holds any more is an error to read from.
    while let Ok(count @ 1..) = screen.read(&mut buffer) {
        shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
        while shown.matches("allow it?").count() > answered {
            let answer = answers.get(answered).unwrap_or_else(|| panic!("a question too many: {shown}"));
            let keys = keys.get_or_insert_with(|| screen.try_clone().unwrap());
            keys.write_all(format!("{answer}\n").as_bytes()).unwrap();
            answered += 1;
        }
    }
    assert_eq!(answered, answers.len(), "not every answer was asked for: {shown}");
    let code = child.wait().unwrap().code().expect("not ended by a signal");
    Ran { stdout: printed.join().unwrap(), stderr: shown, code }
}
