//! `share` and `unshare`: a path as a page for others, and the end of that.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use ramus_client::Method;
use ramus_engine::{Include, ShareOptions, SharePreview};
use ramus_model::time;
use ramus_wire::share as shape;
use serde_json::{Value, json};

use crate::failure::{Exit, Refusal};
use crate::file::{self, Access};
use crate::invocation::Invocation;
use crate::redaction;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, quantity, style};

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
  ramus unshare last";

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

/// Take back what is shared of a session
#[derive(Debug, Args)]
pub(crate) struct Unshare {
    /// The session
    session: String,
    /// The share; all of the session when none is named
    id: Option<String>,
}

impl Share {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if self.list {
            return list(invocation);
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
            self.write_html(&preview)?;
            return show_preview(invocation, &preview);
        }
        if !self.yes && !confirm(invocation, &preview)? {
            return Err(Refusal::invalid("nothing was shared").into());
        }
        let shared = invocation.engine.share(&mut session, &options, &preview)?;
        self.write_html(&preview)?;
        invocation.finish(&mut session)?;
        let url = format!("{}/share/{}?secret={}", self.base.trim_end_matches('/'), shared.share.id, shared.secret);
        if invocation.screen.wants_json() {
            invocation.screen.json(shape::made(&shared, &preview, &url))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        text.plain(&url).end();
        invocation.screen.text(&text)?;
        let mut told = Text::new();
        summary(&preview, &mut told);
        if let Some(expires) = shared.share.expires {
            told.styled(style::DIM, &format!("it can be seen until {}", time::format(expires))).end();
        }
        if self.html.is_none() {
            told.styled(style::HINT, "`ramus serve` shows it; --html FILE writes the page to a file").end();
        }
        invocation.screen.note(&told)?;
        Ok(Exit::Done)
    }

    /// Has a server share it.
    fn ask(
        &self,
        invocation: &mut Invocation<'_>,
        remote: &Remote,
        argument: &str,
        lifetime: Option<i64>,
    ) -> anyhow::Result<Exit> {
        if self.html.is_some() {
            let refusal = Refusal::usage("--html writes the page of a session that is here");
            return Err(refusal.hint("open the address that is printed, or `ramus export --to html --redact`").into());
        }
        let (id, entry) = remote.target(argument)?;
        let seconds = lifetime.map(|millis| millis / 1000);
        let share = |dry_run: bool| {
            let what = json!({"entry": entry, "include": self.include, "expires_in": seconds, "dry_run": dry_run});
            remote.act(&id, "share", &what)
        };
        let preview = share(true)?;
        if self.dry_run && invocation.screen.wants_json() {
            invocation.screen.json(preview)?;
            return Ok(Exit::Done);
        }
        let mut told = Text::new();
        let findings = preview.items("redacted");
        tell_summary(&mut told, preview.items("entries").len(), remote.describe(&id)?.word("title"), findings);
        if self.dry_run {
            invocation.screen.text(&told)?;
            return Ok(Exit::Done);
        }
        let mut question = told.clone();
        question.plain("Share it?");
        if !self.yes && invocation.screen.ask(&mut question)? == Some(false) {
            return Err(Refusal::invalid("nothing was shared").into());
        }
        let answer = share(false)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let made = answer.get("share").cloned().unwrap_or_default();
        let mut text = Text::new();
        invocation.screen.text(text.plain(made.word("url")).end())?;
        if let Some(expires) = made.maybe("expires") {
            told.styled(style::DIM, &format!("it can be seen until {expires}")).end();
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

    fn write_html(&self, preview: &SharePreview) -> anyhow::Result<()> {
        let Some(path) = &self.html else { return Ok(()) };
        let written = file::write_whole(path, preview.page().as_bytes(), Access::Shared);
        written.with_context(|| format!("cannot write {}", path.display()))
    }
}

impl Unshare {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let id = remote.id(&self.session)?;
                let request = remote.client().ask(Method::DELETE, &["sessions", &id, "share"]);
                remote.answer(request.maybe("share", self.id.as_ref()))?
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let ended = invocation.engine.unshare(&mut session, self.id.as_deref())?;
                invocation.finish(&mut session)?;
                shape::ended(&ended)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let mut text = Text::new();
            let ended = answer.items("unshared").len();
            let count = quantity::count(ended, "share was taken back", "shares were taken back");
            invocation.screen.note(text.plain(&count).end())?;
        }
        Ok(Exit::Done)
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

/// Asks, when there is someone to ask.
fn confirm(invocation: &mut Invocation<'_>, preview: &SharePreview) -> anyhow::Result<bool> {
    let mut text = Text::new();
    summary(preview, &mut text);
    text.plain("Share it?");
    // A program that shares has been told to.
    Ok(invocation.screen.ask(&mut text)?.unwrap_or(true))
}

fn summary(preview: &SharePreview, text: &mut Text) {
    let findings = shape::findings(preview);
    tell_summary(text, preview.transcript.entries.len(), &preview.transcript.title, &findings);
}

fn tell_summary(text: &mut Text, entries: usize, title: &str, findings: &[Value]) {
    let entries = quantity::count(entries, "entry", "entries");
    text.plain(&format!("{entries} of ")).styled(style::BOLD, title).end();
    for finding in findings {
        let places = quantity::count(finding.count("count"), "time", "times");
        let number =
            if finding.number("number") > 1 { format!(" {}", finding.number("number")) } else { String::new() };
        text.plain("  taken out: ").styled(style::BOLD, &format!("{}{number}", finding.word("kind")));
        let first = finding.words("where").first().copied().unwrap_or_default();
        text.styled(style::DIM, &format!("  {places}, first in {first}"));
        text.end();
    }
}

fn show_preview(invocation: &mut Invocation<'_>, preview: &SharePreview) -> anyhow::Result<Exit> {
    if invocation.screen.wants_json() {
        invocation.screen.json(shape::previewed(preview))?;
        return Ok(Exit::Done);
    }
    let mut text = Text::new();
    summary(preview, &mut text);
    invocation.screen.text(&text)?;
    Ok(Exit::Done)
}

fn list(invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
    let answer = match invocation.remote() {
        Some(remote) => remote.answer(remote.get(&["shares"]))?,
        None => shape::list(&invocation.engine.list_shares()?),
    };
    if invocation.screen.wants_json() {
        invocation.screen.json(answer)?;
        return Ok(Exit::Done);
    }
    let shares = answer.items("shares");
    let mut text = Text::new();
    for share in shares {
        let id = share.word("id");
        text.styled(style::ID, id.get(..8).unwrap_or(id)).spaces(2).styled(style::ID, share.word("session"));
        let state = match (share.maybe("revoked"), share.maybe("expires")) {
            (Some(when), _) => format!("taken back {when}"),
            (None, Some(end)) => format!("until {end}"),
            (None, None) => "until it is taken back".to_owned(),
        };
        text.spaces(2).plain(&share.words("include").join(",")).spaces(2).styled(style::DIM, &state).end();
    }
    if shares.is_empty() {
        text.styled(style::DIM, "nothing is shared").end();
    }
    invocation.screen.text(&text)?;
    Ok(Exit::Done)
}
