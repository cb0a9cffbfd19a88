//! A file system that lacks something, that stops in the middle, and in which a person is at work: for tests. It holds for
//! the thread that asks for it.

use std::cell::RefCell;

use rustix::io::Errno;

use super::Call;

/// What the file system is like.
pub(crate) struct Seam {
    /// Whether it can exchange names, and refuse to overwrite one.
    pub(crate) has_flags: bool,
    /// Whether a file can have two names.
    pub(crate) has_links: bool,
    /// After so many calls none has an effect any more.
    pub(crate) life: usize,
    /// What a person does before each call, which has a number.
    pub(crate) person: Box<dyn FnMut(usize)>,
}

thread_local! {
    static SEAM: RefCell<(Option<Seam>, usize)> = const { RefCell::new((None, 0)) };
}

/// Does something on such a file system, and says how many calls it had.
pub(crate) fn within<T>(seam: Seam, work: impl FnOnce() -> T) -> (T, usize) {
    SEAM.set((Some(seam), 0));
    let done = work();
    let (_, calls) = SEAM.replace((None, 0));
    (done, calls)
}

pub(super) fn begin(call: Call) -> Result<(), Errno> {
    SEAM.with_borrow_mut(|(seam, calls)| {
        let Some(seam) = seam else { return Ok(()) };
        if *calls >= seam.life {
            // It stays so: whoever is killed does not clean up either.
            return Err(Errno::IO);
        }
        (seam.person)(*calls);
        *calls += 1;
        match call {
            Call::Flagged if !seam.has_flags => Err(Errno::INVAL),
            Call::Link if !seam.has_links => Err(Errno::PERM),
            _ => Ok(()),
        }
    })
}
