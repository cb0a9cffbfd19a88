//! `export`: a session as a file, for other programs, for another home, or to read.

pub(crate) mod convert;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use ramus_engine::{BundleOptions, Extent, Include, Session, TranscriptScope, redact};
use ramus_interchange::Format as Agent;
use ramus_model::Seq;
use ramus_publish::markdown;
use ramus_redact::Finding;
use serde_json::json;

use crate::failure::{Exit, Refusal};
use crate::file::{self, Access};
use crate::invocation::Invocation;
use crate::redaction;
use crate::remote::Remote;
use crate::render::{Text, json, quantity};

const EXAMPLES: &str = "\
`json` is a bundle that loses nothing and that `ramus import` reads: entries keep their bytes and ids, and what is kept beside \
the session comes along; --with-snapshots adds the files of every snapshot, so that `ramus restore` works there too. `html` is one page that needs nothing else, with every branch. `md` is the path to the leaf; --all \
adds the other branches as sections. `pi` and `omp` write one version 3 file that stands on its own, with pictures in their \
entries; a session that was read from one of them is told in their words again, and with an entry only the path to it. A fork \
brings along what it shares with its origin.

The other formats are those of other agents: the path to the leaf, or to the entry that is named, as that agent would have stored \
it; --all adds the other branches where the format has any. A session that was read from that agent is written as it was read. \
What the agent has no words for is told. To go on in the agent itself there is `ramus resume --in`.

An export is for you: nothing is left out, unless --redact takes secrets, user names and home directories out of `html` and \
`md`. For others there is `ramus share`.

Examples:
  ramus export last > session.json
  ramus export last --with-children --with-snapshots -o session.json
  ramus export last --to html -o session.html
  ramus export 0190@plan --to md --redact
  ramus export last --to pi -o session.jsonl
  ramus export last@plan --to codex -o rollout.jsonl";

/// What a session can become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Bundle,
    Html,
    Markdown,
    /// For pi, or omp: a session of ours is what they read.
    VersionThree(Agent),
    Agent(Agent),
}

/// Write a session as a file
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Export {
    /// The session; for all formats but json, the entry that the path ends with
    #[arg(value_name = "SESSION[@ENTRY]")]
    session: String,
    /// The format: json, html, md, pi, omp, claude, codex, gemini, opencode, goose, opal, shepherd, okcvm, directory or atif
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    to: String,
    /// Where to write it; `-` is stdout
    #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// Write every branch (md, claude, okcvm; html, json, opal, pi and omp have them anyway)
    #[arg(long)]
    all: bool,
    /// Write the sessions that it spawned too, and theirs (json)
    #[arg(long)]
    with_children: bool,
    /// Write the files that its snapshots hold too (json)
    #[arg(long)]
    with_snapshots: bool,
    /// Take secrets, user names and home directories out (html, md)
    #[arg(long)]
    redact: bool,
}

impl Export {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let format = match self.to.as_str() {
            "json" => Format::Bundle,
            "html" => Format::Html,
            "md" | "markdown" => Format::Markdown,
            name => match Agent::from_name(name) {
                Some(agent @ (Agent::Pi | Agent::Omp)) => Format::VersionThree(agent),
                Some(agent) => Format::Agent(agent),
                None => {
                    let names: Vec<&str> = Agent::ALL.iter().map(|agent| agent.name()).collect();
                    let message = format!("this version cannot export to {name:?}");
                    let hint = format!("there are json, html, md, {}", names.join(", "));
                    return Err(Refusal::unavailable(message).hint(hint).into());
                }
            },
        };
        self.check_flags(format)?;
        if let (Format::Bundle, Some(remote)) = (format, invocation.remote()) {
            return self.download(invocation, &remote);
        }
        let (mut session, entry) = if format == Format::Bundle {
            (invocation.session(&self.session)?, None)
        } else {
            invocation.session_and_entry(&self.session)?
        };
        let path = session.location().path.clone();
        if path.as_deref().is_some_and(|path| is_same_file(path, &self.output)) {
            return Err(Refusal::invalid("the session lives in that file; export it to another one").into());
        }
        invocation.mention_damage(session.log(), &self.session)?;
        let id = session.id().to_string();
        let bytes = match format {
            Format::Bundle => return self.bundle(invocation, session),
            Format::Agent(agent) => {
                let extent = if self.all { Extent::Whole } else { Extent::Path(entry) };
                return self.convert(invocation, &session, extent, agent);
            }
            Format::VersionThree(agent) if entry.is_some() || is_of_an_agent(&session) => {
                let is_as_read = session.start().format == Some(agent);
                let extent = if entry.is_some() || is_as_read { Extent::Path(entry) } else { Extent::Whole };
                return self.convert(invocation, &session, extent, agent);
            }
            Format::VersionThree(_) => {
                let bytes = invocation.engine.export(&session)?;
                invocation.mention_missing_blobs(&session.missing_blobs(), &self.session)?;
                bytes
            }
            Format::Html => return self.page(invocation, session, entry),
            Format::Markdown => {
                let text = self.reading(invocation, &mut session, entry)?;
                invocation.mention_missing_blobs(&session.missing_blobs(), &self.session)?;
                text.into_bytes()
            }
        };
        if self.is_stdout() {
            invocation.screen.data(&bytes)?;
            return Ok(Exit::Done);
        }
        let written = file::write_whole(&self.output, &bytes, Access::Shared);
        written.with_context(|| format!("cannot write {}", self.output.display()))?;
        self.tell(invocation, &id, bytes.len() as u64)
    }

    fn check_flags(&self, format: Format) -> anyhow::Result<()> {
        let is_reading = matches!(format, Format::Html | Format::Markdown);
        let has_branches = matches!(format, Format::Agent(agent) if ramus_engine::has_branches(agent));
        let wrong = [
            (self.redact && !is_reading, "--redact works with html and md: the other formats lose nothing"),
            (self.all && !is_reading && !has_branches, "--all works with html, md, claude, opal and okcvm"),
            (self.with_children && format != Format::Bundle, "--with-children works with json"),
            (self.with_snapshots && format != Format::Bundle, "--with-snapshots works with json"),
        ];
        match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, message)) => Err(Refusal::usage(*message).into()),
            None => Ok(()),
        }
    }

    fn is_stdout(&self) -> bool {
        self.output == Path::new("-")
    }

    /// A text to read.
    fn reading(
        &self,
        invocation: &mut Invocation<'_>,
        session: &mut Session,
        entry: Option<Seq>,
    ) -> anyhow::Result<String> {
        let leaf = entry.or(session.log().leaf());
        let scope = if self.all { TranscriptScope::Whole(leaf) } else { TranscriptScope::Path(leaf) };
        let mut transcript = invocation.engine.transcript(session, scope, Include::everything())?;
        if self.redact {
            let redactor = redaction::redactor(invocation.home.settings());
            let mut pass = redactor.pass();
            redact(&mut transcript, &mut pass);
            mention_taken(invocation, pass.findings())?;
        }
        Ok(markdown::write(&transcript))
    }

    /// A page goes where it goes as it is made: it is longer than the session, which may be long.
    fn page(&self, invocation: &mut Invocation<'_>, mut session: Session, entry: Option<Seq>) -> anyhow::Result<Exit> {
        let (id, engine) = (session.id().to_string(), invocation.engine.clone());
        let leaf = entry.or(session.log().leaf());
        let is_whole = self.all || entry.is_none();
        let scope = if is_whole { TranscriptScope::Whole(leaf) } else { TranscriptScope::Path(leaf) };
        let redactor = self.redact.then(|| redaction::redactor(invocation.home.settings()));
        let mut write = |out: &mut dyn Write| {
            Ok(engine.write_page(&mut session, scope, Include::everything(), redactor.as_ref(), out)?)
        };
        let mut size = 0;
        let findings = if self.is_stdout() {
            let mut out = std::io::BufWriter::new(ToScreen(invocation));
            let findings = write(&mut out)?;
            out.flush()?;
            findings
        } else {
            let (findings, written) = file::write_stream(&self.output, Access::Shared, write)
                .with_context(|| format!("cannot write {}", self.output.display()))?;
            size = written;
            findings
        };
        if self.redact {
            mention_taken(invocation, &findings)?;
        }
        invocation.mention_missing_blobs(&session.missing_blobs(), &self.session)?;
        if self.is_stdout() { Ok(Exit::Done) } else { self.tell(invocation, &id, size) }
    }

    /// A bundle goes where it goes as it is made: it may be larger than memory.
    fn bundle(&self, invocation: &mut Invocation<'_>, session: Session) -> anyhow::Result<Exit> {
        let (id, engine) = (session.id().to_string(), invocation.engine.clone());
        let sessions = if self.with_children { engine.with_children(session)? } else { vec![session] };
        let options = BundleOptions { snapshots: self.with_snapshots, ..BundleOptions::default() };
        let mut size = 0;
        let bundled = if self.is_stdout() {
            let mut out = std::io::BufWriter::new(ToScreen(invocation));
            engine.export_bundle(&sessions, options, &mut out)?
        } else {
            let write = |out: &mut dyn Write| Ok(engine.export_bundle(&sessions, options, out)?);
            let (bundled, written) = file::write_stream(&self.output, Access::Private, write)
                .with_context(|| format!("cannot write {}", self.output.display()))?;
            size = written;
            bundled
        };
        invocation.mention_missing_blobs(&bundled.missing, &self.session)?;
        if self.is_stdout() { Ok(Exit::Done) } else { self.tell(invocation, &id, size) }
    }

    /// A bundle that a server makes.
    fn download(&self, invocation: &mut Invocation<'_>, remote: &Remote) -> anyhow::Result<Exit> {
        let id = remote.id(&self.session)?;
        let request = remote.get(&["sessions", &id, "export"]).query("to", "json");
        let request = request.flag("with_children", self.with_children).flag("with_snapshots", self.with_snapshots);
        let mut bundle = remote.spool(request)?;
        if self.is_stdout() {
            std::io::copy(&mut bundle, &mut ToScreen(invocation))?;
            return Ok(Exit::Done);
        }
        let write = |out: &mut dyn Write| Ok(std::io::copy(&mut bundle, out).map(drop)?);
        let ((), size) = file::write_stream(&self.output, Access::Private, write)
            .with_context(|| format!("cannot write {}", self.output.display()))?;
        self.tell(invocation, &id, size)
    }

    fn tell(&self, invocation: &mut Invocation<'_>, session: &str, bytes: u64) -> anyhow::Result<Exit> {
        if invocation.screen.wants_json() {
            let export = json!({
                "session": session,
                "format": self.to,
                "path": std::path::absolute(&self.output).unwrap_or_else(|_| self.output.clone()),
                "bytes": bytes,
            });
            invocation.screen.json(json::members(json!({"export": export})))?;
        } else {
            let mut text = Text::new();
            let size = quantity::size(bytes);
            text.plain(&format!("wrote {size} to ")).plain(&self.output.display().to_string()).end();
            invocation.screen.note(&text)?;
        }
        Ok(Exit::Done)
    }
}

/// Says how much was taken out.
fn mention_taken(invocation: &mut Invocation<'_>, findings: &[Finding]) -> anyhow::Result<()> {
    let count: usize = findings.iter().map(|finding| finding.count).sum();
    let taken = quantity::count(count, "value was", "values were");
    let mut text = Text::new();
    invocation.screen.note(text.plain(&format!("{taken} taken out or made anonymous")).end())?;
    Ok(())
}

/// Stdout, for what writes itself.
struct ToScreen<'i, 's>(&'i mut Invocation<'s>);

impl Write for ToScreen<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.screen.data(bytes).map_err(std::io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Says whether a session was read from an agent. Then its entries are told in the words of the agent they go to, and what that
/// one does not take is told; one of ours is written as it is, with everything that is in it.
fn is_of_an_agent(session: &Session) -> bool {
    session.start().format.is_some()
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
