//! A chat with a session of a server. Turns run there; what is typed meanwhile is sent.

use std::collections::VecDeque;
use std::rc::Rc;

use ramus_agent::Input as Typed;
use ramus_client::{NewSession, Order, WhenBusy};
use serde_json::{Value, json};

use super::line::Source;
use super::slash::{self, Slash};
use super::typing::Typing;
use super::{Partner, REMEMBERED, command, converse, told_tools};
use crate::command::run::options::Options;
use crate::command::run::{afar, person, report};
use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, glyphs, quantity, style, usage};

/// Talks with a session of a server.
pub(super) fn run(
    invocation: &mut Invocation<'_>,
    remote: Rc<Remote>,
    named: Option<&str>,
    options: &Options,
) -> anyhow::Result<Exit> {
    if options.script.is_some() {
        let refusal =
            Refusal::usage("a script goes on from turn to turn, and every turn of a server would begin it anew");
        return Err(refusal.hint("leave out --script, or --server; `ramus run --script` plays one turn there").into());
    }
    let name = named.map(|name| remote.id(name)).transpose()?;
    let mut talk = Talk { remote, options: options.clone(), name, waiting: VecDeque::new(), last: Exit::Done };
    let mut source = Source::open(invocation.screen.wants_json(), &talk.remembered(invocation))?;
    talk.greet(invocation, &source)?;
    converse(invocation, &mut source, &mut talk)
}

/// A conversation that is under way.
struct Talk {
    remote: Rc<Remote>,
    options: Options,
    /// The session; none before anything was said in a new one.
    name: Option<String>,
    waiting: VecDeque<String>,
    last: Exit,
}

impl Partner for Talk {
    fn take(&mut self, invocation: &mut Invocation<'_>, source: &mut Source, line: &str) -> anyhow::Result<bool> {
        if line.trim().is_empty() {
            return Ok(true);
        }
        let Some(said) = Slash::parse(line)? else {
            self.turn(invocation, source, Order { prompt: Some(line.trim().to_owned()), ..Order::default() })?;
            return Ok(true);
        };
        match said {
            Slash::Quit => return Ok(false),
            Slash::Help => invocation.screen.note(&slash::help())?,
            Slash::Tools => self.list_tools(invocation)?,
            Slash::Cost => self.cost(invocation)?,
            Slash::Model(name) => {
                let session = self.session(invocation)?;
                self.remote.change(&session, &json!({"model": name}))?;
                self.options.model = None;
                remark(invocation, &format!("{name} answers from here on"))?;
            }
            Slash::Agent(name) => {
                remark(invocation, &format!("{name} answers from here on"))?;
                self.options.agent = Some(name);
            }
            Slash::Edit(text) => {
                let (entry, before) = self.last_said(invocation)?;
                let Some(text) = text.or_else(|| source.change(&before)) else { return Ok(true) };
                let order = Order { prompt: Some(text.trim().to_owned()), edit: Some(entry), ..Order::default() };
                self.turn(invocation, source, order)?;
            }
            Slash::Regenerate => self.turn(invocation, source, Order { regenerate: true, ..Order::default() })?,
            other => command(invocation, self.name.clone(), other)?,
        }
        Ok(true)
    }

    fn waiting(&mut self) -> &mut VecDeque<String> {
        &mut self.waiting
    }

    fn last(&mut self) -> &mut Exit {
        &mut self.last
    }
}

impl Talk {
    /// Runs a turn. What was typed meanwhile and not told is kept.
    fn turn(&mut self, invocation: &mut Invocation<'_>, source: &mut Source, what: Order) -> anyhow::Result<()> {
        if let Some(text) = &what.prompt {
            source.remember(text);
        }
        let chosen = self.options.order(person::is_there(invocation.screen.wants_json()));
        let order = Order { prompt: what.prompt, edit: what.edit, regenerate: what.regenerate, ..chosen };
        let session = self.session(invocation)?;
        let (typed, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let tell = move |input| drop(typed.send(input));
        let typing = source.is_person().then(|| Typing::start(tell)).transpose()?;
        let keyboard = typing.as_ref().map(Typing::keyboard).unwrap_or_default();
        let runtime = self.remote.runtime().handle().clone();
        let mut begun = |handle: ramus_client::Handle| {
            let (_, nothing) = tokio::sync::mpsc::unbounded_channel();
            let mut heard = std::mem::replace(&mut heard, nothing);
            runtime.spawn(async move {
                while let Some(input) = heard.recv().await {
                    match input {
                        Typed::Steer(text) => afar::say(handle.clone(), text, WhenBusy::Steer).await,
                        Typed::FollowUp(text) => afar::say(handle.clone(), text, WhenBusy::Queue).await,
                        _ => {}
                    }
                }
            });
        };
        let remote = Rc::clone(&self.remote);
        let end = afar::turn(invocation, &remote, (&session, &order), &keyboard, &mut begun, &mut |event| {
            typing.iter().for_each(|typing| typing.notice(event));
        });
        let left = typing.map(Typing::stop).unwrap_or_default();
        self.last = report::tell(invocation.screen, end?, false)?;
        self.keep(source, left);
        Ok(())
    }

    /// Returns the session, or makes it when nothing was said yet.
    fn session(&mut self, invocation: &Invocation<'_>) -> anyhow::Result<String> {
        if let Some(name) = &self.name {
            return Ok(name.clone());
        }
        let new = NewSession { cwd: Some(invocation.cwd.clone()), ..NewSession::default() };
        let id = self.remote.wait(self.remote.client().create(&new))?.id;
        self.remote.act(&id, "boot", &json!({}))?;
        Ok(self.name.insert(id).clone())
    }

    /// What was said last on the path: which entry, and its words.
    fn last_said(&mut self, invocation: &Invocation<'_>) -> anyhow::Result<(String, String)> {
        let session = self.session(invocation)?;
        // Pages begin at the start of the path; what was said last is on the last one that somebody spoke on.
        let (mut said, mut cursor) = (None, None::<String>);
        loop {
            let request = self.remote.get(&["sessions", &session, "messages"]).query("limit", "10000");
            let answer = self.remote.answer(request.maybe("cursor", cursor.as_ref()))?;
            let last = answer.items("messages").iter().rfind(|message| message.word("role") == "user");
            said = last.map(|last| (last.word("id").to_owned(), last.word("text").to_owned())).or(said);
            match answer.get("next_cursor").and_then(Value::as_str) {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        said.ok_or_else(|| Refusal::usage("nothing was said yet on this path").into())
    }

    fn list_tools(&mut self, invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
        let session = self.session(invocation)?;
        let chosen = self.options.order(false);
        let answer = self.remote.act(&session, "tools", &json!({"model": chosen.model, "agent": chosen.agent}))?;
        let tools = answer.items("tools").iter().map(|tool| (tool.word("name"), tool.word("description")));
        invocation.screen.text(&told_tools(tools))
    }

    fn cost(&mut self, invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
        let session = self.session(invocation)?;
        let info = self.remote.describe(&session)?;
        let used = info.get("usage").cloned().unwrap_or_default();
        let names = ["input", "output", "cache_read", "cache_write"];
        let tokens = quantity::grouped(names.iter().map(|name| used.number(name)).sum());
        let cost = usage::cost(usage::cost_of(&Value::Object(info)));
        let separator = glyphs::of_terminal().separator;
        let mut text = Text::new();
        text.plain(&format!("{tokens} tokens{separator}{cost}{separator}session {session}")).end();
        invocation.screen.text(&text)
    }

    fn greet(&self, invocation: &mut Invocation<'_>, source: &Source) -> anyhow::Result<()> {
        if !source.is_person() {
            return Ok(());
        }
        let where_to = match &self.name {
            Some(name) => format!("going on with {}", self.remote.describe(name)?.word("title")),
            None => "a new session".to_owned(),
        };
        remark(invocation, &format!("{where_to}; /help lists the commands, Ctrl-D ends the chat"))
    }

    /// What was asked before in this directory, oldest first. Who may not know has nothing to go back to.
    fn remembered(&self, invocation: &Invocation<'_>) -> Vec<String> {
        let request = self.remote.get(&["history"]).query("cwd", &invocation.cwd);
        let answer = self.remote.answer(request.query("limit", REMEMBERED.to_string())).unwrap_or_default();
        answer.items("prompts").iter().rev().map(|prompt| prompt.word("prompt").to_owned()).collect()
    }
}

fn remark(invocation: &mut Invocation<'_>, words: &str) -> anyhow::Result<()> {
    let mut text = Text::new();
    invocation.screen.note(text.styled(style::DIM, words).end())
}
