//! `list`: the sessions of a directory, or of all.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use ramus_engine::{Filter, Listing, SessionInfo, WhichDirectory};
use ramus_model::usage::Prices;
use serde_json::{Map, Value, json};

use crate::cli::how_many;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::table::{self, Directories};
use crate::render::{Text, json, quantity, short_id, style};

const EXAMPLES: &str = "\
Newest first, by the time of the newest message.

Examples:
  ramus list
  ramus list --all --search parser
  ramus list --all --drafts --json | jq -r '.sessions[].id'";

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
    /// Go on behind this session: the `next_cursor` of the page before
    #[arg(long, value_name = "C")]
    cursor: Option<String>,
    /// List only sessions whose title or directory contains this
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
}

impl List {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let directory = match (&self.cwd, self.all) {
            (_, true) => WhichDirectory::All,
            (Some(cwd), false) => WhichDirectory::One(invocation.directory(cwd)?),
            (None, false) => WhichDirectory::One(invocation.cwd.clone()),
        };
        let listing = invocation.engine.list(&Filter {
            directory,
            drafts: self.drafts,
            archived: self.archived,
            owner: self.owner.clone(),
            text: self.search.clone(),
            limit: self.limit,
            cursor: self.cursor.clone(),
        })?;
        for (session, reason) in &listing.unreadable {
            invocation.screen.warn(&format!("session {session} cannot be read: {reason}"))?;
        }
        if invocation.screen.wants_json() {
            let prices = invocation.prices()?;
            invocation.screen.json(to_json(&listing, &prices))?;
        } else {
            self.tell(invocation, &listing)?;
        }
        Ok(Exit::Done)
    }

    fn tell(&self, invocation: &mut Invocation<'_>, listing: &Listing) -> anyhow::Result<()> {
        let mut text = Text::new();
        if !listing.sessions.is_empty() {
            let ids = invocation.engine.session_ids()?;
            let names: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
            let unique: HashMap<&str, usize> = names.iter().copied().zip(short_id::unique_lengths(&names)).collect();
            let row = |info| table::Row { info, unique: unique_of(&unique, info) };
            let rows: Vec<table::Row<'_>> = listing.sessions.iter().map(row).collect();
            let directories = if self.all { Directories::Shown } else { Directories::Hidden };
            table::sessions(&mut text, &rows, directories, invocation.screen.width());
        }
        self.footer(&mut text, listing);
        invocation.screen.text(&text)
    }

    fn footer(&self, text: &mut Text, listing: &Listing) {
        if listing.sessions.is_empty() {
            text.plain(if self.all { "no sessions" } else { "no sessions in this directory" }).end();
        }
        let hidden = &listing.hidden;
        let reasons = [
            (hidden.other_directories, "in other directories (--all)"),
            (hidden.drafts, if hidden.drafts == 1 { "draft (--drafts)" } else { "drafts (--drafts)" }),
            (hidden.archived, "archived (--archived)"),
        ];
        let shown = reasons.iter().filter(|(count, _)| *count > 0);
        let reasons: Vec<String> =
            shown.map(|(count, reason)| format!("{} {reason}", quantity::grouped(*count as u64))).collect();
        if !reasons.is_empty() {
            text.styled(style::DIM, &format!("hidden: {}", reasons.join(", "))).end();
        }
        if let Some(cursor) = &listing.next_cursor {
            text.styled(style::DIM, &format!("there is more: --cursor {cursor}")).end();
        }
    }
}

/// A session that came while we were looking is shown as if it were alone.
fn unique_of(unique: &HashMap<&str, usize>, info: &SessionInfo) -> usize {
    unique.get(info.id.as_str()).copied().unwrap_or(short_id::SHOWN)
}

fn to_json(listing: &Listing, prices: &Prices) -> Map<String, Value> {
    let sessions: Vec<_> = listing.sessions.iter().map(|info| json::session(info, prices)).collect();
    let unreadable = listing.unreadable.iter().map(|(session, reason)| json!({"session": session, "reason": reason}));
    json::members(json!({
        "sessions": sessions,
        "next_cursor": listing.next_cursor,
        "hidden": {
            "archived": listing.hidden.archived,
            "drafts": listing.hidden.drafts,
            "other_directories": listing.hidden.other_directories,
        },
        "unreadable": unreadable.collect::<Vec<_>>(),
    }))
}
