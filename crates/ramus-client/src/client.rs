//! A client: one server, one token, one pool of connections.

use std::time::Duration;

use reqwest::{Certificate, Method, Url, redirect};

use crate::address::Address;
use crate::answer::Answer;
use crate::error::Error;
use crate::events::Events;
use crate::request::Request;
use crate::session::Session;
use crate::shape::{Hits, Listing, Made, NewSession};
use crate::token::Token;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// How long nothing may come. The server answers within a minute, and streams show every ten seconds that they are alive.
const SILENCE: Duration = Duration::from_secs(90);

/// How a client is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Certificates to trust, as PEM, beside those that the system does.
    pub certificates: Option<Vec<u8>>,
    /// How long nothing may come before the server is given up.
    pub patience: Option<Duration>,
}

/// A client of one server. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) base: Url,
    /// What the server is called in what is told.
    pub(crate) name: String,
    pub(crate) token: Option<Token>,
}

impl Client {
    /// Makes a client. Nothing is sent yet.
    pub fn new(address: &Address, token: Option<Token>) -> Result<Self, Error> {
        Self::with(address, token, &Options::default())
    }

    /// Makes a client with options.
    pub fn with(address: &Address, token: Option<Token>, options: &Options) -> Result<Self, Error> {
        let mut builder = reqwest::Client::builder()
            // Whoever sends us elsewhere must not get the token.
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT)
            .read_timeout(options.patience.unwrap_or(SILENCE))
            .http1_only();
        if address.is_loopback() {
            builder = builder.no_proxy();
        }
        if let Address::Unix(path) = address {
            builder = builder.unix_socket(path.as_path());
        }
        if let Some(pem) = &options.certificates {
            let unreadable = |error: reqwest::Error| Error::Setup(format!("the certificates are not PEM: {error}"));
            let trusted = Certificate::from_pem_bundle(pem).map_err(unreadable)?;
            if trusted.is_empty() {
                return Err(Error::Setup("there is no certificate to trust: the file has no BEGIN CERTIFICATE".into()));
            }
            builder = builder.tls_certs_merge(trusted);
        }
        let http = builder.build().map_err(|error| Error::Setup(format!("cannot make a client: {error}")))?;
        Ok(Self { http, base: address.base()?, name: address.to_string(), token })
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

    /// Sends a bundle for its sessions to be taken in.
    pub async fn import(&self, bundle: Vec<u8>, dry_run: bool, as_new: bool) -> Result<Answer, Error> {
        self.ask(Method::POST, &["import"]).flag("dry_run", dry_run).flag("as_new", as_new).body(bundle).answer().await
    }
}
