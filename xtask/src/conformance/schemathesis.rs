//! schemathesis, which nobody here wrote, against `ramus serve`: it reads the description that the server serves and sends
//! what that allows, and what it does not. No answer may be a failure of the server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::pypi::Package;
use super::ramus::Ramus;
use super::{Extent, Row, Scope, Verdict};
use crate::process::{self, Ended};

const PACKAGE: Package =
    Package { name: "schemathesis", extra: "", version: "4.32.5", program: "st", variable: "SCHEMATHESIS_DIR" };

const PROGRAM: &str = "schemathesis";
const CASE: &str = "server/every route";

/// What lets it in.
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(1800);

/// Has every route asked. Where it cannot be installed, that is skipped.
pub(super) fn judge(ramus: &Ramus, scope: &Scope, show: &mut impl FnMut(Row)) -> Result<()> {
    if !scope.covers(CASE) {
        return Ok(());
    }
    let judgement = match PACKAGE.installed() {
        Ok(program) => asked(ramus, &mut Command::new(program), scope),
        Err(reason) => Ok((Verdict::Skipped, format!("{reason:#}"))),
    };
    show(Row::of(CASE, PROGRAM, judgement));
    Ok(())
}

fn asked(ramus: &Ramus, command: &mut Command, scope: &Scope) -> Result<(Verdict, String)> {
    let server = Server::start(ramus)?;
    let examples = if scope.extent == Extent::Full { "100" } else { "4" };
    command.arg("run").arg(format!("{}/openapi.json", server.address));
    command.args(["--header", &format!("Authorization: Bearer {TOKEN}"), "--checks", "not_a_server_error"]);
    // Sessions that it made up are not there, so nothing it asks for touches a file outside the home; streams do not end.
    command.args(["--phases", "examples,coverage,fuzzing", "--exclude-path-regex", "events$"]);
    command.args(["--max-examples", examples, "--seed", "1", "--no-color"]).current_dir(ramus.folder());
    let Ended::Itself(output) = process::within(LIMIT, command)? else {
        bail!("it does not come to an end");
    };
    let said = output.stdout.lines().find(|line| line.contains(" generated, ")).unwrap_or_default().trim().to_owned();
    ensure!(output.status.success() && !said.is_empty(), "{}\n{}", output.stdout.trim(), output.stderr.trim());
    Ok((Verdict::Same, format!("requests: {said}")))
}

/// A server that ends with this.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(ramus: &Ramus) -> Result<Self> {
        let mut command = ramus.command();
        command.args(["serve", "--port", "0", "--json"]).env("RAMUS_TOKEN", TOKEN);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start ramus serve")?;
        let out = child.stdout.take();
        let mut server = Self { child, address: String::new() };
        let mut line = String::new();
        BufReader::new(out.context("the server has no output")?).read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line).with_context(|| format!("the server says {line:?}"))?;
        server.address = ready.get("address").and_then(Value::as_str).context("the server has no address")?.to_owned();
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
