//! `search`: entries of all sessions by their words.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use ramus_engine::{Hit, Hits, IndexState, Search as Request, WhichDirectory};
use ramus_model::search::{Query, QueryError, Reading, Segment, Snippet};
use ramus_model::{EntryId, time};
use serde_json::{Map, Value};

use super::list;
use crate::cli::how_many;
use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, quantity, short_id, style};

const EXAMPLES: &str = "\
Searches what people, models and tools said, thinking, tool calls and their output, summaries, labels and titles, in all \
sessions of the home, archived ones and drafts too. The best hit comes first; `ramus show SESSION@ENTRY` opens it.

All words must occur in the same entry, in any order; case and accents do not count.
  \"exact phrase\"        words that follow each other (quote it for the shell: '\"exact phrase\"')
  parse_header, a/b.rs  words of an identifier or path follow each other; camelCase is found by its parts, too
  pars*                 words that start so
  -word                 entries without it (in one argument with others, or behind --)
  role:user             who speaks: user, assistant, tool, bash, system, custom, summary, label, title
  tool:bash model:opus  a tool that is called or answers; a model that answers
  file:src/main.rs      a file that a tool call names
  has:error             something failed
  after:7d before:2026-02-16   when it was written (UTC)
  cwd:/srv/shop project:shop tag:todo is:archived is:fork is:starred   of which sessions

Examples:
  ramus search borrow checker
  ramus search '\"cannot find\" role:tool has:error after:30d'
  ramus search --session this parse_header
  ramus search --json 'file:Cargo.toml' | jq -r '.hits[] | .session + \"@\" + .entry'";

/// How often the home is looked at while one watches.
const PAUSE: Duration = Duration::from_millis(500);

/// Search what was said in all sessions
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Search {
    /// What to look for
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// Search only this session: all it shows, what it shares with its origin included
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["cwd", "all"])]
    session: Option<String>,
    /// Show at most so many hits
    #[arg(long, value_name = "N", value_parser = how_many, default_value = "20")]
    limit: usize,
    /// Search only sessions of this directory
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    cwd: Option<PathBuf>,
    /// Search the sessions of all directories [default]
    #[arg(long)]
    all: bool,
    /// Take the last word as the start of one, as it is being typed
    #[arg(long)]
    prefix: bool,
    /// Go on with what is written while one watches
    #[arg(long)]
    watch: bool,
}

impl Search {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut request = Request::new(self.query()?);
        request.limit = self.limit;
        if let Some(cwd) = &self.cwd {
            request.directory = WhichDirectory::One(invocation.directory(cwd)?);
        }
        let remote = invocation.remote();
        let session = match (&self.session, &remote) {
            (Some(session), Some(remote)) => Some(remote.id(session)?),
            (Some(session), None) => Some(invocation.session_name(session)?),
            (None, _) => None,
        };
        let mut shown: Option<Hits> = None;
        loop {
            let hits = match &session {
                _ if remote.is_some() => self.ask(invocation, session.as_deref())?,
                Some(session) => invocation.engine.search_session(session, &invocation.cwd, &request)?,
                None => invocation.engine.search(&request)?,
            };
            if shown.as_ref().is_none_or(|shown| !is_same(shown, &hits)) {
                self.print(invocation, &hits, shown.as_ref())?;
                shown = Some(hits);
            }
            if !self.watch {
                return Ok(Exit::Done);
            }
            invocation.screen.flush()?;
            pause();
        }
    }

    /// Asks a server.
    fn ask(&self, invocation: &Invocation<'_>, session: Option<&str>) -> anyhow::Result<Hits> {
        let Some(remote) = invocation.remote() else { return Ok(Hits::default()) };
        let cwd = self.cwd.as_ref().map(|cwd| invocation.directory(cwd)).transpose()?;
        let request = remote.get(&["search"]).query("q", self.query.join(" ")).maybe("session", session);
        let request = request.maybe("cwd", cwd).query("limit", self.limit.to_string()).flag("prefix", self.prefix);
        Ok(hits(&remote.answer(request)?))
    }

    fn query(&self) -> anyhow::Result<Query> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        let typed = self.query.join(" ");
        Ok(Query::parse(&typed, Reading { now, typing: self.prefix }).map_err(|error| refusal(&error))?)
    }

    fn print(&self, invocation: &mut Invocation<'_>, hits: &Hits, before: Option<&Hits>) -> anyhow::Result<()> {
        for (session, reason) in &hits.unreadable {
            invocation.screen.warn(&format!("session {session} cannot be read and was not searched: {reason}"))?;
        }
        for session in &hits.damaged {
            let told = "is damaged and was searched as far as it can be read";
            invocation
                .screen
                .warn(&format!("session {session} {told}; `ramus doctor {session}` tells what is wrong"))?;
        }
        if invocation.screen.wants_json() {
            return invocation.screen.json(ramus_wire::search::hits(hits));
        }
        if let Some(index) = hits.index.filter(|index| !index.ready && before.is_none()) {
            let [indexed, sessions] = [index.indexed, index.sessions].map(|count| quantity::grouped(count as u64));
            let told = format!("the index has {indexed} of {sessions} sessions, the others were read through; ");
            let mut text = Text::new();
            text.styled(style::DIM, &(told + "`ramus catalogue rebuild` indexes all")).end();
            invocation.screen.note(&text)?;
        }
        self.tell(invocation, hits, before)
    }

    fn tell(&self, invocation: &mut Invocation<'_>, hits: &Hits, before: Option<&Hits>) -> anyhow::Result<()> {
        let mut text = Text::new();
        let width = invocation.screen.width();
        let ids: Vec<String> = match invocation.remote() {
            Some(remote) => list::ids(&remote)?,
            None => invocation.engine.session_ids()?.iter().map(ToString::to_string).collect(),
        };
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        let unique: HashMap<&str, usize> = names.iter().copied().zip(short_id::unique_lengths(&names)).collect();
        let is_new = |hit: &&Hit| !before.is_some_and(|before| before.hits.iter().any(|old| is_same_hit(old, hit)));
        for hit in hits.hits.iter().filter(is_new) {
            let unique = unique.get(hit.session.as_str()).copied().unwrap_or(hit.session.len());
            put(&mut text, hit, unique, width);
        }
        if hits.hits.is_empty() {
            text.plain(&self.nothing(hits)).end();
        } else if hits.total > hits.hits.len() && before.is_none() {
            let more = quantity::grouped((hits.total - hits.hits.len()) as u64);
            let least = if hits.is_counted { "" } else { "at least " };
            text.styled(style::DIM, &format!("{least}{more} more: add words, or --limit {}", hits.total)).end();
        }
        invocation.screen.text(&text)
    }

    /// What to say when there are no hits.
    fn nothing(&self, hits: &Hits) -> String {
        let wide = match (&self.session, &self.cwd) {
            (Some(_), _) => "nothing found in this session".to_owned(),
            (None, Some(_)) => "nothing found in this directory; without --cwd all are searched".to_owned(),
            (None, None) => {
                let sessions = hits.index.map_or(1, |index| index.sessions);
                format!("nothing found in {}", quantity::count(sessions, "session", "sessions"))
            }
        };
        if self.prefix { wide } else { format!("{wide}; fewer words, or word* for its start, find more") }
    }
}

/// Reads what a server found.
fn hits(answer: &Map<String, Value>) -> Hits {
    let segment = |one: &Value| Segment { text: one.word("text").to_owned(), is_match: one.says("match") };
    let hit = |one: &Value| Hit {
        session: one.word("session").to_owned(),
        entry: one.maybe("entry").map(EntryId::new),
        role: one.word("role").to_owned(),
        snippet: Snippet { segments: one.items("segments").iter().map(segment).collect() },
        timestamp: one.word("timestamp").to_owned(),
        millis: time::parse(one.word("timestamp")),
        title: one.word("title").to_owned(),
        cwd: one.word("cwd").to_owned(),
        score: one.get("score").and_then(Value::as_f64).unwrap_or_default(),
        tools: one.words("tools").into_iter().map(str::to_owned).collect(),
        model: one.maybe("model").map(str::to_owned),
        error: one.says("error"),
    };
    let unreadable = |one: &Value| (one.word("session").to_owned(), one.word("reason").to_owned());
    let index = answer.get("index").filter(|index| !index.is_null());
    Hits {
        hits: answer.items("hits").iter().map(hit).collect(),
        total: answer.count("total"),
        is_counted: answer.says("total_is_exact"),
        damaged: answer.words("damaged").into_iter().map(str::to_owned).collect(),
        unreadable: answer.items("unreadable").iter().map(unreadable).collect(),
        index: index.map(|index| IndexState {
            ready: index.says("ready"),
            indexed: index.count("indexed"),
            sessions: index.count("sessions"),
        }),
    }
}

fn refusal(error: &QueryError) -> Refusal {
    let refusal = Refusal::usage(error.to_string());
    match error.hint() {
        Some(hint) => refusal.hint(hint),
        None => refusal.hint("`ramus search --help` shows what can be asked"),
    }
}

/// Says whether two answers show the same; scores change with everything that is written.
fn is_same(a: &Hits, b: &Hits) -> bool {
    a.hits.len() == b.hits.len() && a.total == b.total && a.hits.iter().zip(&b.hits).all(|(a, b)| is_same_hit(a, b))
}

fn is_same_hit(a: &Hit, b: &Hit) -> bool {
    a.session == b.session && a.entry == b.entry && a.role == b.role && a.snippet == b.snippet
}

/// One hit: how to open it, who said it when and where, and why it was found.
fn put(text: &mut Text, hit: &Hit, unique: usize, width: usize) {
    let session = short_id::shown(&hit.session, unique);
    text.styled(style::ID, session);
    if let Some(entry) = &hit.entry {
        text.styled(style::ID, "@").styled(style::ID, entry.as_str());
    }
    let age = hit.millis.map(quantity::ago).unwrap_or_default();
    text.plain("  ").styled(style::BOLD, speaker(hit)).plain("  ").styled(style::DIM, &age).plain("  ");
    text.cut(style::NONE, &hit.title, width).end();
    text.spaces(4);
    for segment in &hit.snippet.segments {
        text.styled(if segment.is_match { style::FOUND } else { style::NONE }, &segment.text);
    }
    text.end();
}

/// Who speaks, for people.
fn speaker(hit: &Hit) -> &str {
    match hit.role.as_str() {
        "toolResult" => hit.tools.first().map_or("tool", String::as_str),
        "bashExecution" => "bash",
        "compactionSummary" | "branchSummary" => "summary",
        role => role,
    }
}

/// Waits until it is worth looking again.
#[expect(clippy::disallowed_methods, reason = "sessions are files that others write: there is no event to wait for")]
fn pause() {
    std::thread::sleep(PAUSE);
}
