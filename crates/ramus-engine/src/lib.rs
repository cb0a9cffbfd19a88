//! The verbs of ramus. Each public verb is one method of [`Engine`] and one file under `verb/`; a [`Session`] is an open
//! log with its views. The engine knows no terminal, no environment and no HTTP.
//!
//! ```
//! use ramus_engine::{Engine, NewSession, Say};
//!
//! let engine = Engine::in_memory();
//! let mut session = engine.create(NewSession { cwd: "/tmp".into(), ..NewSession::default() })?;
//! engine.say(&mut session, Say::user("hello"))?;
//! assert_eq!(session.log().len(), 1);
//! # Ok::<(), ramus_engine::EngineError>(())
//! ```

mod approvals;
mod blobs;
mod catalogue;
mod clock;
mod engine;
mod error;
pub mod events;
mod foreign;
mod journal;
mod kept;
mod operation;
pub mod prices;
pub mod project;
mod recovery;
pub mod run;
mod session;
pub mod settings;
mod shared;
mod shares;
mod sidecar;
mod spool;
mod verb;
mod workspace;

pub use approvals::{Granted, ProjectKey};
pub use blobs::RestoredLines;
pub use catalogue::{CatalogueStatus, Progress};
pub use clock::{Clock, SystemClock};
pub use engine::{DEFAULT_OWNER, Durability, Engine};
pub use error::{EngineError, ErrorKind};
pub use foreign::{
    ForeignFailure, ForeignImport, ForeignImported, ForeignLink, ForeignProgress, ForeignSession, ForeignSkip,
    ForeignStore, foreign_front,
};
pub use recovery::{Action, ActionKind, RecoveryReport, RecoveryStatus};
pub use session::Session;
pub use shared::{Carrier, SharedSession, Submitted};
pub use shares::Share;
pub use verb::append::{Appended, Cursor, Written};
pub use verb::artifacts::Artifact;
pub use verb::attach::Attachment;
pub use verb::audit::Audited;
pub use verb::boot::{Boot, Booted, WELCOME};
pub use verb::bundle::{BundleOptions, Bundled, Forks};
pub use verb::change::Changes;
pub use verb::clear::Cleared;
pub use verb::compact::{Compact, Compacted, Files, KEEP, Prepared, Transcript};
pub use verb::compare::{Comparison, Pair, Side};
pub use verb::conversation::{CONVERSATION, Conversation, Payload, SaidMessage, Saved, Standing, check_conversation};
pub use verb::convert::{Extent, OneFile, has_branches, spawned_loss};
pub use verb::create::NewSession;
pub use verb::delete::{Children, Deleted, KeptBase, WorkspaceLeft};
pub use verb::describe::Descriptions;
pub use verb::disk::{DirectoryUsage, DiskReport, WorkspaceUsage};
pub use verb::doctor::{Examined, Treatment};
pub use verb::evict::Evicted;
pub use verb::facets::{Facet, Facets};
pub use verb::follow::{Followed, Follower};
pub use verb::fork::{ForkOptions, Forked};
pub use verb::gc::{Swept, Unswept};
pub use verb::hand_over::{Directory, HandedOver};
pub use verb::import::{ImportOptions, Imported, ImportedSession};
pub use verb::info::{GitState, Lineage, SessionInfo, SessionStatus, Workspace};
pub use verb::list::{Filter, Hidden, Listing, NATIVE, Sort, SortKey, WhichDirectory};
pub use verb::merge_back::{MergeBack, Merged};
pub use verb::messages::{Page, Selection, View};
pub use verb::open::is_path;
pub use verb::operations::{Operations, Performed};
pub use verb::purge::{Purge, PurgeScope, Purged};
pub use verb::relocate::{Relocated, Relocation};
pub use verb::replace_segment::Replaced;
pub use verb::reset::Reset;
pub use verb::restore::{RestoreOptions, RestoreReport};
pub use verb::resume::Resumed;
pub use verb::retain::{Going, Retained, Retention};
pub use verb::revert::{RevertMark, RevertReport};
pub use verb::say::{Picture, Say};
pub use verb::search::{Hit, Hits, IndexState, Search};
pub use verb::share::{Opened, ShareOptions, SharePreview, Shared};
pub use verb::snapshot::{SnapshotEntry, SnapshotTaken};
pub use verb::tag::TagChange;
pub use verb::todo::TodoChange;
pub use verb::transcript::{Include, TranscriptScope, redact};
pub use verb::undo::TakenBack;
pub use verb::usage::{SessionShare, UsageBy, UsageQuery, UsageReport, UsageRow};
pub use verb::workspace::{INITIAL_SNAPSHOT, Mount, WorkspaceInfo};
pub use workspace::{Cause, Summary};
