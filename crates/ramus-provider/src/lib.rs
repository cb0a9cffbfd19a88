//! Models: a request goes out over HTTP, an answer comes back in pieces.

mod error;
mod fault;
pub mod models;
mod retry;
mod secret;
pub mod wire;

pub use error::ProviderError;
pub use models::{Control, Facts, Models};
pub use retry::Retries;
pub use secret::Secret;
