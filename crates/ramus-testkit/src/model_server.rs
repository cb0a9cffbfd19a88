//! A model provider on loopback that forgives nothing: it judges every request by the published rules of its format, answers
//! from a plan, and fails on request.
//!
//! It is written from the rules of the providers and knows nothing of the client it judges. Where deployments of one format
//! differ, it asks for what all of them accept, so a history that passes here passes everywhere.
//!
//! ```
//! use ramus_testkit::model_server::{Format, ModelServer, Plan, Reply};
//!
//! let server = ModelServer::start(Plan::of([Reply::text("Hello.")]))?;
//! assert!(server.base_url(Format::Anthropic).starts_with("http://127.0.0.1:"));
//! # std::io::Result::Ok(())
//! ```

mod echo;
mod flow;
mod format;
mod http;
mod illegal;
pub mod judge;
mod plan;
mod record;
pub mod refusal;
mod route;
pub mod seal;
mod server;
mod wire;

pub use format::Format;
pub use illegal::{Illegal, Rule};
pub use plan::{Fault, Finish, Part, Plan, Reply, Then, Usage};
pub use record::{Outcome, Recorded, Verdict};
pub use refusal::Overflow;
pub use server::{Keys, ModelServer};
pub use wire::{stream, tag};
