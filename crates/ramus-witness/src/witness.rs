//! Both ends of it: the command submits to a witness before it begins, and the witness looks on until nothing of the command
//! is left.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::filter::filter;
use crate::kernel;
use crate::look::{Touch, look};
use crate::reach::Reach;

/// How much is remembered. A command that touches more is one of which nothing is known.
const MOST: usize = 1 << 20;

/// Said by the witness when it can look on, and when it does.
const YES: u8 = b'y';
/// Said by the command in the place of a descriptor when there is none.
const NOBODY: i32 = -1;
/// What the witness must be able to read in the memory of the command.
const PROBE: [u8; 8] = *b"witness?";

/// Who submits, and where in its memory the probe is.
struct Hello {
    process: u32,
    address: u64,
}

impl Hello {
    fn to_bytes(&self) -> [u8; 12] {
        let mut bytes = [0; 12];
        let (process, address) = bytes.split_at_mut(4);
        process.copy_from_slice(&self.process.to_ne_bytes());
        address.copy_from_slice(&self.address.to_ne_bytes());
        bytes
    }

    fn of(bytes: [u8; 12]) -> Self {
        let [a, b, c, d, rest @ ..] = bytes;
        Self { process: u32::from_ne_bytes([a, b, c, d]), address: u64::from_ne_bytes(rest) }
    }
}

/// Someone who looks on while a command runs.
#[derive(Debug)]
pub struct Witness {
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug)]
enum Seen {
    /// Nothing began yet.
    Nothing,
    All(Reach),
    Unknown,
}

/// Has the witness at the other end of a socket look at this process from now on, and at everything it starts. This process
/// must have given up new privileges. An error means that it must not go on: the kernel asks a witness who is not there.
pub fn submit(mut socket: UnixStream) -> io::Result<()> {
    let probe = Box::new(PROBE);
    let own = Hello { process: std::process::id(), address: std::ptr::from_ref(&*probe).addr() as u64 };
    let answer = socket.write_all(&own.to_bytes()).and_then(|()| read_one(&mut socket));
    drop(probe);
    // Without a witness who can see anything, or without a kernel that asks one, the command goes on alone.
    if !matches!(answer, Ok(YES)) {
        return Ok(());
    }
    let Some(Ok(listener)) = filter().map(|filter| kernel::install(&filter)) else {
        return socket.write_all(&NOBODY.to_ne_bytes());
    };
    socket.write_all(&listener.as_raw_fd().to_ne_bytes())?;
    match read_one(&mut socket)? {
        YES => Ok(()),
        _ => Err(io::Error::other("the witness is not there")),
    }
}

fn read_one(socket: &mut UnixStream) -> io::Result<u8> {
    let mut byte = [0];
    socket.read_exact(&mut byte)?;
    let [byte] = byte;
    Ok(byte)
}

impl Witness {
    /// Waits on a thread of its own for a command to submit through the other end of the socket, and remembers what of a
    /// directory it can change.
    pub fn begin(socket: UnixStream, root: &Path) -> io::Result<Self> {
        let seen = Arc::new(Mutex::new(Seen::Nothing));
        let (own, root) = (Self { seen: Arc::clone(&seen) }, root.to_owned());
        // What is left of a command may wait for an answer as long as it lives, so the thread outlives the call.
        thread::Builder::new().name("witness".into()).spawn(move || attend(socket, &Scene { seen, root }))?;
        Ok(own)
    }

    /// Returns what the command can have changed until now; none when nobody knows.
    pub fn seen(&self) -> Option<Reach> {
        match &*lock(&self.seen) {
            Seen::All(reach) => Some(reach.clone()),
            Seen::Nothing | Seen::Unknown => None,
        }
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is remembered, and of which directory.
struct Scene {
    seen: Arc<Mutex<Seen>>,
    root: PathBuf,
}

/// Looks on until nothing of the command is left.
fn attend(mut socket: UnixStream, scene: &Scene) {
    let Ok(Some(listener)) = take(&mut socket) else { return };
    *lock(&scene.seen) = Seen::All(Reach::default());
    if socket.write_all(&[YES]).is_err() {
        return;
    }
    drop(socket);
    kernel::wake_here(listener.as_fd());
    loop {
        match wait(listener.as_fd()) {
            Ok(true) => {}
            // Nothing of the command is left.
            Ok(false) => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        }
        match kernel::receive(listener.as_fd()) {
            Ok(asked) => {
                scene.note(listener.as_fd(), asked);
                kernel::go_on(listener.as_fd(), asked.id);
            }
            // Who waited is gone, or a signal came.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => {}
            Err(_) => break,
        }
    }
    // It was not seen to its end.
    *lock(&scene.seen) = Seen::Unknown;
}

/// Waits until a system call waits; says whether one does, or nobody is left who could make one.
fn wait(listener: BorrowedFd<'_>) -> io::Result<bool> {
    let mut ready = [PollFd::from_borrowed_fd(listener, PollFlags::IN)];
    poll(&mut ready, None)?;
    Ok(ready.iter().any(|one| one.revents().contains(PollFlags::IN)))
}

/// Takes the descriptor that tells what waits; none when the command cannot be watched.
fn take(socket: &mut UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut hello = [0; 12];
    socket.read_exact(&mut hello)?;
    let Hello { process, address } = Hello::of(hello);
    let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return Ok(None) };
    // What is not allowed here is found out before anybody depends on it.
    let mut probe = [0; PROBE.len()];
    let mut can_see =
        matches!(kernel::read(process.as_raw_nonzero().get() as u32, address, &mut probe), Ok(8)) && probe == PROBE;
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    can_see &= pidfd_getfd(&handle, 0, PidfdGetfdFlags::empty()).is_ok();
    if !can_see {
        return Ok(None);
    }
    socket.write_all(&[YES])?;
    let mut number = [0; 4];
    socket.read_exact(&mut number)?;
    match i32::from_ne_bytes(number) {
        NOBODY => Ok(None),
        number => Ok(Some(pidfd_getfd(&handle, number, PidfdGetfdFlags::empty())?)),
    }
}

impl Scene {
    /// Writes down what a system call can change, before it goes on.
    fn note(&self, listener: BorrowedFd<'_>, asked: kernel::Asked) {
        let touched = look(asked);
        let mut seen = lock(&self.seen);
        let Seen::All(reach) = &mut *seen else { return };
        match touched {
            Ok(touched) => touched.into_iter().for_each(|touch| self.add(reach, touch)),
            // What does not wait any more was not done.
            Err(_) if !kernel::is_waiting(listener, asked.id) => {}
            Err(_) => *seen = Seen::Unknown,
        }
        if matches!(&*seen, Seen::All(reach) if reach.len() > MOST) {
            *seen = Seen::Unknown;
        }
    }

    fn add(&self, reach: &mut Reach, touch: Touch) {
        match touch {
            Touch::Path(path) if path.starts_with(&self.root) => reach.add(path),
            Touch::Tree(path) if path.starts_with(&self.root) || self.root.starts_with(&path) => reach.add_tree(path),
            Touch::File(device, number) => reach.add_file(device, number),
            Touch::Path(_) | Touch::Tree(_) => {}
        }
    }
}
