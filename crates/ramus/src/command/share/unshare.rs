//! `unshare`: the end of what was shared.

use clap::Args;
use ramus_client::Method;
use ramus_wire::share as shape;

use crate::command::confirm;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, quantity};

/// Take back what is shared of a session
#[derive(Debug, Args)]
pub(crate) struct Unshare {
    /// The session
    session: String,
    /// The share; all of the session when none is named
    id: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl Unshare {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let id = remote.id(&self.session)?;
                self.confirm(invocation)?;
                let request = remote.client().ask(Method::DELETE, &["sessions", &id, "share"]);
                remote.answer(request.maybe("share", self.id.as_ref()))?
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                self.confirm(invocation)?;
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

    fn confirm(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
        match self.yes {
            true => Ok(()),
            false => confirm::ask(invocation, "Take back what is shared, for good?", "taking back a share"),
        }
    }
}
