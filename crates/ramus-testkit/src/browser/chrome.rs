//! Starting Chromium, opening pages, looking at them.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::PATIENCE;
use super::protocol::{BrowserError, Protocol};
use super::socket::Socket;

/// Names that Chromium goes by.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A browser with one page, which ends with this value.
pub struct Browser {
    pub(super) protocol: Protocol,
    process: Child,
    profile: TempDir,
}

impl Browser {
    /// Starts a browser; none when this machine has none.
    pub fn start() -> Result<Option<Self>, BrowserError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = std::env::split_paths(&path).flat_map(|directory| NAMES.map(|name| directory.join(name)));
        let Some(program) = program.into_iter().find(|program| program.is_file()) else { return Ok(None) };
        let profile = tempfile::tempdir()?;
        let process = Command::new(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"])
            .args(["--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--disable-default-apps", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            // What it leaves when it is ended goes with the profile.
            .env("TMPDIR", profile.path())
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut process = Started(Some(process));
        let (port, path) = address(profile.path())?;
        let mut protocol = Protocol::new(Socket::connect(port, &path)?);
        let target = protocol.command("Target.createTarget", json!({"url": "about:blank"}))?;
        let attach = json!({"targetId": target.get("targetId"), "flatten": true});
        let attached = protocol.command("Target.attachToTarget", attach)?;
        protocol.attach(attached.get("sessionId").and_then(Value::as_str).unwrap_or_default());
        for domain in ["Page", "Runtime", "Network", "Log"] {
            protocol.command(&format!("{domain}.enable"), json!({}))?;
        }
        let process = process.0.take().ok_or_else(|| io::Error::other("the browser did not start"))?;
        let mut browser = Self { protocol, process, profile };
        browser.emulate_network(true)?;
        Ok(Some(browser))
    }

    /// Opens a file and waits until it is loaded. What happened before is forgotten.
    pub fn open(&mut self, file: &Path, fragment: &str) -> Result<(), BrowserError> {
        self.visit(&format!("file://{}{fragment}", file.display()))
    }

    /// Opens an address and waits until it is loaded. What happened before is forgotten.
    pub fn visit(&mut self, url: &str) -> Result<(), BrowserError> {
        // Going to another place of the same page would load nothing.
        self.protocol.events.clear();
        self.protocol.command("Page.navigate", json!({"url": "about:blank"}))?;
        self.protocol.wait_for("Page.loadEventFired")?;
        self.protocol.events.clear();
        self.protocol.command("Page.navigate", json!({"url": url}))?;
        self.protocol.wait_for("Page.loadEventFired")
    }

    /// Lets pages reach the network, which they do not otherwise.
    pub fn go_online(&mut self) -> Result<(), BrowserError> {
        self.emulate_network(false)
    }

    fn emulate_network(&mut self, offline: bool) -> Result<(), BrowserError> {
        let conditions = json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        self.protocol.command("Network.emulateNetworkConditions", conditions).map(drop)
    }

    /// Evaluates an expression in the page and returns its value.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value, BrowserError> {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.protocol.command("Runtime.evaluate", params)?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            return Err(BrowserError::Refused { method: expression.to_owned(), reason: thrown.to_string() });
        }
        Ok(answer.pointer_mut("/result/value").map(Value::take).unwrap_or_default())
    }

    /// Returns the addresses that the page asked for, its own included.
    pub fn requests(&self) -> Vec<String> {
        let sent = self.protocol.events.iter().filter(|event| is(event, "Network.requestWillBeSent"));
        sent.filter_map(|event| event.pointer("/params/request/url")?.as_str().map(str::to_owned)).collect()
    }

    /// Returns what the page complained about: errors of scripts, things its policy did not let happen.
    pub fn complaints(&self) -> Vec<String> {
        let said = self.protocol.events.iter().filter(|event| {
            is(event, "Runtime.exceptionThrown")
                || is(event, "Log.entryAdded")
                || is(event, "Page.javascriptDialogOpening")
        });
        said.map(ToString::to_string).collect()
    }

    /// Sets the size of the page and whether it is shown in the dark.
    pub fn look(&mut self, width: u32, height: u32, is_dark: bool) -> Result<(), BrowserError> {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.protocol.command("Emulation.setDeviceMetricsOverride", size)?;
        let scheme = if is_dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.protocol.command("Emulation.setEmulatedMedia", media)?;
        Ok(())
    }

    /// Returns how many bytes of memory the process of the page has for itself: what the browser's own list of tasks shows.
    pub fn memory(&self) -> Result<u64, BrowserError> {
        let profile = self.profile.path().display().to_string();
        let mut most = 0;
        for process in fs::read_dir("/proc")?.flatten() {
            let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command);
            if command.contains("--type=renderer") && command.contains(&profile) {
                let sizes = fs::read_to_string(process.path().join("smaps_rollup")).unwrap_or_default();
                most = most.max(sizes.lines().filter(|line| line.starts_with("Private_")).filter_map(kilobytes).sum());
            }
        }
        if most == 0 {
            return Err(io::Error::other("no process of the page was found").into());
        }
        Ok(most * 1024)
    }

    /// Writes what can be seen to a PNG file.
    pub fn screenshot(&mut self, file: &Path) -> Result<(), BrowserError> {
        let answer = self.protocol.command("Page.captureScreenshot", json!({"format": "png"}))?;
        let data = answer.get("data").and_then(Value::as_str).unwrap_or_default();
        Ok(fs::write(file, STANDARD.decode(data).map_err(io::Error::other)?)?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may be gone already; either way it is not ours any more.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A process that ends when starting it did not work out.
struct Started(Option<Child>);

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(process) = &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Reads a line such as `Private_Dirty:  1024 kB`.
fn kilobytes(line: &str) -> Option<u64> {
    line.split_whitespace().nth(1)?.parse().ok()
}

fn is(event: &Value, method: &str) -> bool {
    event.get("method").and_then(Value::as_str) == Some(method)
}

/// Waits until the browser has written down where it listens.
#[expect(clippy::disallowed_methods, reason = "the browser tells nobody when it has written the file")]
fn address(profile: &Path) -> Result<(u16, String), BrowserError> {
    let began = Instant::now();
    let file = profile.join("DevToolsActivePort");
    while began.elapsed() < PATIENCE {
        let text = fs::read_to_string(&file).unwrap_or_default();
        if let Some((port, path)) = text.split_once('\n')
            && let (Ok(port), false) = (port.parse(), path.is_empty())
        {
            return Ok((port, path.trim().to_owned()));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Err(io::Error::from(io::ErrorKind::TimedOut).into())
}
