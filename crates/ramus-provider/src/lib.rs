//! Models: a request goes out over HTTP, an answer comes back in pieces.
//!
//! [`Providers`] finds who answers to a name; a [`Provider`] takes a [`Request`](ramus_model::request::Request) and streams
//! [`Delta`](ramus_model::delta::Delta)s. The wire formats ([`wire`]) are pure and tested byte by byte; HTTP knows nothing
//! about them but that a decoder says when an answer is complete.
//!
//! The invariants: a request that goes out is legal in its format, whatever the session holds; an answer that was cut off
//! is never taken for a complete one; a key is sent to its host and shown nowhere. Nothing here reads the environment.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! use ramus_provider::{Models, Patience, Providers, Scripted};
//!
//! let script = r#"answers = [{ steps = [{ text = "Hello." }] }]"#;
//! let mut providers = Providers::new(BTreeMap::new(), Models::known()?, Patience::default())?;
//! providers.add(Arc::new(Scripted::new(script, "an example")?));
//! assert_eq!(providers.resolve("scripted/any")?.provider.api(), "scripted");
//! assert!(providers.resolve("anthropic/claude-sonnet-5").is_err_and(|error| error.hint().contains("ANTHROPIC_API_KEY")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod discover;
mod endpoint;
mod error;
mod fault;
mod http;
mod models;
mod provider;
mod providers;
pub mod scripted;
mod secret;
mod tokens;
pub mod wire;

pub use error::ProviderError;
pub use http::{Patience, read_answer};
pub use models::{Control, Facts, Models, ModelsError};
pub use provider::{Deltas, Provider};
pub use providers::{KNOWN, Known, Providers, ResolveError, Resolved, Settings};
pub use scripted::{ScriptError, Scripted};
pub use secret::Secret;
pub use tokens::Bpe;
