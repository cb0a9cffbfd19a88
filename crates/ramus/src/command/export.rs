//! `export`: a session as a file for other programs.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use crate::failure::{Exit, Refusal};
use crate::file::{self, Access};
use crate::invocation::Invocation;
use crate::render::{Text, json, quantity};

/// The formats of this version.
const FORMATS: [&str; 2] = ["pi", "omp"];

const EXAMPLES: &str = "\
`pi` and `omp` write one version 3 file that stands on its own: entries keep their bytes, and a fork brings along what it \
shares with its origin. Pictures that are kept beside the session are put into their entries. This version has no other formats.

Examples:
  ramus export last --to pi -o session.jsonl
  ramus export 0190 --to omp > session.jsonl";

/// Write a session as a file for other programs
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Export {
    /// The session
    session: String,
    /// The format: pi or omp
    #[arg(long, value_name = "FORMAT", default_value = "json", hide_default_value = true)]
    to: String,
    /// Where to write it; `-` is stdout
    #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
}

impl Export {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if !FORMATS.contains(&self.to.as_str()) {
            let message = format!("this version cannot export to {:?}", self.to);
            return Err(Refusal::unavailable(message).hint("there are --to pi and --to omp").into());
        }
        let session = invocation.session(&self.session)?;
        let bytes = invocation.engine.export(&session)?;
        invocation.mention_damage(session.log(), &self.session)?;
        invocation.mention_missing_blobs(&session.missing_blobs(), &self.session)?;
        if self.output == Path::new("-") {
            invocation.screen.data(&bytes)?;
            return Ok(Exit::Done);
        }
        if session.location().path.as_deref().is_some_and(|path| is_same_file(path, &self.output)) {
            return Err(Refusal::invalid("the session lives in that file; export it to another one").into());
        }
        file::write_whole(&self.output, &bytes, Access::Shared)
            .with_context(|| format!("cannot write {}", self.output.display()))?;
        if invocation.screen.wants_json() {
            let export = json!({
                "session": session.id().as_str(),
                "format": self.to,
                "path": std::path::absolute(&self.output).unwrap_or_else(|_| self.output.clone()),
                "bytes": bytes.len(),
            });
            invocation.screen.json(json::members(json!({"export": export})))?;
        } else {
            let mut text = Text::new();
            let size = quantity::size(bytes.len() as u64);
            text.plain(&format!("wrote {size} to ")).plain(&self.output.display().to_string()).end();
            invocation.screen.note(&text)?;
        }
        Ok(Exit::Done)
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
