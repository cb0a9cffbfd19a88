//! `demo`: a guided tour. The commands it shows are the commands it runs, in a home of its own that is gone afterwards.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use clap::{Args, Parser as _};
use serde_json::{Value, json};

use crate::cli::Cli;
use crate::failure::Exit;
use crate::home::Home;
use crate::invocation::{Invocation, Stdin};
use crate::render::{Text, json, short_id, style};
use crate::screen::Screen;

/// Show what ramus does, in a few seconds
///
/// Runs a tour of real commands in a temporary home. Your own sessions are not touched, and nothing is left behind.
#[derive(Debug, Args)]
pub(crate) struct Demo {}

impl Demo {
    pub(crate) fn run(&self, screen: &mut Screen) -> anyhow::Result<Exit> {
        let mut tour = Tour::start(screen)?;
        tour.play()?;
        if tour.screen.wants_json() {
            let steps = std::mem::take(&mut tour.steps);
            tour.screen.json(json::members(json!({"steps": steps})))?;
        }
        Ok(Exit::Done)
    }
}

/// What the model says in the turns of the tour.
const SCRIPTS: [(&str, &str); 3] = [
    ("look.toml", include_str!("demo/look.toml")),
    ("edit.toml", include_str!("demo/edit.toml")),
    ("again.toml", include_str!("demo/again.toml")),
];

/// A tour that is under way.
struct Tour<'s> {
    screen: &'s mut Screen,
    folder: tempfile::TempDir,
    /// The directory that commands seem to be started in.
    cwd: String,
    /// The home of the sessions; each part has its own, so that ids stay short.
    home: &'static str,
    steps: Vec<Value>,
}

impl<'s> Tour<'s> {
    fn start(screen: &'s mut Screen) -> anyhow::Result<Self> {
        Ok(Self { screen, folder: tempfile::tempdir()?, cwd: "/demo".to_owned(), home: "first", steps: Vec::new() })
    }

    fn play(&mut self) -> anyhow::Result<()> {
        self.work()?;
        self.talk()
    }

    /// Three turns with real tools in a directory of their own. The model is played by scripts, and says so.
    fn work(&mut self) -> anyhow::Result<()> {
        let project = self.folder.path().join("project");
        std::fs::create_dir_all(&project)?;
        let program = project.join("greet.sh");
        std::fs::write(&program, "#!/bin/sh\necho \"Hello, world\"\n")?;
        std::fs::set_permissions(&program, Permissions::from_mode(0o755))?;
        for (name, script) in SCRIPTS {
            std::fs::write(project.join(name), script)?;
        }
        self.cwd = project.canonicalize()?.to_string_lossy().into_owned();
        self.tell(
            "A model works in a directory, with tools. This one is played by a script; the tools and files are real.",
        )?;
        self.step(&["run", "What does greet.sh do?", "--script", "look.toml"])?;
        self.step(&["label", "last@", "looked"])?;
        self.turn("Let it greet someone by name.", "edit.toml")?;
        self.tell("Not quite what was wanted. Back to before it, conversation and files together.")?;
        self.step(&["revert", "last@looked"])?;
        self.tell("Another way from there. The first attempt stays as a branch, with its files.")?;
        self.turn("Let it greet someone by name, or else the world.", "again.toml")?;
        self.step(&["tree", "last"])?;
        self.step(&["search", "argument", "--limit", "1"])?;
        (self.cwd, self.home) = ("/demo".to_owned(), "second");
        Ok(())
    }

    /// One turn in which the model may do everything, in the session that the tour is in.
    fn turn(&mut self, prompt: &str, script: &str) -> anyhow::Result<()> {
        self.step(&["run", "-s", "last", prompt, "--script", script, "--permission", "all=allow"])?;
        Ok(())
    }

    /// What a tree is good for, message by message.
    fn talk(&mut self) -> anyhow::Result<()> {
        self.tell("A session is a tree that only grows. `new` starts one and prints its id.")?;
        let session = self.step(&["new", "--title", "Sort a list", "--model", "demo/small"])?;
        let s = short(&session);
        self.tell("Messages follow each other. SESSION@ is the last one, and a label is a name for an entry.")?;
        self.step(&["say", s, "How do I sort a list of names?"])?;
        self.step(&["say", s, "Call names.sort().", "--role", "assistant"])?;
        self.step(&["label", &format!("{s}@"), "first-answer"])?;
        self.step(&["say", s, "And without changing the list?"])?;
        self.step(&["say", s, "Call sorted(names).", "--role", "assistant"])?;
        self.tell("Go back to it and take another way. What was said stays, as a branch.")?;
        self.step(&["branch", &format!("{s}@first-answer")])?;
        self.step(&["say", s, "And in reverse order?"])?;
        self.step(&["say", s, "Call names.sort(reverse=True).", "--role", "assistant"])?;
        self.step(&["tree", s])?;
        self.tell("The context is what a model would be sent: the path to the leaf, nothing of the other branch.")?;
        self.step(&["context", s])?;
        self.tell("A fork is a new session that starts from an entry of another one. Nothing is copied.")?;
        let fork = self.step(&["fork", &format!("{s}@first-answer"), "--title", "Sort by length"])?;
        let (s, f) = apart(&session, &fork);
        self.step(&["say", f, "Sort by the length of the name, please."])?;
        self.step(&["tree", f])?;
        self.tell("A stretch of a conversation can be replaced by a summary. The old entries stay in the log.")?;
        let summary = "Asked how to sort a list of names: names.sort().";
        self.step(&["replace-segment", s, "#3", "first-answer", "--text", summary])?;
        self.step(&["show", s])?;
        self.step(&["list", "--drafts"])?;
        self.tell("That was a temporary home; it is gone now. `ramus new` starts a session in this directory.")
    }

    /// Says what comes next.
    fn tell(&mut self, words: &str) -> anyhow::Result<()> {
        if self.screen.wants_json() {
            return Ok(());
        }
        let mut text = Text::new();
        if !self.steps.is_empty() {
            text.end();
        }
        text.styled(style::HINT, &format!("# {words}")).end();
        self.screen.text(&text)
    }

    /// Shows a command, runs it, shows what it printed, and returns the first line of that.
    fn step(&mut self, arguments: &[&str]) -> anyhow::Result<String> {
        let spelled = arguments.iter().map(|argument| quoted(argument)).collect::<Vec<_>>().join(" ");
        let cli = Cli::try_parse_from(std::iter::once("ramus").chain(arguments.iter().copied()))?;
        let (mut captured, capture) = self.screen.captured();
        let home = Home::pristine(self.folder.path().join(self.home))?;
        let mut invocation = Invocation::new(home, &mut captured)?;
        invocation.cwd = self.cwd.clone();
        // Whoever shows the tour may have a pipe open that never ends.
        invocation.stdin = Stdin::Closed;
        if let Some(command) = cli.command {
            command.run(&mut invocation)?;
        }
        captured.flush()?;
        let printed = capture.text();
        let plain = anstream::adapter::strip_str(&printed).to_string();
        self.steps.push(json!({"command": format!("ramus {spelled}"), "output": plain}));
        if !self.screen.wants_json() {
            let mut text = Text::new();
            text.styled(style::DIM, "$ ").styled(style::BOLD, &format!("ramus {spelled}")).end();
            self.screen.text(&text)?;
            self.screen.styled(&printed)?;
        }
        Ok(plain.lines().next().unwrap_or_default().to_owned())
    }
}

/// As much of an id as a person would type.
fn short(id: &str) -> &str {
    id.get(..4).unwrap_or(id)
}

/// As much of two ids as tells them apart.
fn apart<'i>(a: &'i str, b: &'i str) -> (&'i str, &'i str) {
    let lengths = short_id::unique_lengths(&[a, b]);
    let cut = |id: &'i str, at: usize| id.get(..lengths.get(at).copied().unwrap_or_default()).unwrap_or(id);
    (cut(a, 0), cut(b, 1))
}

/// An argument as a shell wants it.
fn quoted(argument: &str) -> String {
    let tame = |c: char| c.is_ascii_alphanumeric() || "-_./@".contains(c);
    if argument.chars().all(tame) { argument.to_owned() } else { format!("'{}'", argument.replace('\'', "'\\''")) }
}
