//! `chat`: turn after turn with one session, from a line editor or from whatever comes in through a pipe.
//!
//! Nothing is kept here that is not in the session: it is opened anew for every line, so what other programs and the slash
//! commands did to it counts.

mod afar;
mod line;
mod slash;
mod typing;

use std::collections::VecDeque;

use clap::{Args, Parser as _};
use ramus_catalogue::HistoryQuery;
use ramus_engine::{Boot, NewSession, Session};
use ramus_model::request::ToolDefinition;

use super::run::drive::Driver;
use super::run::equipment::{Kept, equip};
use super::run::options::Options;
use super::run::report;
use super::run::said::Said;
use crate::cli::Cli;
use crate::failure::{Exit, Failure, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, glyphs, style};
use line::{Input, Source};
use slash::Slash;
use typing::Typing;

/// How many prompts of before the line editor knows.
const REMEMBERED: usize = 500;

const EXAMPLES: &str = "\
A line that ends in a backslash goes on in the next one; so does one that ends with Alt-Enter. What is typed while the model \
answers is told to it before its next step; with > in front it waits until the turn is over. Ctrl-C stops the turn, Ctrl-D \
ends the chat. /help lists the commands.

Without a terminal every line that comes in is one turn.

Examples:
  ramus chat
  ramus chat -c --model anthropic/claude-sonnet-5
  printf 'what is this project?\\n/tree\\n' | ramus chat";

/// Talk with a model, turn after turn
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Chat {
    /// The session to go on with
    #[arg(long, short, conflicts_with = "continue_")]
    session: Option<String>,
    /// Go on with the session this terminal was last in
    #[arg(long = "continue", short = 'c')]
    continue_: bool,
    #[command(flatten)]
    options: Options,
}

impl Chat {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let named = self.session.as_deref().or(self.continue_.then_some("this"));
        if let Some(remote) = invocation.remote() {
            return afar::run(invocation, remote, named, &self.options);
        }
        let session = named.map(|name| invocation.session(name)).transpose()?;
        let mut talk = Talk {
            options: self.options.clone(),
            // An id names a session as long as it lives; a file of another program is named by its path.
            name: session.as_ref().map(name_of),
            kept: Kept::default(),
            waiting: VecDeque::new(),
            driver: Driver::start()?,
            last: Exit::Done,
        };
        let mut source = Source::open(invocation.screen.wants_json(), &talk.remembered(invocation))?;
        talk.greet(invocation, session.as_ref(), &source)?;
        drop(session);
        converse(invocation, &mut source, &mut talk)
    }
}

/// Someone to talk with, here or elsewhere.
trait Partner {
    /// Does what a line says. Returns whether the chat goes on.
    fn take(&mut self, invocation: &mut Invocation<'_>, source: &mut Source, line: &str) -> anyhow::Result<bool>;

    /// What was typed during a turn and is still to be done.
    fn waiting(&mut self) -> &mut VecDeque<String>;

    /// How the last turn ended.
    fn last(&mut self) -> &mut Exit;

    /// Keeps what was typed during a turn and not told: it is done next, unless the turn was stopped.
    fn keep(&mut self, source: &mut Source, left: Vec<String>) {
        if *self.last() == Exit::Interrupted {
            // Whoever stopped a turn may not want to say the rest.
            source.offer(&left.join("\n"));
        } else {
            self.waiting().extend(left);
        }
    }
}

/// Takes line after line until there are no more.
fn converse(invocation: &mut Invocation<'_>, source: &mut Source, with: &mut dyn Partner) -> anyhow::Result<Exit> {
    loop {
        invocation.screen.flush()?;
        let line = match with.waiting().pop_front() {
            Some(line) => line,
            None => match source.read()? {
                Input::Line(line) => line,
                Input::Nothing => continue,
                Input::End => break,
            },
        };
        match with.take(invocation, source, &line) {
            Ok(true) => {}
            Ok(false) => break,
            // What went wrong with one line is told, and the next one is another chance.
            Err(error) => {
                let Some(failure) = Failure::of(&error) else { break };
                failure.report(invocation.screen);
                *with.last() = Exit::Failed;
            }
        }
    }
    // A person saw how every turn ended; a program has only this.
    Ok(if source.is_person() { Exit::Done } else { *with.last() })
}

/// A conversation that is under way.
struct Talk {
    options: Options,
    /// What the session is called; none before anything was said in a new one.
    name: Option<String>,
    /// What one turn leaves for the next.
    kept: Kept,
    /// What was typed during a turn and is still to be done.
    waiting: VecDeque<String>,
    driver: Driver,
    last: Exit,
}

impl Partner for Talk {
    fn take(&mut self, invocation: &mut Invocation<'_>, source: &mut Source, line: &str) -> anyhow::Result<bool> {
        if line.trim().is_empty() {
            return Ok(true);
        }
        let Some(slash) = Slash::parse(line)? else {
            let mut session = self.session(invocation)?;
            self.turn(invocation, source, &mut session, Said::words(line.trim()))?;
            return Ok(true);
        };
        match slash {
            Slash::Quit => return Ok(false),
            Slash::Help => invocation.screen.note(&slash::help())?,
            Slash::Tools => self.list_tools(invocation)?,
            Slash::Cost => self.cost(invocation)?,
            Slash::Model(name) => {
                let mut session = self.session(invocation)?;
                invocation.engine.switch_model(&mut session, &name)?;
                self.options.model = None;
                self.remark(invocation, &format!("{name} answers from here on"))?;
            }
            Slash::Agent(name) => {
                let session = self.session(invocation)?;
                let agent = invocation.settings_in(session.cwd())?.agent(&name)?;
                self.options.agent = Some(agent.name);
                self.remark(invocation, &format!("{name} answers from here on"))?;
            }
            Slash::Edit(text) => {
                let mut session = self.session(invocation)?;
                let said = last_said(&session)?;
                let before = session.message(said)?.map(|message| message.text()).unwrap_or_default();
                let Some(text) = text.or_else(|| source.change(&before)) else { return Ok(true) };
                invocation.engine.rewind_before(&mut session, said)?;
                self.turn(invocation, source, &mut session, Said::words(text.trim()))?;
            }
            Slash::Regenerate => {
                let mut session = self.session(invocation)?;
                invocation.engine.rewind_to_last_said(&mut session)?;
                self.turn(invocation, source, &mut session, Said::default())?;
            }
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
    fn turn(
        &mut self,
        invocation: &mut Invocation<'_>,
        source: &mut Source,
        session: &mut Session,
        said: Said,
    ) -> anyhow::Result<()> {
        if let Some(text) = &said.text {
            source.remember(text);
        }
        let runtime = self.driver.handle()?;
        let mut equipped = equip(invocation, session, runtime, &self.options.choices(), &mut self.kept, said)?;
        let post = Driver::inbox();
        let inbox = post.0.clone();
        let tell = move |input| inbox.send(input);
        let typing = source.is_person().then(|| Typing::start(tell)).transpose()?;
        if let Some(typing) = &typing {
            equipped.turn.asker = typing.polite(equipped.turn.asker);
        }
        let result = self.driver.turn(invocation, session, equipped, post, &mut |event| {
            typing.iter().for_each(|typing| typing.notice(event));
        });
        let left = typing.map(Typing::stop).unwrap_or_default();
        let result = result?;
        self.last = report::report(invocation.screen, session.id(), &result, self.options.script.is_some())?;
        self.keep(source, left);
        Ok(())
    }

    /// Opens the session, or makes it when nothing was said yet.
    fn session(&mut self, invocation: &Invocation<'_>) -> anyhow::Result<Session> {
        if let Some(name) = &self.name {
            return invocation.session(name);
        }
        let cwd = invocation.cwd.clone();
        let mut session = invocation.engine.create(NewSession { cwd, ..NewSession::default() })?;
        invocation.engine.boot(&mut session, &Boot::default())?;
        self.name = Some(name_of(&session));
        Ok(session)
    }

    fn list_tools(&mut self, invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
        let session = self.session(invocation)?;
        let choices = self.options.choices();
        let runtime = self.driver.handle()?;
        let tools = equip(invocation, &session, runtime, &choices, &mut self.kept, Said::default())?.turn.tools;
        let tools: Vec<ToolDefinition> = tools.iter().map(|tool| tool.definition()).collect();
        invocation.screen.text(&told_tools(tools.iter().map(|tool| (&*tool.name, &*tool.description))))
    }

    fn cost(&mut self, invocation: &mut Invocation<'_>) -> anyhow::Result<()> {
        let info = self.session(invocation)?.info()?;
        let cost = crate::render::usage::cost(info.usage.cost(&invocation.prices()?));
        let mut text = Text::new();
        let separator = glyphs::of_terminal().separator;
        let tokens = crate::render::quantity::grouped(info.usage.tokens.sum());
        text.plain(&format!("{tokens} tokens{separator}{cost}{separator}session {}", info.id)).end();
        invocation.screen.text(&text)
    }

    fn remark(&self, invocation: &mut Invocation<'_>, words: &str) -> anyhow::Result<()> {
        let mut text = Text::new();
        invocation.screen.note(text.styled(style::DIM, words).end())
    }

    fn greet(&self, invocation: &mut Invocation<'_>, session: Option<&Session>, source: &Source) -> anyhow::Result<()> {
        if !source.is_person() {
            return Ok(());
        }
        let title = session.map(Session::info).transpose()?.map(|info| info.title);
        let where_to = title.map_or_else(|| "a new session".to_owned(), |title| format!("going on with {title}"));
        self.remark(invocation, &format!("{where_to}; /help lists the commands, Ctrl-D ends the chat"))
    }

    /// What was asked before in this directory, oldest first. Without a history there is nothing to go back to.
    fn remembered(&self, invocation: &Invocation<'_>) -> Vec<String> {
        let query = HistoryQuery { text: String::new(), cwd: Some(invocation.cwd.clone()), limit: REMEMBERED };
        let prompts = invocation.engine.prompts(&query).unwrap_or_default();
        prompts.into_iter().rev().map(|prompt| prompt.text).collect()
    }
}

/// Runs another command of this program on the session.
fn command(invocation: &mut Invocation<'_>, name: Option<String>, slash: Slash) -> anyhow::Result<()> {
    let nothing = || Refusal::usage("nothing was said yet").hint("say something first");
    let name = name.ok_or_else(nothing)?;
    let words = slash.command(name);
    if let Some(command) = Cli::try_parse_from(std::iter::once("ramus".to_owned()).chain(words))?.command {
        command.run(invocation)?;
    }
    Ok(())
}

/// A line for each tool.
fn told_tools<'t>(tools: impl Iterator<Item = (&'t str, &'t str)>) -> Text {
    let mut text = Text::new();
    for (name, description) in tools {
        text.padded(style::BOLD, name, 10).cut(style::DIM, description, 100).end();
    }
    text
}

fn last_said(session: &Session) -> anyhow::Result<ramus_model::Seq> {
    session.last_said().ok_or_else(|| Refusal::usage("nothing was said yet on this path").into())
}

fn name_of(session: &Session) -> String {
    let file = session.location().path.as_deref().and_then(std::path::Path::to_str);
    let is_theirs = session.residence() == ramus_store::Residence::InPlace;
    file.filter(|_| is_theirs).map_or_else(|| session.id().to_string(), str::to_owned)
}
