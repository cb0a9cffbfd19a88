//! The sessions of a server.

use serde_json::{Map, Value, json};

use super::shown::{Shown, unique, unique_of};
use super::{Key, List, pause};
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, table};

/// How many sessions a page holds.
const PAGE: usize = 10_000;

impl List {
    /// Lists the sessions of a server, and goes on when they are watched.
    pub(super) fn ask(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let mut last: Option<Map<String, Value>> = None;
        let mut shown = Text::new();
        loop {
            let answer = self.pages(invocation, remote)?;
            let redraws = self.watch && invocation.screen.is_terminal() && !invocation.screen.wants_json();
            if redraws {
                let text = self.drawn(invocation, &answer);
                if text.as_styled() != shown.as_styled() {
                    invocation.screen.take_back(shown.as_styled().lines().count())?;
                    invocation.screen.text(&text)?;
                    shown = text;
                }
            } else if last.as_ref() != Some(&answer) {
                self.print_answer(invocation, &answer)?;
                last = Some(answer);
            }
            if !self.watch {
                return Ok(Exit::Done);
            }
            invocation.screen.flush()?;
            pause();
        }
    }

    /// Asks for one page, or for all when nobody said how many.
    fn pages(&self, invocation: &Invocation<'_>, remote: &Remote) -> anyhow::Result<Map<String, Value>> {
        let limit = self.limit(invocation);
        let mut cursor = self.cursor.clone();
        let mut whole: Option<Map<String, Value>> = None;
        loop {
            let cwd = match (&self.cwd, self.all) {
                (_, true) => None,
                (Some(cwd), false) => Some(invocation.directory(cwd)?),
                (None, false) => Some(invocation.cwd.clone()),
            };
            let parent = self.parent.as_deref().map(|parent| remote.id(parent)).transpose()?;
            let request = remote.get(&["sessions"]).maybe("cwd", cwd).maybe("search", self.search.as_ref());
            let request = request
                .maybe("tag", self.tag.as_ref())
                .maybe("project", self.project.as_ref())
                .maybe("agent", self.agent.as_ref());
            let request = request.maybe("parent", parent).maybe("cursor", cursor.as_ref());
            let request = request.maybe("owner", self.owner.as_ref());
            let request = request.flag("archived", self.archived).flag("drafts", self.drafts);
            let request = request.flag("starred", self.starred).flag("reverse", self.reverse);
            let request = request.query("sort", name(self.sort)).flag("ids", !invocation.screen.wants_json());
            let page = remote.answer(request.query("limit", limit.unwrap_or(PAGE).to_string()))?;
            cursor = page.maybe("next_cursor").map(str::to_owned);
            let whole = match &mut whole {
                None => whole.insert(page),
                Some(whole) => {
                    if let Some(Value::Array(sessions)) = whole.get_mut("sessions") {
                        sessions.extend(page.items("sessions").iter().cloned());
                    }
                    whole.insert("next_cursor".into(), json!(cursor));
                    whole
                }
            };
            if limit.is_some() || cursor.is_none() {
                return Ok(std::mem::take(whole));
            }
        }
    }

    fn print_answer(&self, invocation: &mut Invocation<'_>, answer: &Map<String, Value>) -> anyhow::Result<()> {
        for one in answer.items("unreadable") {
            let (session, reason) = (one.word("session"), one.word("reason"));
            invocation.screen.warn(&format!("session {session} cannot be read: {reason}"))?;
        }
        if invocation.screen.wants_json() {
            return invocation.screen.json(answer.clone());
        }
        let text = self.drawn(invocation, answer);
        invocation.screen.text(&text)
    }

    fn drawn(&self, invocation: &Invocation<'_>, answer: &Map<String, Value>) -> Text {
        let names = answer.words("ids");
        let unique = unique(&names);
        let sessions = answer.items("sessions");
        let nothing = Value::Null;
        let hidden = answer.get("hidden").unwrap_or(&nothing);
        let moved = sessions.iter().filter(|session| session.maybe("moved_to").is_some());
        let shown = Shown {
            rows: sessions.iter().map(|one| table::Row::told(one, unique_of(&unique, one.word("id")))).collect(),
            moved: moved.map(|session| session.word("cwd")).collect(),
            hidden: ["other_directories", "drafts", "archived"].map(|name| hidden.count(name)),
            next_cursor: answer.maybe("next_cursor"),
        };
        self.show(invocation, &shown)
    }
}

fn name(key: Key) -> &'static str {
    match key {
        Key::Updated => "updated",
        Key::Created => "created",
        Key::Title => "title",
        Key::Messages => "messages",
        Key::Cost => "cost",
        Key::Tokens => "tokens",
    }
}

/// Returns all sessions that answer some parameters, drafts and archived ones too.
pub(crate) fn all_of(remote: &Remote, parameters: &[(&str, Option<&str>)]) -> anyhow::Result<Vec<Value>> {
    let mut all = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let request = remote.get(&["sessions"]).flag("archived", true).flag("drafts", true);
        let request = request.query("limit", PAGE.to_string()).maybe("cursor", cursor.as_ref());
        let request = parameters.iter().fold(request, |request, (name, value)| request.maybe(name, *value));
        let mut page = remote.answer(request)?;
        cursor = page.maybe("next_cursor").map(str::to_owned);
        if let Some(Value::Array(sessions)) = page.shift_remove("sessions") {
            all.extend(sessions);
        }
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

/// Returns the ids of all sessions, for whoever shortens them.
pub(crate) fn ids(remote: &Remote) -> anyhow::Result<Vec<String>> {
    let answer = remote.answer(remote.get(&["sessions"]).flag("ids", true).query("limit", "1"))?;
    Ok(answer.words("ids").into_iter().map(str::to_owned).collect())
}
