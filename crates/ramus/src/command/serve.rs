//! `serve`: answers over HTTP until it is stopped.

mod address;
mod files;
mod reread;
mod token;
mod whereabouts;
mod workshop;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use ramus_model::time;
use ramus_server::{Address, Config, Home, Limits, Line, Listen, Log, ServeError, Server, Tls, TlsError, log_panics};
use serde_json::json;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::redaction;
use crate::render::{Text, json as shape, style};
pub(super) use token::Keys;
use token::Origin;
pub(super) use whereabouts::Whereabouts;
use workshop::Bench;

/// Where the server listens when nobody says.
const LOCAL: &str = "127.0.0.1";
pub(super) const PORT: u16 = 7347;

const EXAMPLES: &str = "\
The server answers under /api/v1 with what the commands print with --json; GET /openapi.json describes it. It listens to \
this machine only, unless --expose is given. Every request needs the token: `Authorization: Bearer TOKEN`. The token is \
RAMUS_TOKEN, the first line of --token-file, or one that is made at the first start and kept in the home. Further lines of \
--token-file, `OWNER TOKEN [ROLE] [expires=TIME]`, let others in, for the sessions of that owner and no others. Whose role is \
view may look, prompt have turns run too, approve answer what they ask and change files too, admin do everything; a line without \
a role is one of admin. When the file changes, it is read again.

When the server is ready it prints one line on stdout. Ctrl-C or SIGTERM ends it: streams end, turns are cancelled, and \
everything that was acknowledged stays. That takes up to ten seconds; a second one ends it at once.

Examples:
  ramus serve
  ramus serve --port 0 --json
  ramus serve --socket /run/user/1000/ramus.sock
  ramus serve --host 0.0.0.0 --expose --tls-cert cert.pem --tls-key key.pem --allow-host build.example
  ramus --server http://127.0.0.1:7347 list --all
  curl -H \"Authorization: Bearer $RAMUS_TOKEN\" http://127.0.0.1:7347/api/v1/sessions";

/// Answer over HTTP
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Serve {
    /// The port; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = PORT)]
    port: u16,
    /// The address to listen to, or its name
    #[arg(long, value_name = "ADDR", default_value = LOCAL)]
    host: String,
    /// Listen to a socket in the file system instead
    #[arg(long, value_name = "PATH", conflicts_with_all = ["port", "host", "expose"])]
    socket: Option<PathBuf>,
    /// Listen also where other machines can reach it; nothing is encrypted without --tls-cert
    #[arg(long)]
    expose: bool,
    /// Answer under this name too, `https://NAME` behind a proxy that encrypts; may be given several times
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Encrypt, with this certificate and those behind it in the file (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with = "socket")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Print the login URL, also when the token is not new
    #[arg(long)]
    login: bool,
    /// Write a line about every request to stderr
    #[arg(long)]
    log_requests: bool,
    /// Let a script answer in the place of models
    #[arg(long, value_name = "FILE", hide = true)]
    script: Option<PathBuf>,
}

impl Serve {
    /// A server for this machine alone.
    pub(super) fn here(port: u16) -> Self {
        Self {
            port,
            host: LOCAL.to_owned(),
            socket: None,
            expose: false,
            allow_host: Vec::new(),
            tls_cert: None,
            tls_key: None,
            login: false,
            log_requests: false,
            script: None,
        }
    }

    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let config = self.config(invocation)?;
        let keys = Keys::of(invocation, invocation.token_file.as_deref())?;
        self.serve(invocation, config, keys, |_, _, _| Ok(()))
    }

    /// Answers until it is stopped. `ready` is told where and with which keys, once it listens.
    pub(super) fn serve(
        &self,
        invocation: &mut Invocation<'_>,
        config: Config,
        keys: Keys,
        ready: impl FnOnce(&mut Invocation<'_>, &Address, &Keys) -> anyhow::Result<()>,
    ) -> anyhow::Result<Exit> {
        // What comes in must not name what is not its sender's, turns included.
        invocation.engine = invocation.engine.clone().confined().with_client("http");
        let access = keys.access();
        let home = Home {
            durability: invocation.home.durability()?,
            prices: invocation.prices()?,
            directory: invocation.cwd.clone(),
            access: access.clone(),
            workshop: Arc::new(Bench::new(invocation, self.script.clone())),
            log: Log::new(write_log),
            engine: invocation.engine.clone(),
        };
        // What fails without an answer is written down like what fails with one.
        log_panics(Log::new(write_log), redaction::redactor(invocation.home.settings()));
        files::allow(config.limits.connections);
        let runtime =
            Builder::new_multi_thread().enable_all().build().context("cannot start what the server runs on")?;
        let served = runtime.block_on(async {
            let server = Server::bind(config, home).await.map_err(refused)?;
            // A token that is new is told once, so it is kept only by a server that listens.
            let keys = keys.kept(&invocation.home)?;
            access.replace(&keys.access());
            // Whoever opens the view finds the server by this; one that cannot be found answers all the same.
            let _here = Whereabouts::tell(invocation.home.root(), &server.address().to_string()).ok().flatten();
            self.tell(invocation, server.address(), &keys)?;
            ready(invocation, server.address(), &keys)?;
            let stop = server.stopper();
            let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
            // The first one has the server end, and whoever cannot wait for that sends another.
            let hurried = async {
                for _ in 0..2 {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    stop.stop();
                }
            };
            let rereading = tokio::spawn(reread::follow(keys, access));
            tokio::select! {
                () = server.run() => {}
                () = hurried => {}
            }
            rereading.abort();
            anyhow::Ok(())
        });
        // What still runs was told to stop; nobody waits for it any longer.
        runtime.shutdown_background();
        served?;
        Ok(Exit::Done)
    }

    /// What the options ask for.
    pub(super) fn config(&self, invocation: &Invocation<'_>) -> anyhow::Result<Config> {
        let listen = match &self.socket {
            Some(path) => Listen::Unix(path.clone()),
            None => Listen::Tcp(address::of(&self.host, self.port, self.expose)?),
        };
        self.allow_host.iter().try_for_each(|name| check_name(name))?;
        Ok(Config {
            tls: self.tls()?,
            listen,
            // Whoever names the address asks for it under that name.
            hosts: self
                .allow_host
                .iter()
                .map(String::as_str)
                .chain(address::name(&self.host))
                .map(str::to_owned)
                .collect(),
            exposed: self.expose,
            log_requests: self.log_requests,
            limits: Limits { upload: invocation.home.settings().largest_upload(), ..Limits::default() },
            workspaces: Some(workspaces(invocation)?),
        })
    }

    /// Reads what connections are encrypted with.
    fn tls(&self) -> anyhow::Result<Option<Tls>> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else { return Ok(None) };
        let read = |path: &PathBuf| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        let unusable = |error: TlsError| {
            let file = if matches!(error, TlsError::Key(_)) { key } else { certificate };
            Refusal::usage(format!("{}: {error}", file.display()))
                .hint("both are PEM files: -----BEGIN CERTIFICATE-----, and -----BEGIN PRIVATE KEY-----")
        };
        Ok(Some(Tls::from_pem(&read(certificate)?, &read(key)?).map_err(unusable)?))
    }

    /// Says that the server is ready, and how to come in when that is new.
    fn tell(&self, invocation: &mut Invocation<'_>, address: &Address, keys: &Keys) -> anyhow::Result<()> {
        let screen = &mut invocation.screen;
        let is_new = matches!(keys.origin(), Origin::New(_));
        let login = match address {
            Address::Tcp(_) | Address::Tls(_) if is_new || self.login => {
                Some(format!("{address}/login#token={}", keys.token().reveal()))
            }
            _ => None,
        };
        if screen.wants_json() {
            let kept = match keys.origin() {
                Origin::Environment => None,
                Origin::New(path) | Origin::Kept(path) => Some(path),
            };
            let ready = json!({"type": "ready", "address": address.to_string(), "token_file": kept, "login": login});
            screen.json(shape::members(ready))?;
            screen.flush()?;
            return Ok(());
        }
        let mut text = Text::new();
        text.plain("listening on ").styled(style::BOLD, &address.to_string()).end();
        screen.text(&text)?;
        screen.flush()?;
        if let Some(login) = login {
            let mut text = Text::new();
            text.plain("log in with a browser: ").plain(&login).end();
            screen.note(&text)?;
        }
        if let Origin::New(path) | Origin::Kept(path) = keys.origin() {
            let mut text = Text::new();
            text.styled(style::DIM, &format!("the token is kept in {}", path.display())).end();
            screen.note(&text)?;
        }
        screen.flush()?;
        Ok(())
    }
}

/// Refuses what no browser could ask for.
fn check_name(name: &str) -> anyhow::Result<()> {
    let host = match name.split_once("://") {
        Some(("http" | "https", host)) => host.strip_suffix('/').unwrap_or(host),
        Some(_) => "",
        None => name,
    };
    if host.is_empty() || host.contains(['/', '?', '#', '@', '*']) {
        let wrong = Refusal::usage(format!("--allow-host {name:?} is no name of a server"));
        return Err(wrong.hint("a name is build.example, build.example:8443 or https://build.example").into());
    }
    Ok(())
}

/// Where sessions of clients get directories of their own: what the settings say, or beside the home.
fn workspaces(invocation: &Invocation<'_>) -> anyhow::Result<PathBuf> {
    let (named, _) = invocation.home.settings().get("workspaces")?;
    if !named.is_empty() {
        return Ok(PathBuf::from(&invocation.cwd).join(named));
    }
    let home = PathBuf::from(&invocation.cwd).join(invocation.home.root());
    let mut name = home.file_name().unwrap_or_default().to_owned();
    name.push("-workspaces");
    Ok(home.with_file_name(name))
}

fn refused(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::Exposed(_) => Refusal::usage(error.to_string())
            .hint(
                "--expose allows it; whoever sees the traffic sees the token, so encrypt it with --tls-cert and --tls-key",
            )
            .into(),
        error @ ServeError::Listen { .. } => anyhow::Error::new(error),
        ServeError::Unsettled(error) => error.into(),
    }
}

/// Writes a line about the server. When stderr is gone there is nobody to tell.
fn write_log(line: &Line) {
    let mut object = line.to_json();
    if let Some(members) = object.as_object_mut() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        members.insert("time".into(), time::format(now).into());
    }
    let _ = writeln!(io::stderr().lock(), "{object}");
}
