//! A client: one server, one token, one pool of connections.

use std::fs::File;
use std::time::Duration;

use reqwest::{ClientBuilder, Method, Url, redirect};

use crate::address::Address;
use crate::answer::Answer;
use crate::error::Error;
use crate::events::Events;
use crate::request::Request;
use crate::session::Session;
use crate::shape::{Hits, Listing, Made, NewSession};
use crate::token::Token;
use crate::trust::trusting;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// How long nothing may come. The server answers within a minute, and streams show every ten seconds that they are alive.
const SILENCE: Duration = Duration::from_secs(90);

/// How a client is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Certificates to trust, as PEM, beside those that the system does: authorities, and those of servers themselves.
    pub certificates: Option<Vec<u8>>,
    /// How long nothing may come before the server is given up.
    pub patience: Option<Duration>,
    /// What the program is called: sessions record it with what is done to them. Without a name they record `http`.
    pub surface: Option<String>,
}

/// A client of one server. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) base: Url,
    /// What the server is called in what is told.
    pub(crate) name: String,
    pub(crate) token: Option<Token>,
    address: Address,
    options: Options,
}

impl Client {
    /// Makes a client. Nothing is sent yet.
    pub fn new(address: &Address, token: Option<Token>) -> Result<Self, Error> {
        Self::with(address, token, &Options::default())
    }

    /// Makes a client with options.
    pub fn with(address: &Address, token: Option<Token>, options: &Options) -> Result<Self, Error> {
        let http = made(connecting(address, options)?.read_timeout(options.patience.unwrap_or(SILENCE)))?;
        let (address, options) = (address.clone(), options.clone());
        Ok(Self { http, base: address.base()?, name: address.to_string(), token, address, options })
    }

    /// Makes what uploads are sent with. An answer comes when all of it was sent, however long that takes, so nothing but the
    /// upload can tell what silence is.
    pub(crate) fn uploading(&self) -> Result<reqwest::Client, Error> {
        made(connecting(&self.address, &self.options)?)
    }

    /// Returns what the program is called.
    pub(crate) fn surface(&self) -> Option<&str> {
        self.options.surface.as_deref()
    }

    /// Returns how long nothing may happen before the server is given up.
    pub(crate) fn patience(&self) -> Duration {
        self.options.patience.unwrap_or(SILENCE)
    }

    /// Returns what the server is called in what is told.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Asks any route: `ask(Method::GET, &["sessions", id, "tree"])`. The parts are names, whatever is in them.
    pub fn ask(&self, method: Method, parts: &[&str]) -> Request<'_> {
        Request::new(self, method, parts)
    }

    /// Returns what can be done with one session. Nothing is sent.
    pub fn session(&self, id: impl Into<String>) -> Session<'_> {
        Session { client: self, id: id.into() }
    }

    /// Says whether a ramus server is there, and of which version. Needs no token.
    pub async fn health(&self) -> Result<Answer, Error> {
        Request::at(self, Method::GET, "/health").answer().await
    }

    /// Lists sessions, a hundred at a time; `query` are the parameters of the route, such as `("cwd", "/srv/shop")`.
    pub async fn list(&self, query: &[(&str, &str)]) -> Result<Listing, Error> {
        let request =
            query.iter().fold(self.ask(Method::GET, &["sessions"]), |it, (name, value)| it.query(name, value));
        request.answer().await?.read()
    }

    /// Finds the whole id of a session: of `last`, the most recent one of `cwd`, or of the beginning of an id.
    pub async fn resolve(&self, name: &str, cwd: Option<&str>) -> Result<String, Error> {
        let answer = self.ask(Method::GET, &["resolve"]).query("name", name).maybe("cwd", cwd).answer().await?;
        let server = self.name.clone();
        let missing = || Error::Stranger { server, reason: "it names no session".into() };
        answer.get("session").and_then(|id| id.as_str()).map(str::to_owned).ok_or_else(missing)
    }

    /// Makes a session.
    pub async fn create(&self, new: &NewSession) -> Result<Made, Error> {
        #[derive(serde::Deserialize)]
        struct Created {
            session: Made,
        }
        let answer = self.ask(Method::POST, &["sessions"]).json(new).answer().await?;
        answer.read().map(|Created { session }| session)
    }

    /// Finds entries by their words.
    pub async fn search(&self, query: &str) -> Result<Hits, Error> {
        self.ask(Method::GET, &["search"]).query("q", query).answer().await?.read()
    }

    /// Watches all sessions from now on, or from behind the event with this id.
    pub fn events(&self, after: Option<String>) -> Events {
        Events::new(self, &["events"], after)
    }

    /// Sends a bundle for its sessions to be taken in, from where the file stands to its end.
    pub async fn import(&self, bundle: File, dry_run: bool, as_new: bool) -> Result<Answer, Error> {
        let request = self.ask(Method::POST, &["import"]).flag("dry_run", dry_run).flag("as_new", as_new);
        request.file(bundle)?.answer().await
    }
}

/// What every connection is made with.
fn connecting(address: &Address, options: &Options) -> Result<ClientBuilder, Error> {
    let mut builder = reqwest::Client::builder()
        // Whoever sends us elsewhere must not get the token.
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .http1_only();
    if address.is_loopback() {
        builder = builder.no_proxy();
    }
    if let Address::Unix(path) = address {
        builder = builder.unix_socket(path.as_path());
    }
    if let Some(pem) = &options.certificates {
        builder = builder.tls_backend_preconfigured(trusting(pem)?);
    }
    Ok(builder)
}

fn made(builder: ClientBuilder) -> Result<reqwest::Client, Error> {
    builder.build().map_err(|error| Error::Setup(format!("cannot make a client: {error}")))
}
