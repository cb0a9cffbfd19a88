//! `log`: what was done to a session, when, and through which surface.

use clap::Args;
use ramus_engine::{Performed, Session};
use ramus_wire::operation as shape;

use crate::cli::how_many;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, clean, glyphs, style};

const EXAMPLES: &str = "\
Newest first. With --all, also what was done to the sessions that were forked from it or that it spawned, and theirs. An \
operation is everything that one command, turn or program did at once; `undo` takes back one at a time. \
What other programs appended has no client.

Examples:
  ramus log last
  ramus log last --all
  ramus log last --limit 5 --json | jq -r '.operations[].op'";

/// How many operations are listed when nobody says.
const AT_ONCE: usize = 50;

/// List what was done to a session, newest first
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Log {
    /// The session
    session: String,
    /// List at most so many
    #[arg(long, value_name = "N", value_parser = how_many, default_value_t = AT_ONCE)]
    limit: usize,
    /// Go on behind this operation
    #[arg(long, value_name = "C")]
    cursor: Option<String>,
    /// List what was done to its forks and children too
    #[arg(long, visible_alias = "audit", conflicts_with = "cursor")]
    all: bool,
}

impl Log {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote() {
            return self.ask(invocation, &remote);
        }
        let session = invocation.session(&self.session)?;
        if self.all {
            return self.audit(invocation, &session);
        }
        let page = session.operations(Some(self.limit), self.cursor.as_deref())?;
        if invocation.screen.wants_json() {
            invocation.screen.json(shape::page(&session, &page, &glyphs::of_terminal().signs())?)?;
        } else {
            let mut text = Text::new();
            for done in &page.operations {
                line(&mut text, &session, done, invocation.screen.width())?;
            }
            invocation.screen.text(&text)?;
            if page.next_cursor.is_some() {
                mention_more(invocation)?;
            }
        }
        invocation.mention_damage(session.log(), &self.session)?;
        Ok(Exit::Done)
    }

    /// Asks a server.
    fn ask(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let id = remote.id(&self.session)?;
        let request = remote.get(&["sessions", &id, "log"]).query("limit", self.limit.to_string());
        let answer = remote.answer(request.maybe("cursor", self.cursor.as_ref()).flag("all", self.all))?;
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        for done in answer.items("operations") {
            if self.all {
                text.styled(style::ID, done.word("session")).spaces(2);
            }
            let told = Line {
                time: done.word("time"),
                name: done.word("op"),
                client: done.maybe("client"),
                is_undone: done.says("undone"),
                about: done.word("about"),
            };
            told.put(&mut text, invocation.screen.width());
        }
        invocation.screen.text(&text)?;
        if answer.maybe("next_cursor").is_some() {
            mention_more(invocation)?;
        }
        Ok(Exit::Done)
    }

    /// Lists what was done to a session and to those that come from it.
    fn audit(&self, invocation: &mut Invocation<'_>, session: &Session) -> anyhow::Result<Exit> {
        let audited = invocation.engine.audit(session)?;
        if invocation.screen.wants_json() {
            let signs = glyphs::of_terminal().signs();
            invocation.screen.json(shape::audited(session, &audited, self.limit, &signs, |_| true)?)?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        for (session, done) in audited.newest(self.limit) {
            text.styled(style::ID, session.id().as_str()).spaces(2);
            line(&mut text, session, done, invocation.screen.width())?;
        }
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }
}

fn line(text: &mut Text, session: &Session, done: &Performed, width: usize) -> anyhow::Result<()> {
    let operation = &done.operation;
    let about = shape::about(session, done, width, &glyphs::of_terminal().signs())?;
    let told = Line {
        time: &operation.time,
        name: &operation.name,
        client: operation.client.as_deref(),
        is_undone: done.is_undone,
        about: &about,
    };
    told.put(text, width);
    Ok(())
}

fn mention_more(invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
    let mut more = Text::new();
    invocation.screen.note(more.styled(style::DIM, "there is more; --limit lists more of it").end())
}

/// What is told of one operation.
struct Line<'l> {
    time: &'l str,
    name: &'l str,
    client: Option<&'l str>,
    is_undone: bool,
    about: &'l str,
}

impl Line<'_> {
    fn put(&self, text: &mut Text, width: usize) {
        text.styled(style::DIM, &clean::one_line(self.time.get(..19).unwrap_or(self.time))).spaces(2);
        text.padded(style::BOLD, &clean::one_line(self.name), 16);
        text.padded(style::DIM, &clean::one_line(self.client.unwrap_or("-")), 8);
        if self.is_undone {
            text.styled(style::DIM, "(undone) ");
        }
        text.cut(style::NONE, self.about, width).end();
    }
}
