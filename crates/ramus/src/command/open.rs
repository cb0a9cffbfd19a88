//! `open`: the web view, in a browser.

use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use clap::Args;
use ramus_server::{Address, ServeError};
use serde_json::json;

use super::serve::{Keys, PORT, Serve, Whereabouts};
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::providers::variable;
use crate::render::{Text, json as shape};

const EXAMPLES: &str = "\
Shows every session of this home: read, search, go back, branch, compare, run, share. When a server of this home runs already \
it is used; otherwise one is started here, and ends with Ctrl-C. The browser is logged in by a page in the home that only you \
can read; without a browser, the address is printed, and whoever has it can log in.

Examples:
  ramus open
  ramus open last
  ramus open --no-browser";

/// Show all sessions in a browser
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Open {
    /// The session to show, and perhaps an entry of it
    #[arg(value_name = "SESSION[@ENTRY]")]
    session: Option<String>,
    /// The port, when a server is started; 0 for any that is free [default: 7347, or any that is free]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Print the address, and open nothing
    #[arg(long)]
    no_browser: bool,
}

impl Open {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let place = match &self.session {
            None => String::new(),
            Some(argument) => {
                let (session, entry) = invocation.session_and_entry(argument)?;
                let entry = entry.map(|seq| format!("%26e%3D{}", seq.number())).unwrap_or_default();
                format!("&to=%3Fs%3D{}{entry}", escaped(&escaped(session.id().as_str())))
            }
        };
        invocation.home.make()?;
        let keys = Keys::of(invocation, None)?;
        let login = |address: &str, keys: &Keys| format!("{address}/login#token={}{place}", keys.token().reveal());
        let running = Whereabouts::find(invocation.home.root()).context("cannot tell whether a server runs")?;
        if let Some(address) = running {
            let keys = keys.kept(&invocation.home)?;
            self.show(invocation, &address, &login(&address, &keys))?;
            return Ok(Exit::Done);
        }
        let ready = |invocation: &mut Invocation<'_>, address: &Address, keys: &Keys| {
            let address = address.to_string();
            self.show(invocation, &address, &login(&address, keys))
        };
        let serve = |invocation: &mut Invocation<'_>, port| {
            let here = Serve::here(port);
            let config = here.config(invocation)?;
            here.serve(invocation, config, keys.clone(), ready)
        };
        match (self.port, serve(invocation, self.port.unwrap_or(PORT))) {
            (None, Err(error)) if is_taken(&error) => serve(invocation, 0),
            (_, result) => result,
        }
    }

    /// Opens the browser, or says what to open.
    fn show(&self, invocation: &mut Invocation<'_>, address: &str, login: &str) -> anyhow::Result<()> {
        let browser = if self.no_browser { None } else { browser() };
        let is_open = match browser {
            Some(browser) => {
                let page = door(invocation.home.root(), login).context("cannot write the page that logs you in")?;
                start(&browser, &page).is_ok()
            }
            None => false,
        };
        let screen = &mut invocation.screen;
        if screen.wants_json() {
            screen.json(shape::members(
                json!({"type": "open", "address": address, "login": login, "browser": is_open}),
            ))?;
        } else if is_open {
            let mut text = Text::new();
            screen.note(text.plain(&format!("opened {address} in a browser")).end())?;
        } else {
            let mut text = Text::new();
            screen.text(text.plain(login).end())?;
        }
        screen.flush()
    }
}

/// Says whether a server could not listen because another program does.
fn is_taken(error: &anyhow::Error) -> bool {
    let source = match error.downcast_ref::<ServeError>() {
        Some(ServeError::Listen { source, .. }) => source,
        _ => return false,
    };
    source.kind() == io::ErrorKind::AddrInUse
}

/// Finds the program that opens pages: what BROWSER names, or what the desktop has.
fn browser() -> Option<String> {
    if let Some(named) = variable("BROWSER").filter(|name| !name.is_empty()) {
        return Some(named);
    }
    if cfg!(target_os = "macos") {
        return Some("open".to_owned());
    }
    let has_desktop =
        ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(|name| variable(name).is_some_and(|v| !v.is_empty()));
    has_desktop.then(|| "xdg-open".to_owned())
}

/// Writes a page that leads to the login. Every user of a machine sees the arguments of programs, so the address is none.
fn door(home: &Path, login: &str) -> io::Result<PathBuf> {
    let path = home.join("open.html");
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let login = login.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    writeln!(
        file,
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><title>ramus</title>\
         <meta http-equiv=\"refresh\" content=\"0;url={login}\"><a href=\"{login}\">ramus</a>"
    )?;
    Ok(path)
}

/// Starts a browser and lets it be.
fn start(browser: &str, page: &Path) -> io::Result<()> {
    let mut command = Command::new(browser);
    let mut child = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    // Somebody must take note of its end.
    std::thread::Builder::new().name("browser".into()).spawn(move || child.wait()).map(drop)
}

/// Writes a name so that it can stand in an address.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
