//! `share`: a path as a page for others.

mod afar;
pub(super) mod tell;
mod unshare;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use ramus_engine::{Include, ShareOptions};
use ramus_model::time;
use ramus_wire::share as shape;

use crate::failure::{Exit, Refusal};
use crate::file::{self, Access};
use crate::invocation::Invocation;
use crate::redaction;
use crate::render::{Text, style};
pub(crate) use unshare::Unshare;

/// Where `ramus serve` listens when nobody says.
const SERVER: &str = "http://127.0.0.1:7347";

const EXAMPLES: &str = "\
What is shared is the path to the entry, as it is now: no other branch, no system prompt, no directory, nothing of another \
session, and nothing that is said later. Secrets, user names and home directories are taken out of it first; --dry-run lists them. \
`ramus serve` shows the page to whoever has the address; --html writes it to a file as well.

Examples:
  ramus share last --dry-run
  ramus share last@plan --include messages,diffs --expires 12h
  ramus share last --html session.html
  ramus share --list
  ramus unshare last --yes";

/// Share the path to an entry as a page that others can open
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Share {
    /// The entry that the path ends with; the leaf when none is named
    #[arg(value_name = "SESSION[@ENTRY]", required_unless_present = "list")]
    session: Option<String>,
    /// What is in it: messages, diffs, tools, thinking
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "messages,diffs,tools")]
    include: Vec<String>,
    /// How long it can be seen: 30m, 12h, 7d, or never to let it last until it is taken back
    #[arg(long, value_name = "TIME", default_value = "7d")]
    expires: String,
    /// Say what would be shared, and what would be taken out of it
    #[arg(long)]
    dry_run: bool,
    /// Write the page to a file too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Where the server is that shows it
    #[arg(long, value_name = "URL", default_value = SERVER)]
    base: String,
    /// List what is shared
    #[arg(long, conflicts_with_all = ["session", "dry_run", "html"])]
    list: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl Share {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if self.list {
            return tell::list(invocation);
        }
        let include = self.include()?;
        let lifetime = lifetime(&self.expires)?;
        let argument = self.session.as_deref().unwrap_or_default();
        if let Some(remote) = invocation.remote() {
            return self.ask(invocation, &remote, argument, lifetime);
        }
        let (mut session, entry) = invocation.session_and_entry(argument)?;
        let options = ShareOptions { entry, include, lifetime };
        let preview = invocation.engine.preview_share(
            &mut session,
            &options,
            &redaction::redactor(invocation.home.settings()),
        )?;
        if self.dry_run {
            self.write_html(|| preview.page())?;
            return tell::preview(invocation, &preview);
        }
        if !self.yes && !tell::confirm(invocation, &preview)? {
            return Err(Refusal::invalid("nothing was shared").into());
        }
        let shared = invocation.engine.share(&mut session, &options, &preview)?;
        self.write_html(|| preview.page())?;
        invocation.finish(&mut session)?;
        let url = format!("{}/share/{}?secret={}", self.base.trim_end_matches('/'), shared.share.id, shared.secret);
        if invocation.screen.wants_json() {
            invocation.screen.json(shape::made(&shared, &preview, &url, None))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        text.plain(&url).end();
        invocation.screen.text(&text)?;
        let mut told = Text::new();
        tell::summary(&preview, &mut told);
        if let Some(expires) = shared.share.expires {
            told.styled(style::DIM, &format!("it can be seen until {}", time::format(expires))).end();
        }
        if self.html.is_none() {
            told.styled(style::HINT, "`ramus serve` shows it; --html FILE writes the page to a file").end();
        }
        invocation.screen.note(&told)?;
        Ok(Exit::Done)
    }

    fn include(&self) -> anyhow::Result<Include> {
        let known = ["messages", "diffs", "tools", "thinking"];
        if let Some(wrong) = self.include.iter().find(|name| !known.contains(&name.as_str())) {
            let message = format!("{wrong:?} cannot be included");
            return Err(Refusal::usage(message).hint("there are messages, diffs, tools and thinking").into());
        }
        let has = |name: &str| self.include.iter().any(|included| included == name);
        let tools = has("tools");
        Ok(Include { messages: has("messages"), diffs: has("diffs"), tools, thinking: has("thinking"), system: false })
    }

    fn write_html(&self, page: impl FnOnce() -> String) -> anyhow::Result<()> {
        let Some(path) = &self.html else { return Ok(()) };
        let written = file::write_whole(path, page().as_bytes(), Access::Shared);
        written.with_context(|| format!("cannot write {}", path.display()))
    }
}

/// A time that a person writes, in milliseconds; none for never.
fn lifetime(text: &str) -> anyhow::Result<Option<i64>> {
    if text == "never" {
        return Ok(None);
    }
    let wrong = || Refusal::usage(format!("{text:?} is no time")).hint("say 30m, 12h, 7d or never");
    let (number, unit) = text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let factor: i64 = match unit {
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong().into()),
    };
    let number: i64 = number.parse().ok().filter(|number| (1..=36_500).contains(number)).ok_or_else(wrong)?;
    Ok(Some(number * factor))
}
