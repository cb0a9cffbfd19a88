//! Finds secrets in text and takes them out. Pure: no files, no clock, no environment.
//!
//! Three things give a secret away: its form ([`tokens`], keys that say whose they are; PEM; JWT), its surroundings
//! (`assignment`, `header`, `url`), and that the caller knows it ([`Redactor::with_secrets`]). Each is looked for in the text
//! as it stands and as it reads once escapes are undone (`view`), so that JSON in JSON, percent signs and colours hide
//! nothing; base64 that holds text is looked into.
//!
//! The work grows with the length of the text and with nothing in it: no step looks back further, or ahead further, than
//! a constant, or shares what it found with the steps after it.
//!
//! ```
//! use ramus_redact::Redactor;
//!
//! let redactor = Redactor::new();
//! let mut pass = redactor.pass();
//! let text = pass.redact("DB_PASSWORD=Xk29!fmq81Lz", "message 3");
//! assert_eq!(text, "DB_PASSWORD=[redacted: password 1]");
//! ```

mod alphabet;
mod assignment;
mod dotted;
mod encoded;
mod header;
mod identity;
mod judge;
mod own;
mod pass;
mod pem;
mod redactor;
mod scan;
mod span;
pub mod tokens;
mod url;
mod view;

pub use identity::Identity;
pub use pass::{Finding, Pass};
pub use redactor::Redactor;
