//! `tail`: the last entries of a session, and those that are added while one watches.

use std::time::Duration;

use clap::Args;
use ramus_engine::Followed;
use ramus_model::{Depth, Log};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Text, glyphs, preview::Preview, style};

const EXAMPLES: &str = "\
Prints entries as they are stored: with --json their lines byte for byte, otherwise one line each. With --follow it goes \
on until it is interrupted or the session is deleted. Of a fork, only its own entries are printed.

Examples:
  ramus tail last -n 3
  ramus tail this --follow --json";

/// How often a log that is followed is looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// Print the last entries of a session, and follow it
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Tail {
    /// The session
    session: String,
    /// How many entries to start with
    #[arg(short = 'n', long, default_value_t = 10, value_name = "N")]
    lines: usize,
    /// Go on with what is added
    #[arg(short, long)]
    follow: bool,
}

impl Tail {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let (Some(remote), true) = (invocation.remote(), self.follow) {
            return self.watch(invocation, &remote);
        }
        let session = invocation.session(&self.session)?;
        let mut follower = invocation.engine.follow(&session, self.lines)?;
        drop(session);
        loop {
            match follower.next_lines()? {
                Followed::Lines(lines) => {
                    for line in lines {
                        print(invocation, &line)?;
                    }
                }
                Followed::StartedOver => invocation.screen.warn("the log was replaced or cut; starting over")?,
                Followed::Gone => return Err(Refusal::not_found("the session was deleted").into()),
            }
            if !self.follow {
                return Ok(Exit::Done);
            }
            invocation.screen.flush()?;
            pause();
        }
    }
}

impl Tail {
    /// Follows a session of a server: its events say when there is more to read.
    fn watch(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let session = invocation.session(&self.session)?;
        let id = session.id().to_string();
        // What is added behind what was fetched is told. In a copy of a path places may be others than at the server.
        let is_copy = session.log().header().is_some_and(|header| header.ramus.copied_from.is_some());
        let mut position = if is_copy { remote.position(&id)? } else { session.log().len() as u64 };
        if let Followed::Lines(lines) = invocation.engine.follow(&session, self.lines)?.next_lines()? {
            lines.iter().try_for_each(|line| print(invocation, line))?;
        }
        drop(session);
        let mut events = remote.client().session(&id).events_behind(position);
        loop {
            invocation.screen.flush()?;
            let event = match remote.wait(events.next()) {
                Err(error) if is_gone(&error) => return Err(Refusal::not_found("the session was deleted").into()),
                event => event?,
            };
            match event.name.as_str() {
                "session.deleted" => return Err(Refusal::not_found("the session was deleted").into()),
                "reset" => {
                    invocation.screen.warn("the log was replaced or cut; starting over")?;
                    position = 0;
                }
                "entry.appended" => {}
                _ => continue,
            }
            let page = remote.get(&["sessions", &id, "entries"]).query("cursor", position.to_string());
            // As bytes: lines are printed as they are stored.
            let page: Page = serde_json::from_slice(&remote.wait(page.query("limit", "1000").bytes())?)?;
            for entry in page.entries {
                print(invocation, entry.entry.get().as_bytes())?;
                position = entry.seq;
            }
        }
    }
}

/// Entries as a server hands them out: each as it is stored.
#[derive(Deserialize)]
struct Page {
    entries: Vec<Stored>,
}

#[derive(Deserialize)]
struct Stored {
    seq: u64,
    entry: Box<RawValue>,
}

fn is_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ramus_client::Error>().is_some_and(|error| error.status() == Some(404))
}

fn print(invocation: &mut Invocation<'_>, line: &[u8]) -> anyhow::Result<()> {
    if invocation.screen.wants_json() {
        return invocation.screen.data(&[line, b"\n"].concat());
    }
    // A log of its own, so that a line is described as it is anywhere else.
    let log = Log::from_bytes(&[line, b"\n"].concat(), Depth::Envelope);
    let mut text = Text::new();
    let width = invocation.screen.width();
    for (id, record) in log.seqs().filter_map(|seq| Some((log.id(seq), log.record(seq)?))) {
        let preview = Preview::of_entry(line, record, width, &glyphs::of_terminal().signs());
        text.styled(style::ID, id).plain(" ").styled(style::speaker(record.kind, record.role), &preview.speaker);
        text.plain("  ").cut(style::NONE, &preview.text, width).end();
    }
    invocation.screen.text(&text)
}

/// Waits until it is worth looking again.
#[expect(clippy::disallowed_methods, reason = "a log is a file that others write: there is no event to wait for")]
fn pause() {
    std::thread::sleep(PAUSE);
}
