//! `permissions`: the rules that hold for a session, and what was approved in it.

use clap::{Args, Subcommand};
use ramus_client::Method;
use ramus_wire::permission as shape;
use serde_json::{Map, Value};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, quantity, style};

const EXAMPLES: &str = "\
Rules are read in this order: agent, user, project, session; the last one that matches decides, and what none matches is \
asked. An approval never lifts what some rule denies. The rules that are built in are shown with --all.

Examples:
  ramus permissions last
  ramus permissions last --all
  ramus permissions last revoke 1a2b3c4d";

/// Show what a session's model may do, and take approvals back
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Permissions {
    /// The session
    session: String,
    /// Show the rules that are built in, too
    #[arg(long)]
    all: bool,
    /// Show the rules of this agent instead of the session's
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Take an approval back
    Revoke {
        /// The approval, or the beginning of its id
        id: String,
    },
}

impl Permissions {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        match &self.action {
            Some(Action::Revoke { id }) => self.revoke(invocation, id),
            None => self.show(invocation),
        }
    }

    fn answer(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Map<String, Value>> {
        if let Some(remote) = invocation.remote() {
            let id = remote.id(&self.session)?;
            return remote.answer(remote.get(&["sessions", &id, "permissions"]).maybe("agent", self.agent.as_ref()));
        }
        let session = invocation.session(&self.session)?;
        let settings = invocation.settings_in(session.cwd())?;
        let mode = session.context(session.log().leaf())?.state.mode;
        let agent = settings.resolve_agent(self.agent.as_deref(), &mode)?;
        let permissions = agent.permissions(&settings, session.rules()?);
        let approvals = invocation.engine.approvals(&session)?;
        let built_in = ramus_tools::shell::defaults::rules().len();
        Ok(shape::in_force(&session, &agent, &permissions, built_in, &approvals))
    }

    fn show(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = self.answer(invocation)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        // Those that are built in come first.
        let hidden = if self.all { 0 } else { answer.count("built_in") };
        let mut text = Text::new();
        text.styled(style::DIM, "agent    ").styled(style::BOLD, answer.word("agent"));
        if answer.says("read_only") {
            text.styled(style::DIM, "  changes nothing: what would be asked is denied");
        }
        text.end();
        for rule in answer.items("rules").iter().skip(hidden) {
            text.padded(style::DIM, rule.word("layer"), 9).padded(style::NONE, rule.word("action"), 6);
            text.plain(rule.word("permission")).plain("  ").plain(rule.word("pattern")).end();
        }
        if hidden > 0 {
            let count = quantity::count(hidden, "rule is", "rules are");
            text.styled(style::DIM, &format!("{count} built in; --all shows them")).end();
        }
        answer.items("approvals").iter().for_each(|granted| put_approval(&mut text, granted));
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }

    fn revoke(&self, invocation: &mut Invocation<'_>, id: &str) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let session = remote.id(&self.session)?;
                remote.answer(remote.client().ask(Method::DELETE, &["sessions", &session, "permissions", id]))?
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let granted = invocation.engine.revoke_approval(&mut session, id)?;
                invocation.finish(&mut session)?;
                shape::revoked(&granted)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        text.plain("taken back: ");
        answer.get("revoked").iter().for_each(|granted| put_approval(&mut text, granted));
        invocation.screen.note(&text)?;
        Ok(Exit::Done)
    }
}

fn put_approval(text: &mut Text, granted: &Value) {
    let (how, covered) = match granted.maybe("exact") {
        Some(bytes) => ("exactly", bytes),
        None => ("matching", granted.word("pattern")),
    };
    text.styled(style::ID, granted.word("id")).plain("  approved in this ").plain(granted.word("scope"));
    text.plain("  ").plain(granted.word("permission")).styled(style::DIM, &format!("  {how}  ")).plain(covered);
    text.styled(style::DIM, &format!("  {}", granted.word("time"))).end();
}
