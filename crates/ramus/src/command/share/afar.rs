//! A path of a session at a server, shared there.

use serde_json::json;

use super::{Share, tell};
use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, style};

impl Share {
    /// Has a server share it.
    pub(super) fn ask(
        &self,
        invocation: &mut Invocation<'_>,
        remote: &Remote,
        argument: &str,
        lifetime: Option<i64>,
    ) -> anyhow::Result<Exit> {
        let (id, entry) = remote.target(argument)?;
        let seconds = lifetime.map(|millis| millis / 1000);
        let share = |dry_run: bool| {
            // The page comes with the last answer, so it is what is or would be shared.
            let page = self.html.is_some() && dry_run == self.dry_run;
            let what = json!({
                "entry": entry, "include": self.include, "expires_in": seconds, "dry_run": dry_run, "page": page,
            });
            let mut answer = remote.act(&id, "share", &what)?;
            match answer.shift_remove("page") {
                Some(page) => self.write_html(|| page.as_str().unwrap_or_default().to_owned()).map(|()| answer),
                None => Ok(answer),
            }
        };
        let preview = share(true)?;
        if self.dry_run && invocation.screen.wants_json() {
            invocation.screen.json(preview)?;
            return Ok(Exit::Done);
        }
        let mut told = Text::new();
        let findings = preview.items("redacted");
        tell::counts(&mut told, preview.items("entries").len(), remote.describe(&id)?.word("title"), findings);
        if self.dry_run {
            invocation.screen.text(&told)?;
            return Ok(Exit::Done);
        }
        let mut question = told.clone();
        question.plain("Share it?");
        if !self.yes && invocation.screen.ask(&mut question)? == Some(false) {
            return Err(Refusal::invalid("nothing was shared").into());
        }
        let answer = share(false)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let made = answer.get("share").cloned().unwrap_or_default();
        let mut text = Text::new();
        invocation.screen.text(text.plain(made.word("url")).end())?;
        if let Some(expires) = made.maybe("expires") {
            told.styled(style::DIM, &format!("it can be seen until {expires}")).end();
        }
        invocation.screen.note(&told)?;
        Ok(Exit::Done)
    }
}
