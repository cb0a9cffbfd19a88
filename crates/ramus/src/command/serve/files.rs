//! How many files the process may have open: every connection is one, and shells often allow fewer than there may be
//! connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are open beside connections: logs that are read and written, and the pipes of programs that turns run.
const BESIDE: u64 = 1024;

/// Lets the process have so many connections, as far as it may allow itself. With fewer, those that come later wait.
pub(super) fn allow(connections: usize) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = connections as u64 + BESIDE;
    let allowed = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if limit.current.is_some_and(|current| current < allowed) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), maximum: limit.maximum });
    }
}
