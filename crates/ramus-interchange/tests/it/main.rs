//! Sessions of other agents, in and out.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod across;
mod bombs;
mod carry;
mod claude;
mod claude_lines;
mod codex;
mod codex_bare;
mod conformance;
mod directory;
mod fuzz;
mod gemini;
mod gemini_versions;
mod generate;
mod goose;
mod laws;
mod opencode;
mod others;
mod pi;
mod thoughts;
