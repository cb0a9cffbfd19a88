//! The strict model server for scripts: it says where it listens on the first line of stdout, and serves until it is ended.
#![allow(clippy::print_stdout, reason = "stdout is how scripts are told")]

use std::io::Write as _;

use anyhow::{Context as _, Result, bail};
use ramus_testkit::model_server::{Keys, ModelServer, Plan};

const USAGE: &str = "\
usage: modelserver [--port PORT] [--plan FILE] [--key KEY | --no-key] [--model NAME]...

Without a plan every answer is the last text of the user. A plan is JSON:
  {\"replies\": [{\"parts\": [{\"thinking\": [\"…\"]}, {\"text\": [\"a\", \"b\"]},
                           {\"call\": {\"name\": \"bash\", \"arguments\": {}}}],
                \"finish\": \"length\", \"fault\": {\"cut\": {\"at\": 100}}}],
   \"then\": \"echo\", \"models\": [\"small\"]}";

fn main() -> Result<()> {
    let mut port = 0;
    let mut keys = Keys::Any;
    let mut plan = Plan::echo();
    let mut models = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value\n{USAGE}"));
        match word.as_str() {
            "--port" => port = value()?.parse().context("a port is a number")?,
            "--plan" => {
                let path = value()?;
                let text = std::fs::read(&path).with_context(|| format!("reading {path}"))?;
                plan = serde_json::from_slice(&text).with_context(|| format!("{path} is no plan"))?;
            }
            "--key" => keys = Keys::Only(value()?),
            "--no-key" => keys = Keys::Unneeded,
            "--model" => models.push(value()?),
            _ => bail!("{USAGE}"),
        }
    }
    if !models.is_empty() {
        plan = plan.with_models(models);
    }
    let server = ModelServer::start_on(port, keys, plan).context("starting")?;
    println!("http://{}", server.address());
    std::io::stdout().flush()?;
    server.serve();
    Ok(())
}
