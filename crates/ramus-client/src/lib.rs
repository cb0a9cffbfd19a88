//! A client of `ramus serve`: everything under `/api/v1`, for programs that build on sessions.
//!
//! ```no_run
//! use ramus_client::{Address, Client, NewSession, Order, Token};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let address: Address = "http://127.0.0.1:7347".parse()?;
//! let client = Client::new(&address, Some(Token::new(std::env::var("RAMUS_TOKEN")?)))?;
//! let made = client.create(&NewSession { title: Some("Tidy up".into()), ..NewSession::default() }).await?;
//! let session = client.session(&made.id);
//! let mut turn = session.run(&Order::saying("what does this project do?")).await?;
//! while let Some(event) = turn.next().await? {
//!     match event.name.as_str() {
//!         "message.delta" => print!("{}", event.text("text")),
//!         "permission.asked" => turn.deny(event.text("call"), Some("not now")).await?,
//!         _ => {}
//!     }
//! }
//! for hit in client.search("parser").await?.hits {
//!     println!("{}@{}: {}", hit.session, hit.entry.unwrap_or_default(), hit.snippet);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Answers have the shapes of the commands with `--json`. What a type here does not name is in [`Answer`], which every
//! request gives; [`Client::ask`] reaches every route.
//!
//! The invariants: the token goes to the server that was named and nowhere else (redirects are not followed), it is in no
//! error and no debug output; nothing that was sent is sent again unless it is safe to.

mod address;
mod answer;
mod client;
mod error;
mod events;
mod request;
mod session;
mod shape;
mod token;
mod trust;
mod turn;
mod upload;

pub use address::{Address, Located};
pub use answer::Answer;
pub use client::{Client, Options};
pub use error::{Error, Refusal};
pub use events::{Event, Events};
pub use request::Request;
pub use reqwest::Method;
pub use session::Session;
pub use shape::{Appended, Hit, Hits, Listing, Made, NewSession, Order, SessionInfo, WhenBusy, Written};
pub use token::Token;
pub use turn::{Handle, Turn};
