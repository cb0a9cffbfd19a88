//! `history`: what was asked before.

use std::path::PathBuf;

use clap::Args;
use ramus_catalogue::HistoryQuery;
use ramus_model::time;
use serde_json::Value;

use crate::cli::how_many;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::table::directory;
use crate::render::{Answer as _, Text, clean, quantity, style};

const EXAMPLES: &str = "\
Newest first. The words of QUERY must all be in a prompt, each anywhere in it, in upper or lower case. Prompts stay when \
their session is deleted, unless `ramus delete --history` is told to forget them.

Examples:
  ramus history
  ramus history 'parse header' --here
  ramus history --limit 1 --json | jq -r '.prompts[0].prompt'";

/// How many prompts are shown when nobody says.
const SHOWN: usize = 20;

const AGE: usize = 10;
const WIDEST_DIRECTORY: usize = 30;

/// Find what was asked before
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct History {
    /// Words to look for
    query: Vec<String>,
    /// Show at most so many
    #[arg(long, value_name = "N", value_parser = how_many, default_value_t = SHOWN)]
    limit: usize,
    /// Show only what was asked in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "here")]
    cwd: Option<PathBuf>,
    /// Show only what was asked in the current directory
    #[arg(long)]
    here: bool,
}

impl History {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let cwd = match &self.cwd {
            Some(cwd) => Some(invocation.directory(cwd)?),
            None => self.here.then(|| invocation.cwd.clone()),
        };
        let text = self.query.join(" ");
        let answer = match invocation.remote() {
            Some(remote) => {
                let request = remote.get(&["history"]).query("q", &text).maybe("cwd", cwd.as_ref());
                remote.answer(request.query("limit", self.limit.to_string()))?
            }
            None => {
                let query = HistoryQuery { text, cwd: cwd.clone(), limit: self.limit };
                let prompts = invocation.engine.prompts(&query)?;
                ramus_wire::search::prompts(&prompts)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let prompts = answer.items("prompts");
            let mut text = Text::new();
            if prompts.is_empty() {
                text.plain(if self.query.is_empty() { "nothing was asked yet" } else { "no such prompt" }).end();
            }
            let width = invocation.screen.width();
            prompts.iter().for_each(|prompt| line(&mut text, prompt, cwd.is_none(), width));
            invocation.screen.text(&text)?;
        }
        Ok(Exit::Done)
    }
}

/// One prompt on one line: when, what, and where.
fn line(text: &mut Text, prompt: &Value, tells_directory: bool, width: usize) {
    let directory = directory(prompt.word("cwd"));
    let place = clean::cut(&directory, WIDEST_DIRECTORY);
    let room = if tells_directory { width.saturating_sub(place.chars().count() + 2) } else { width };
    text.padded(style::DIM, &quantity::ago(time::parse(prompt.word("created")).unwrap_or_default()), AGE).plain("  ");
    text.cut(style::NONE, prompt.word("prompt").trim(), room.max(AGE + 22));
    if tells_directory {
        text.plain("  ").styled(style::DIM, &place);
    }
    text.end();
}
