//! `resume`: going on with a session in another agent.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use clap::Args;
use ramus_engine::HandedOver;
use ramus_interchange::{Format, Start, TAKEN_ID, taken_id};
use serde_json::json;

use super::export::convert::{losses_json, spawned_there, tell_losses};
use crate::agents;
use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, json};

const EXAMPLES: &str = "\
Writes the path to the leaf, or to the entry that is named, as a session of the agent, with an id of its own and where the agent \
looks for it, and starts the agent in the session's directory. Nothing that is there is replaced. opencode and goose keep \
databases, which only they write: they are told to take the file in. What the agent has no words for is told.

Without a terminal, or with --print, the agent is not started, and the command that starts it is printed. goose gives what it takes \
in an id of its own: with --json `id_from_import` is true then, and {id} stands in the command for the id that the import prints.

Examples:
  ramus resume last --in claude
  ramus resume 0190@plan --in codex
  ramus resume last --in opencode --print";

/// Go on with a session in another agent
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Resume {
    /// The session, and the entry that the path ends with
    #[arg(value_name = "SESSION[@ENTRY]")]
    session: String,
    /// The agent: claude, codex, gemini, opencode, pi, omp, goose, opal or shepherd
    #[arg(long = "in", value_name = "AGENT")]
    agent: String,
    /// Work in this directory [default: the session's]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Write the session and print the command instead of running it
    #[arg(long, visible_alias = "print-command")]
    print: bool,
}

impl Resume {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let is_resumed = |format: Format| !format.codec().place(&Start::default()).resume.is_empty();
        if let Some(format) = Format::from_name(&self.agent).filter(|format| !is_resumed(*format)) {
            let message = format!("no command goes on with a session of {}", format.name());
            let hint = format!("`ramus export SESSION --to {} -o FILE` writes it", format.name());
            return Err(Refusal::usage(message).hint(hint).into());
        }
        let format = agents::named(&self.agent, is_resumed)?;
        let (session, entry) = invocation.session_and_entry(&self.session)?;
        invocation.mention_damage(session.log(), &self.session)?;
        let directory = match &self.cwd {
            Some(cwd) => PathBuf::from(invocation.directory(cwd)?),
            None => PathBuf::from(session.cwd()),
        };
        if !directory.is_dir() {
            let message = format!("the directory of the session, {}, is not there", directory.display());
            return Err(Refusal::not_found(message).hint("name another one with --cwd DIR").into());
        }
        let environment = agents::environment(&invocation.cwd)?;
        let mut handed = invocation.engine.hand_over(&session, entry, format, &environment, &directory)?;
        handed.losses.extend(spawned_there(invocation, &session)?);
        invocation.mention_missing_blobs(&session.missing_blobs(), &self.session)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(json::members(json!({"resume": {
                "session": session.id().as_str(),
                "agent": format.name(),
                "id": handed.id.as_str(),
                "file": handed.file,
                "directory": handed.directory,
                "import": handed.import,
                "command": handed.resume,
                "id_from_import": is_named_by_import(&handed),
                "lossy": losses_json(&handed.losses),
            }})))?;
            return Ok(Exit::Done);
        }
        tell_losses(invocation, &handed.losses)?;
        if self.print || !invocation.screen.is_terminal() {
            let line = shell_line(&handed);
            invocation.screen.data(format!("{line}\n").as_bytes())?;
            return Ok(Exit::Done);
        }
        self.start(invocation, &handed)
    }

    fn start(&self, invocation: &mut Invocation<'_>, handed: &HandedOver) -> anyhow::Result<Exit> {
        invocation.screen.flush()?;
        let mut words = handed.resume.clone();
        if let Some(import) = command(&handed.import, &handed.directory) {
            let said = self.take_in(invocation, import, handed)?;
            let id = taken_id(&said).filter(|_| is_named_by_import(handed));
            words.iter_mut().filter(|word| *word == TAKEN_ID).for_each(|word| id.unwrap_or(TAKEN_ID).clone_into(word));
            if id.is_none() && is_named_by_import(handed) {
                let message = format!("{} took the session in and does not say what it calls it", self.agent);
                return Err(Refusal::io(message).hint(format!("the session is in {}", handed.file.display())).into());
            }
        }
        let Some(mut resume) = command(&words, &handed.directory) else { return Ok(Exit::Done) };
        // It takes the place of this process, so it only comes back when it failed.
        Err(anyhow::Error::from(resume.exec()).context(self.hint(handed)))
    }

    /// Has the agent take the file in. Returns what it says, where that is of use.
    fn take_in(
        &self,
        invocation: &mut Invocation<'_>,
        mut import: Command,
        handed: &HandedOver,
    ) -> anyhow::Result<String> {
        let (status, said) = if is_named_by_import(handed) {
            let output = import.stdin(Stdio::inherit()).output().with_context(|| self.hint(handed))?;
            let said =
                [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).join("\n");
            let mut told = Text::new();
            for line in said.lines().filter(|line| !line.is_empty()) {
                told.plain(line).end();
            }
            invocation.screen.note(&told)?;
            (output.status, said)
        } else {
            (import.status().with_context(|| self.hint(handed))?, String::new())
        };
        if !status.success() {
            let message = format!("{} did not take the session in: {status}", self.agent);
            return Err(Refusal::io(message).hint(format!("the session is in {}", handed.file.display())).into());
        }
        Ok(said)
    }

    fn hint(&self, handed: &HandedOver) -> String {
        format!("cannot start {}; the session is written, and this goes on with it: {}", self.agent, shell_line(handed))
    }
}

fn command(words: &[String], directory: &Path) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    Some(command)
}

/// Says whether the agent gives the session its id when it takes it in.
fn is_named_by_import(handed: &HandedOver) -> bool {
    handed.resume.iter().any(|word| word == TAKEN_ID)
}

/// What a person types to go on. An id that the import prints is found in what it prints.
fn shell_line(handed: &HandedOver) -> String {
    let word = |word: &String| if word == TAKEN_ID { "\"$id\"".to_owned() } else { quoted(word) };
    let line = |words: &[String]| words.iter().map(word).collect::<Vec<_>>().join(" ");
    let import = match is_named_by_import(handed) {
        true => format!("id=$({} 2>&1 | grep -owE '[0-9]{{8}}_[0-9]+' | head -n 1)", line(&handed.import)),
        false => line(&handed.import),
    };
    let parts = [format!("cd {}", quoted(&handed.directory.to_string_lossy())), import, line(&handed.resume)];
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" && ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
