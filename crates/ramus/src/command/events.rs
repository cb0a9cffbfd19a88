//! `events`: what happens to sessions, as it happens.

use std::time::Duration;

use clap::Args;
use ramus_model::Seq;
use serde_json::{Map, Value};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, clean, style};

const EXAMPLES: &str = "\
Of one session, everything since --from is told first, then what is added, whoever adds it. Without a session, what happens \
to all of them from now on. Events that are in the log carry `seq`, their place in it: going on from the last one that was \
seen misses nothing. It goes on until it is interrupted, or the session is deleted; with --replay it ends with what is \
there.

Examples:
  ramus events
  ramus events last --from 12 --json
  ramus events last --replay --json | jq -r .type";

/// How long is waited between looks at whether somebody still reads.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tell what happens to sessions
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Events {
    /// The session; all when none is named
    session: Option<String>,
    /// Begin behind this place of its log [default: its end, or its beginning with --replay]
    #[arg(long, value_name = "SEQ", requires = "session")]
    from: Option<u32>,
    /// Tell what is there, and end
    #[arg(long, requires = "session")]
    replay: bool,
}

impl Events {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote() {
            return self.watch(invocation, &remote);
        }
        let mut stream = match &self.session {
            Some(name) => {
                let session = invocation.session(name)?;
                let end = session.log().seqs().next_back().filter(|_| !self.replay);
                let from = self.from.map_or(end, Seq::new);
                invocation.engine.events(session, from)?
            }
            None => invocation.engine.all_events()?,
        };
        loop {
            let patience = if self.replay { Duration::ZERO } else { PATIENCE };
            match stream.next(patience)? {
                Some(told) => {
                    print(invocation, &told.to_json())?;
                    if self.session.is_some() && told.name() == "session.deleted" {
                        invocation.screen.flush()?;
                        return Err(Refusal::not_found("the session was deleted").into());
                    }
                }
                None if self.replay => return Ok(Exit::Done),
                None => {}
            }
            invocation.screen.flush()?;
        }
    }
}

impl Events {
    /// Watches a server.
    fn watch(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let id = self.session.as_deref().map(|session| remote.id(session)).transpose()?;
        let end = match &id {
            Some(id) => remote.position(id)?,
            None => 0,
        };
        let from = self.from.map_or(if self.replay { 0 } else { end }, u64::from);
        if self.replay && from >= end {
            return Ok(Exit::Done);
        }
        let mut events = match &id {
            Some(id) => remote.client().session(id).events_behind(from),
            None => remote.client().events(None),
        };
        loop {
            let event = match remote.wait(events.next()) {
                Err(error) if id.is_some() && is_gone(&error) => {
                    return Err(Refusal::not_found("the session was deleted").into());
                }
                event => event?,
            };
            let position = event.position();
            // Where a stream starts, and that a turn ran at the server, is told by no log.
            if !matches!(event.name.as_str(), "open" | "run" | "run.ended") {
                print(invocation, &event.data)?;
                invocation.screen.flush()?;
            }
            if id.is_some() && event.name == "session.deleted" {
                return Err(Refusal::not_found("the session was deleted").into());
            }
            if self.replay && event.name != "open" && position.is_some_and(|position| position >= end) {
                return Ok(Exit::Done);
            }
        }
    }
}

fn is_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ramus_client::Error>().is_some_and(|error| error.status() == Some(404))
}

fn print(invocation: &mut Invocation<'_>, told: &Map<String, Value>) -> anyhow::Result<()> {
    if invocation.screen.wants_json() {
        return invocation.screen.json(told.clone());
    }
    let mut text = Text::new();
    text.styled(style::ID, &clean::one_line(told.word("session"))).spaces(1);
    let place = told.get("seq").and_then(Value::as_u64).map(|seq| format!("#{seq}")).unwrap_or_default();
    text.padded(style::DIM, &place, 6).padded(style::BOLD, told.word("type"), 18);
    let rest = told.iter().filter(|(name, _)| !matches!(name.as_str(), "type" | "session" | "seq" | "info"));
    let rest = rest.map(|(name, value)| format!("{name}={}", spelled(value))).collect::<Vec<_>>().join(" ");
    let width = invocation.screen.width();
    text.cut(style::NONE, &clean::one_line(&rest), width).end();
    invocation.screen.text(&text)
}

fn spelled(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
