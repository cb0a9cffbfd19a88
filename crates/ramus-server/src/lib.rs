//! ramus over HTTP: one process that many clients attach to.
//!
//! A request passes the [`guard`] first, which looks at where it comes from and who sends it, then a route, which calls one
//! verb of the engine on a thread that may wait, and answers with a shape of `ramus-wire`. What happens is told through the
//! [`hub`], and whoever was away reads it again from the log.
//!
//! The invariants: nothing but `/health`, static files and shares is answered without a token; a session of another owner
//! does not exist; no `GET` changes anything; a web page from elsewhere can do nothing.

mod access;
mod answer;
mod app;
mod config;
mod document;
mod error;
mod guard;
mod hub;
mod input;
mod listed;
mod listen;
mod log;
mod metrics;
mod role;
mod route;
mod run;
mod serve;
mod shelf;
mod tls;
mod upload;
mod work;

pub use access::{Access, Token, TokenError};
pub use config::{Config, Limits, Listen};
pub use document::document;
pub use error::{ApiError, Kind};
pub use log::{Line, Log, log_panics};
pub use role::{NoRole, Role};
pub use run::{Attached, Equipped, ModelQuery, Order, Shown, Workshop};
pub use serve::{Address, Home, ServeError, Server, Stop};
pub use tls::{Tls, TlsError};
