//! `show`: the conversation along a path.

mod afar;
mod shown;

use clap::Args;
use ramus_engine::{Selection, Session, SessionInfo};
use ramus_model::{EntryId, Record, Seq};
use serde_json::json;

use crate::cli::how_many;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::conversation::Conversation;
use crate::render::{Text, json, style};
use shown::Shown;

const EXAMPLES: &str = "\
Shows the path from the root to the leaf, or to the entry that is named. Tool calls and results are folded to one line; \
`ramus entry` prints them whole.

Examples:
  ramus show last
  ramus show 0190@start
  ramus show 0190 --limit 20 --json | jq -r .next_cursor";

/// Show the conversation along a path
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Show {
    /// The session, and where its path ends; the leaf when no entry is named
    #[arg(value_name = "SESSION[@ENTRY]")]
    target: String,
    /// Show at most so many messages
    #[arg(long, value_name = "N", value_parser = how_many)]
    limit: Option<usize>,
    /// Go on behind this message: the `next_cursor` of the page before
    #[arg(long, value_name = "C")]
    cursor: Option<String>,
    /// Show changes, labels, metadata and replaced entries too
    #[arg(long)]
    all: bool,
}

impl Show {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote().filter(|_| invocation.screen.wants_json() && !self.all) {
            return self.ask(invocation, &remote);
        }
        let (session, entry) = invocation.session_and_entry(&self.target)?;
        let leaf = entry.or_else(|| session.log().leaf());
        let selection = if self.all {
            session.page_of(everything(&session, leaf), self.limit, self.cursor.as_deref())?
        } else {
            session.select_messages(leaf, self.limit, self.cursor.as_deref())?
        };
        let info = invocation.engine.describe(&session, &invocation.cwd)?;
        let unreadable = if invocation.screen.wants_json() {
            self.print_json(invocation, &session, &info, &selection)?
        } else {
            self.tell(invocation, &session, &info, &selection)?
        };
        // Reading may have shown what opening did not.
        invocation.mention_damage(session.log(), &self.target)?;
        invocation.mention_unreadable(unreadable, &self.target)?;
        invocation.mention_missing_blobs(&session.missing_blobs(), &self.target)?;
        Ok(Exit::Done)
    }

    /// Reads one entry of a page; none when it does not show.
    fn shown(&self, session: &Session, (seq, parent): (Seq, Option<Seq>)) -> anyhow::Result<Option<Shown>> {
        if self.all {
            return Shown::entry(session, seq);
        }
        session.view(seq, parent)?.map(|view| Shown::message(session, view)).transpose()
    }

    /// Prints message by message: a long session need not fit in memory. Returns how many could not be read.
    fn print_json(
        &self,
        invocation: &mut Invocation<'_>,
        session: &Session,
        info: &SessionInfo,
        selection: &Selection,
    ) -> anyhow::Result<usize> {
        let object = match invocation.remote() {
            // Where it is and what is shared of it is for the server to say.
            Some(remote) => remote.describe(session.id().as_str())?,
            None => json::whole(session, info, &invocation.prices()?, &invocation.engine.open_shares()?),
        };
        let head = json::members(json!({"session": object, "next_cursor": selection.next_cursor}));
        let mut list = invocation.screen.json_list(head, "messages")?;
        let mut unreadable = 0;
        for entry in &selection.entries {
            match self.shown(session, *entry)? {
                Some(shown) => list.push(&shown.to_json().into())?,
                None => unreadable += 1,
            }
        }
        list.end()?;
        Ok(unreadable)
    }

    /// Returns how many messages could not be read.
    fn tell(
        &self,
        invocation: &mut Invocation<'_>,
        session: &Session,
        info: &SessionInfo,
        selection: &Selection,
    ) -> anyhow::Result<usize> {
        let cost = info.usage.cost(&invocation.prices()?);
        let screen = &mut invocation.screen;
        let conversation = Conversation::new(session, screen.width(), screen.is_terminal());
        let on_path = |leaf: &&EntryId| session.leaf().as_ref() != Some(leaf);
        let branches = session.leaves().iter().filter(on_path).count();
        let mut text = Text::new();
        conversation.header(&mut text, info, branches, cost);
        screen.text(&text)?;
        let mut unreadable = 0;
        for (at, entry) in selection.entries.iter().enumerate() {
            let Some(shown) = self.shown(session, *entry)? else {
                unreadable += 1;
                continue;
            };
            text.clear();
            if at == 0 || shown.starts_paragraph() {
                text.end();
            }
            conversation.turn(&mut text, &shown.turn());
            screen.text(&text)?;
        }
        if let Some(cursor) = &selection.next_cursor {
            text.clear();
            text.end().styled(style::DIM, &format!("there is more: --cursor {cursor}")).end();
            screen.text(&text)?;
        }
        Ok(unreadable)
    }
}

/// The path, and every entry of this session that is on no branch: labels, metadata, replaced entries.
fn everything(session: &Session, leaf: Option<Seq>) -> Vec<Seq> {
    let log = session.log();
    let mut path = log.path(leaf);
    path.sort_unstable();
    let shared = log.len() - log.own_len();
    let hidden = |seq: &Seq| !log.record(*seq).is_some_and(Record::is_visible) && seq.number() as usize > shared;
    log.seqs().filter(|seq| path.binary_search(seq).is_ok() || hidden(seq)).collect()
}
