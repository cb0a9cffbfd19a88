//! Where agents keep their sessions: which directories, which names in them are sessions, where a new one goes, and how an
//! agent is told to go on with it.
//!
//! Nothing here looks at the machine. Whoever asks says what the surroundings are ([`Environment`]) and reads the few small
//! files that decide a name.

mod destination;
mod environment;
mod name;
mod root;

pub use destination::{Destination, Marker, destination};
pub use environment::Environment;
pub(crate) use name::{between_dashes, dashed, slug};
pub use root::{Kind, Role, Root, roots};
