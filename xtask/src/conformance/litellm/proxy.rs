//! The gateway as a process: installed from PyPI into a folder of its own, started on loopback, ended with its owner.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use crate::conformance::pypi::Package;

/// The release that judges.
pub(in crate::conformance) const VERSION: &str = "1.106.2";

const PACKAGE: Package =
    Package { name: "litellm", extra: "[proxy]", version: VERSION, program: "litellm", variable: "LITELLM_DIR" };

/// The key that the gateway wants.
pub(super) const KEY: &str = "sk-ramus";

/// How long it may take until it answers: it loads half of PyPI first.
const PATIENCE: Duration = Duration::from_secs(180);

/// Where requests for a model go.
pub(super) struct Route {
    pub(super) model: String,
    pub(super) upstream: String,
}

/// A gateway that runs.
pub(super) struct Proxy {
    child: Child,
    port: u16,
    /// Goes with it.
    _folder: TempDir,
}

impl Proxy {
    /// Installs the gateway when that has not been done yet, and starts it.
    pub(super) fn start(routes: &[&Route]) -> Result<Self> {
        let program = PACKAGE.installed()?;
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let config = folder.path().join("config.yaml");
        fs::write(&config, configuration(routes)).context("cannot write the configuration")?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut command = Command::new(program);
        command.arg("--config").arg(&config).args(["--host", "127.0.0.1", "--telemetry", "False", "--port"]);
        command.arg(port.to_string()).current_dir(folder.path());
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("NO_PROXY", "*");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().context("cannot start litellm")?;
        let mut proxy = Self { child, port, _folder: folder };
        proxy.wait()?;
        Ok(proxy)
    }

    /// Returns where it listens.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn wait(&mut self) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait()? {
                bail!("litellm ended before it listened ({status})");
            }
            if is_alive(self.port) {
                return Ok(());
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "it says nowhere that it is ready: it can only be asked again"
            )]
            std::thread::sleep(Duration::from_millis(250));
        }
        bail!("litellm does not answer within {} s", PATIENCE.as_secs());
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_alive(port: u16) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        connection.set_read_timeout(Some(Duration::from_secs(5)))?;
        connection.write_all(b"GET /health/liveliness HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

fn configuration(routes: &[&Route]) -> String {
    let mut config = "model_list:\n".to_owned();
    for Route { model, upstream } in routes {
        config += &format!(
            "  - model_name: {model}\n    litellm_params: {{model: hosted_vllm/{model}, api_key: k, api_base: {upstream}/v1}}\n"
        );
    }
    config += "litellm_settings: {telemetry: false, num_retries: 0}\nrouter_settings: {num_retries: 0}\n";
    config + &format!("general_settings: {{master_key: {KEY}}}\n")
}
