//! `list`: the sessions of a directory, or of all.

mod afar;
mod shown;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use ramus_engine::{Filter, Listing, Sort, SortKey, WhichDirectory};

use crate::cli::how_many;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::json::ListJson;
use crate::render::{Text, table};

pub(crate) use afar::{all_of, ids};
use shown::{Shown, unique, unique_of};

const EXAMPLES: &str = "\
Newest first, by the time of the newest message, unless --sort says otherwise. On a terminal the first 50 are listed; \
--limit lists more, --cursor goes on. Sessions whose repository is proven to have moved here from elsewhere are listed \
too; `ramus relocate` writes that down.

With --watch the list stays current until it is interrupted: redrawn on a terminal, otherwise printed again whenever it \
changes, with --json one object per line.

Examples:
  ramus list
  ramus list --all --search parser
  ramus list --all --starred --sort cost --limit 10
  ramus list --all --agent codex
  ramus list --all --drafts --json | jq -r '.sessions[].id'";

/// How many sessions a person is shown who did not say how many.
const AT_ONCE: usize = 50;

/// How many lines of a screen are not sessions.
const BESIDE_ROWS: usize = 5;

/// How often a list that is watched is made again.
const PAUSE: Duration = Duration::from_millis(250);

/// List the sessions of this directory
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct List {
    /// List the sessions of this directory [default: the current one]
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    cwd: Option<PathBuf>,
    /// List the sessions of all directories
    #[arg(long)]
    all: bool,
    /// List archived sessions too
    #[arg(long)]
    archived: bool,
    /// List drafts too: sessions in which no model has answered
    #[arg(long)]
    drafts: bool,
    /// List only sessions of this owner
    #[arg(long)]
    owner: Option<String>,
    /// List at most so many
    #[arg(long, value_name = "N", value_parser = how_many)]
    limit: Option<usize>,
    /// Go on behind this place: the `next_cursor` of the page before, or a session
    #[arg(long, value_name = "C")]
    cursor: Option<String>,
    /// List only sessions whose title or directory contains this
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// List only sessions with this tag
    #[arg(long)]
    tag: Option<String>,
    /// List only starred sessions
    #[arg(long)]
    starred: bool,
    /// List only sessions that this one started
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
    /// List only sessions of this project: its remote, its directory, or the last part of one of them
    #[arg(long, value_name = "P")]
    project: Option<String>,
    /// List only sessions that came from this agent, such as claude or codex; ramus for those that began here
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Sort by this, the largest first, titles from A
    #[arg(long, value_enum, default_value_t, value_name = "KEY")]
    sort: Key,
    /// Turn the order round
    #[arg(long)]
    reverse: bool,
    /// Stay, and keep the list current
    #[arg(long)]
    watch: bool,
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Key {
    #[default]
    Updated,
    Created,
    Title,
    Messages,
    Cost,
    Tokens,
}

impl Key {
    fn sort(self, reverse: bool) -> Sort {
        let key = match self {
            Self::Updated => SortKey::Updated,
            Self::Created => SortKey::Created,
            Self::Title => SortKey::Title,
            Self::Messages => SortKey::Messages,
            Self::Cost => SortKey::Cost,
            Self::Tokens => SortKey::Tokens,
        };
        Sort { key, is_ascending: (self == Self::Title) != reverse }
    }
}

impl List {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote() {
            return self.ask(invocation, &remote);
        }
        let filter = self.filter(invocation)?;
        if self.watch {
            return self.watch(invocation, &filter);
        }
        let listing = invocation.engine.list(&filter)?;
        self.print(invocation, &listing)?;
        Ok(Exit::Done)
    }

    fn filter(&self, invocation: &Invocation<'_>) -> anyhow::Result<Filter> {
        let directory = match (&self.cwd, self.all) {
            (_, true) => WhichDirectory::All,
            (Some(cwd), false) => WhichDirectory::One(invocation.directory(cwd)?),
            (None, false) => WhichDirectory::One(invocation.cwd.clone()),
        };
        let parent = match &self.parent {
            Some(parent) => Some(invocation.session(parent)?.id().clone()),
            None => None,
        };
        Ok(Filter {
            directory,
            drafts: self.drafts,
            archived: self.archived,
            owner: self.owner.clone(),
            text: self.search.clone(),
            tag: self.tag.clone(),
            starred: self.starred,
            parent,
            project: self.project.clone(),
            agent: self.agent.clone(),
            sort: self.sort.sort(self.reverse),
            ids: !invocation.screen.wants_json(),
            limit: self.limit(invocation),
            cursor: self.cursor.clone(),
        })
    }

    /// How many sessions are listed: on a terminal as many as a person wants to see.
    fn limit(&self, invocation: &Invocation<'_>) -> Option<usize> {
        let for_people = invocation.screen.is_terminal() && !invocation.screen.wants_json();
        let room = match self.watch {
            true => AT_ONCE.min(invocation.screen.height().saturating_sub(BESIDE_ROWS).max(1)),
            false => AT_ONCE,
        };
        self.limit.or(for_people.then_some(room))
    }

    fn print(&self, invocation: &mut Invocation<'_>, listing: &Listing) -> anyhow::Result<()> {
        for (session, reason) in &listing.unreadable {
            invocation.screen.warn(&format!("session {session} cannot be read: {reason}"))?;
        }
        if invocation.screen.wants_json() {
            let prices = invocation.prices()?;
            let shares = invocation.engine.open_shares()?;
            return invocation.screen.json_of(&ListJson::of(listing, &prices, &shares));
        }
        let text = self.told(invocation, listing);
        invocation.screen.text(&text)
    }

    /// Lists again and again, until interrupted or nobody reads on. Prints when the answer changed.
    fn watch(&self, invocation: &mut Invocation<'_>, filter: &Filter) -> anyhow::Result<Exit> {
        if !invocation.screen.is_terminal() || invocation.screen.wants_json() {
            let mut last = None;
            loop {
                let listing = invocation.engine.list(filter)?;
                if last.as_ref() != Some(&listing) {
                    self.print(invocation, &listing)?;
                    invocation.screen.flush()?;
                    last = Some(listing);
                }
                pause();
            }
        }
        let mut last = Text::new();
        loop {
            let listing = invocation.engine.list(filter)?;
            let text = self.told(invocation, &listing);
            // Not only the sessions change: what was now is a minute ago.
            if text.as_styled() != last.as_styled() {
                invocation.screen.take_back(last.as_styled().lines().count())?;
                invocation.screen.text(&text)?;
                invocation.screen.flush()?;
                last = text;
            }
            pause();
        }
    }

    fn told(&self, invocation: &Invocation<'_>, listing: &Listing) -> Text {
        let names: Vec<&str> = listing.ids.iter().map(|id| id.as_str()).collect();
        let unique = unique(&names);
        let row = |info| table::Row::of(info, unique_of(&unique, info.id.as_str()));
        let moved = listing.sessions.iter().filter(|info| info.moved_to.is_some()).map(|info| &*info.cwd);
        let shown = Shown {
            rows: listing.sessions.iter().map(row).collect(),
            moved: moved.collect(),
            hidden: [listing.hidden.other_directories, listing.hidden.drafts, listing.hidden.archived],
            next_cursor: listing.next_cursor.as_deref(),
        };
        self.show(invocation, &shown)
    }
}

/// Waits until it is worth looking again.
#[expect(clippy::disallowed_methods, reason = "sessions are files that others write: there is no event to wait for")]
fn pause() {
    std::thread::sleep(PAUSE);
}
