//! Tools: what a model can do on this machine, and the bounds it does it in.
//!
//! [`shell`] reads a command line into every program it would run, so that rules can be matched against each of them.
//!
//! ```
//! let reading = ramus_tools::shell::read("git status && echo $(rm -rf build)");
//! let subjects = reading.subjects();
//! assert!(subjects.contains(&"git status".to_owned()) && subjects.contains(&"rm -rf build".to_owned()));
//! ```

pub mod shell;
