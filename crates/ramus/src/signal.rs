//! Signals that must not end the process: a write that meets a limit on the size of files is an error like a full disk,
//! which the store takes back and reports; an interrupt stops a turn that runs, and only the second one the program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::Context as _;
use ramus_agent::Input;
use ramus_engine::run::Inbox;
use signal_hook::consts::{SIGINT, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};

/// Lets writes beyond the process's file size limit fail instead of killing it.
///
/// A handler, not `SIG_IGN`: programs that are started from here get the default back.
pub(crate) fn outlive_file_size_limits() {
    // Nobody looks at the flag: the write itself says what happened. Without the handler we are where every program
    // starts, so there is nothing to report either.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Whether an interrupt ends the program, as it does where nobody listens. Once someone did, the system leaves that to us.
static IS_IDLE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Interrupts are for the turn until this is dropped.
pub(crate) struct Guard(Handle);

impl Drop for Guard {
    fn drop(&mut self) {
        IS_IDLE.store(true, Ordering::SeqCst);
        self.0.close();
    }
}

/// Lets the first interrupt cancel a turn, and the second one end the program.
pub(crate) fn cancel_on_interrupt(inbox: Inbox) -> anyhow::Result<Guard> {
    on_interrupt(move || inbox.send(Input::Cancel))
}

/// Lets the first interrupt stop something, and the second one end the program.
pub(crate) fn on_interrupt(stop: impl Fn() + Send + 'static) -> anyhow::Result<Guard> {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    let refused = "cannot listen to signals";
    IS_IDLE.store(false, Ordering::SeqCst);
    if !REGISTERED.swap(true, Ordering::SeqCst) {
        signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&IS_IDLE)).context(refused)?;
    }
    let mut signals = Signals::new([SIGINT]).context(refused)?;
    let handle = signals.handle();
    std::thread::spawn(move || {
        for (number, _) in signals.forever().enumerate() {
            if number > 0 {
                std::process::exit(130);
            }
            stop();
        }
    });
    Ok(Guard(handle))
}
