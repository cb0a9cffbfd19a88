//! `permissions`: the rules that hold for a session, and what was approved in it.

use clap::{Args, Subcommand};
use ramus_engine::{Granted, Session};
use ramus_model::permission::{Covered, Layer, Permissions as Rules, Rule};
use ramus_wire::permission as shape;
use serde_json::{Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json, quantity, style};

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
        let mut session = invocation.session(&self.session)?;
        match &self.action {
            Some(Action::Revoke { id }) => revoke(invocation, &mut session, id),
            None => self.show(invocation, &session),
        }
    }

    fn show(&self, invocation: &mut Invocation<'_>, session: &Session) -> anyhow::Result<Exit> {
        let settings = invocation.settings_in(session.cwd())?;
        let mode = session.context(session.log().leaf())?.state.mode;
        let agent = settings.resolve_agent(self.agent.as_deref(), &mode)?;
        let permissions = agent.permissions(&settings, session.rules()?);
        let approvals = invocation.engine.approvals(session)?;
        let built_in = ramus_tools::shell::defaults::rules().len();
        let hidden = if self.all { 0 } else { built_in };
        if invocation.screen.wants_json() {
            let rules: Vec<Value> = listed(&permissions, 0).map(|(layer, rule)| shape::rule(layer, rule)).collect();
            invocation.screen.json(json::members(json!({
                "session": session.id().as_str(),
                "agent": agent.name,
                "read_only": agent.is_read_only(),
                "rules": rules,
                "built_in": built_in,
                "approvals": approvals.iter().map(shape::approval).collect::<Vec<_>>(),
            })))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        text.styled(style::DIM, "agent    ").styled(style::BOLD, &agent.name);
        if agent.is_read_only() {
            text.styled(style::DIM, "  changes nothing: what would be asked is denied");
        }
        text.end();
        for (layer, rule) in listed(&permissions, hidden) {
            text.padded(style::DIM, &layer.to_string(), 9).padded(style::NONE, &rule.action.to_string(), 6);
            text.plain(&rule.permission).plain("  ").plain(&rule.pattern).end();
        }
        if hidden > 0 {
            let count = quantity::count(hidden, "rule is", "rules are");
            text.styled(style::DIM, &format!("{count} built in; --all shows them")).end();
        }
        approvals.iter().for_each(|granted| put_approval(&mut text, granted));
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }
}

/// The rules in the order they are read. Those that are built in come first.
fn listed(permissions: &Rules, hidden: usize) -> impl Iterator<Item = (Layer, &Rule)> {
    permissions.rules().skip(hidden)
}

fn revoke(invocation: &mut Invocation<'_>, session: &mut Session, id: &str) -> anyhow::Result<Exit> {
    let granted = invocation.engine.revoke_approval(session, id)?;
    invocation.finish(session)?;
    if invocation.screen.wants_json() {
        invocation.screen.json(json::members(json!({"revoked": shape::approval(&granted)})))?;
        return Ok(Exit::Done);
    }
    let mut text = Text::new();
    text.plain("taken back: ");
    put_approval(&mut text, &granted);
    invocation.screen.note(&text)?;
    Ok(Exit::Done)
}

fn put_approval(text: &mut Text, granted: &Granted) {
    let (how, covered) = match &granted.approval.covered {
        Covered::Exact(bytes) => ("exactly", bytes),
        Covered::Pattern(pattern) => ("matching", pattern),
    };
    let scope = json!(granted.approval.scope);
    text.styled(style::ID, &granted.id).plain("  approved in this ").plain(scope.as_str().unwrap_or_default());
    text.plain("  ").plain(&granted.approval.permission).styled(style::DIM, &format!("  {how}  ")).plain(covered);
    text.styled(style::DIM, &format!("  {}", granted.time)).end();
}
