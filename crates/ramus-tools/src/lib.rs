//! Tools: what a model can do on this machine, and the bounds it does it in.
//!
//! [`shell`] reads a command line into every program it would run, so that rules can be matched against each of them.
//! [`tool`] has the tools; a call is planned, judged and then run. [`workspace`] keeps files beneath one directory,
//! [`process`] keeps processes in one group, [`mcp`] brings tools of other programs, [`sandbox`] keeps both in bounds that the kernel holds.
//!
//! ```
//! let reading = ramus_tools::shell::read("git status && echo $(rm -rf build)");
//! let subjects = reading.subjects();
//! assert!(subjects.contains(&"git status".to_owned()) && subjects.contains(&"rm -rf build".to_owned()));
//! ```

mod cancel;
pub mod diff;
pub mod mcp;
mod outcome;
pub mod process;
pub mod sandbox;
pub mod shell;
pub mod tool;
mod walk;
pub mod workspace;

pub use cancel::Cancel;
pub use outcome::{Outcome, Spill};
pub use ramus_witness::Reach;
pub use tool::{Effect, Plan, Refusal, Tool};
pub use workspace::Workspace;

use std::sync::Arc;

/// Returns the tools of a session: those that work on files, the list of tasks, and the shell.
pub fn tools(workspace: &Arc<Workspace>, shell: tool::bash::Settings) -> Vec<Box<dyn Tool>> {
    let seen = Arc::new(workspace::Seen::default());
    let (workspace, files) = (Arc::clone(workspace), Arc::clone(workspace));
    vec![
        Box::new(tool::read::Reading { workspace: Arc::clone(&files), seen: Arc::clone(&seen) }),
        Box::new(tool::write::Writing { workspace: Arc::clone(&files), seen: Arc::clone(&seen) }),
        Box::new(tool::edit::Editing { workspace: Arc::clone(&files), seen }),
        Box::new(tool::list::Listing { workspace: Arc::clone(&files) }),
        Box::new(tool::glob::Globbing { workspace: Arc::clone(&files) }),
        Box::new(tool::grep::Grepping { workspace: files }),
        Box::new(tool::todo::Todo),
        Box::new(tool::bash::Bash { workspace, settings: Arc::new(shell) }),
    ]
}
