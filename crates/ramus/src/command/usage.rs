//! `usage`: tokens and cost by day, model, project or session.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ramus_engine::{UsageBy, UsageQuery, WhichDirectory};
use ramus_model::time::{Day, Zone};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, usage as table};

const EXAMPLES: &str = "\
What an answer cost is what its log reports, else what the price table says about its model, else unknown: `?`, never 0. \
Every answer counts once, however many copies and forks of its session there are. Days are those of the local time zone \
(TZ). A DAY is YYYY-MM-DD, today, yesterday, or 7d for seven days ago; both ends count.

`prices.toml` in the home overrides and extends the price table: dollars per million tokens, as in
  [prices.openai]
  \"gpt-9\" = { input = 1.25, output = 10, cache_read = 0.125 }

Examples:
  ramus usage
  ramus usage --by model --since 30d
  ramus usage --by session --cwd . --json | jq '.rows[] | select(.unpriced > 0)'";

/// Tell tokens and cost
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Usage {
    /// What a row is about
    #[arg(long, value_enum, default_value_t)]
    by: By,
    /// Count only answers of this day and later
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// Count only answers of this day and earlier
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
    /// Count only the sessions of this directory
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    cwd: Option<PathBuf>,
    /// Count the sessions of all directories; this is what happens anyway
    #[arg(long)]
    all: bool,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum By {
    #[default]
    Day,
    Model,
    Project,
    Session,
}

impl Usage {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote() {
            return self.ask(invocation, &remote);
        }
        let zone = Zone::from(jiff::tz::TimeZone::system());
        let day = |text: &Option<String>| text.as_deref().map(|text| read_day(&zone, text)).transpose();
        let prices = invocation.home.prices()?;
        let query = UsageQuery {
            by: match self.by {
                By::Day => UsageBy::Day,
                By::Model => UsageBy::Model,
                By::Project => UsageBy::Project,
                By::Session => UsageBy::Session,
            },
            directory: match &self.cwd {
                Some(cwd) => WhichDirectory::One(invocation.directory(cwd)?),
                None => WhichDirectory::All,
            },
            since: day(&self.since)?.map(|day| day.start),
            until: day(&self.until)?.map(|day| day.end),
            zone: zone.clone(),
            prices: &prices,
        };
        let report = invocation.engine.usage(&query)?;
        for (session, reason) in &report.unreadable {
            invocation.screen.warn(&format!("session {session} cannot be read, what it used is missing: {reason}"))?;
        }
        if invocation.screen.wants_json() {
            invocation.screen.json(ramus_wire::usage::report(&report, &prices))?;
        } else {
            let answer = ramus_wire::usage::report(&report, &prices);
            let text = table::report(&answer, query.by, invocation.screen.width());
            invocation.screen.text(&text)?;
        }
        Ok(if report.unreadable.is_empty() { Exit::Done } else { Exit::Partial })
    }

    /// Asks a server, whose days are those of UTC.
    fn ask(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let (name, by) = match self.by {
            By::Day => ("day", UsageBy::Day),
            By::Model => ("model", UsageBy::Model),
            By::Project => ("project", UsageBy::Project),
            By::Session => ("session", UsageBy::Session),
        };
        let cwd = self.cwd.as_ref().map(|cwd| invocation.directory(cwd)).transpose()?;
        let request = remote.get(&["usage"]).query("by", name).maybe("cwd", cwd);
        let answer = remote.answer(request.maybe("since", self.since.as_ref()).maybe("until", self.until.as_ref()))?;
        for one in answer.items("unreadable") {
            let (session, reason) = (one.word("session"), one.word("reason"));
            invocation.screen.warn(&format!("session {session} cannot be read, what it used is missing: {reason}"))?;
        }
        let is_whole = answer.items("unreadable").is_empty();
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let text = table::report(&answer, by, invocation.screen.width());
            invocation.screen.text(&text)?;
        }
        Ok(if is_whole { Exit::Done } else { Exit::Partial })
    }
}

fn read_day(zone: &Zone, text: &str) -> anyhow::Result<Day> {
    let now = jiff::Timestamp::now().as_millisecond();
    let wrong = || Refusal::usage(format!("{text:?} is no day")).hint("say YYYY-MM-DD, today, yesterday, or 7d");
    Ok(zone.read_day(text, now).ok_or_else(wrong)?)
}
