//! What the tools promise, tested through their public interface.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod artifacts;
mod files;
mod mcp;
mod oracle;
mod processes;
mod shell;
mod witness;
