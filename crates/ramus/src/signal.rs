//! Signals that must not end the process: a write that meets a limit on the size of files is an error like a full disk,
//! which the store takes back and reports.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;

/// Lets writes beyond the process's file size limit fail instead of killing it.
///
/// A handler, not `SIG_IGN`: programs that are started from here get the default back.
pub(crate) fn outlive_file_size_limits() {
    // Nobody looks at the flag: the write itself says what happened. Without the handler we are where every program
    // starts, so there is nothing to report either.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}
