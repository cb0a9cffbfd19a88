//! Many processes write, list and search in one home at once: nobody sees an error, everybody sees what they wrote, and
//! in the end every answer is that of a full scan.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::Value;

use super::{Asked, QUESTIONS};
use crate::home::Plan;
use crate::random::Random;

/// A crowd of processes.
#[derive(Clone, Debug)]
pub struct Crowd {
    /// The `ramus` binary.
    pub ramus: PathBuf,
    /// How many processes run at any time.
    pub workers: u64,
    /// How long.
    pub time: Duration,
    /// Decides who does what.
    pub seed: u64,
}

/// What a crowd did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crowded {
    /// Commands that wrote.
    pub writes: u64,
    /// Commands that listed, searched or added up.
    pub reads: u64,
    /// How long the slowest of those took.
    pub slowest: Duration,
}

impl Crowd {
    /// Runs it. An error is something that a user would have seen.
    pub fn run(&self) -> Result<Crowded> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let home = folder.path().join("home");
        Plan { sessions: 200, messages: 20, directories: 10, seed: self.seed }.write(&home)?;
        let asked = Asked { ramus: self.ramus.clone(), home };
        let end = Instant::now() + self.time;
        let all = std::thread::scope(|scope| {
            let worker =
                |number| Worker::new(number, &asked, folder.path(), self.seed).and_then(|worker| worker.work(end));
            let workers: Vec<_> = (0..self.workers).map(|number| scope.spawn(move || worker(number))).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, Result<Crowded>>| {
                worker.join().unwrap_or_else(|_| Err(anyhow!("a worker died")))
            };
            workers.into_iter().map(join).collect::<Result<Vec<_>>>()
        })?;
        let truth = asked.truth()?;
        (0..QUESTIONS.len()).try_for_each(|number| asked.compare(number, &truth))?;
        Ok(all.into_iter().fold(Crowded::default(), |sum, one| Crowded {
            writes: sum.writes + one.writes,
            reads: sum.reads + one.reads,
            slowest: sum.slowest.max(one.slowest),
        }))
    }
}

/// Runs one process after the other. Its directory is its own, so it knows what must be listed there.
struct Worker<'a> {
    asked: &'a Asked,
    number: u64,
    cwd: String,
    random: Random,
    /// Its sessions, with how many messages they have.
    sessions: Vec<(String, u64)>,
    /// The newest entry, with the word that only it has.
    newest: Option<(String, String)>,
    words: u64,
    done: Crowded,
}

impl<'a> Worker<'a> {
    fn new(number: u64, asked: &'a Asked, folder: &Path, seed: u64) -> Result<Self> {
        let cwd = folder.join(format!("worker-{number}"));
        fs::create_dir(&cwd)?;
        let cwd = cwd.canonicalize()?.display().to_string();
        let random = Random::new(seed ^ (number + 1) << 40);
        let (sessions, done) = (Vec::new(), Crowded::default());
        Ok(Self { asked, number, cwd, random, sessions, newest: None, words: 0, done })
    }

    fn work(mut self, end: Instant) -> Result<Crowded> {
        while Instant::now() < end {
            match self.random.below(10) {
                0 => self.begin()?,
                1 => self.fork()?,
                2 => self.end()?,
                3..6 => self.say()?,
                6 | 7 => self.list()?,
                8 => self.search()?,
                _ => drop(self.read(&["usage", "--by", "model"])?),
            }
        }
        self.list()?;
        self.search()?;
        Ok(self.done)
    }

    fn begin(&mut self) -> Result<()> {
        let cwd = self.cwd.clone();
        let made = self.write(&["new", "--cwd", &cwd])?;
        self.sessions.push((id(&made, "/session/id")?, 0));
        self.speak(self.sessions.len() - 1, "user")?;
        self.speak(self.sessions.len() - 1, "assistant")
    }

    fn say(&mut self) -> Result<()> {
        if self.sessions.is_empty() {
            return self.begin();
        }
        let at = self.random.below(self.sessions.len());
        let role = if self.random.chance(50) { "user" } else { "assistant" };
        self.speak(at, role)
    }

    fn speak(&mut self, at: usize, role: &str) -> Result<()> {
        let Some((session, _)) = self.sessions.get(at).cloned() else { return Ok(()) };
        self.words += 1;
        let word = format!("zq{}n{}", self.number, self.words);
        let said = self.write(&["say", &session, &format!("what {word} is about"), "--role", role])?;
        self.newest = Some((id(&said, "/id")?, word));
        if let Some((_, messages)) = self.sessions.get_mut(at) {
            *messages += 1;
        }
        Ok(())
    }

    fn fork(&mut self) -> Result<()> {
        let Some((session, messages)) = self.any() else { return self.begin() };
        let made = self.write(&["fork", &session])?;
        self.sessions.push((id(&made, "/session/id")?, messages));
        Ok(())
    }

    /// Deletes a session, once there are many.
    fn end(&mut self) -> Result<()> {
        if self.sessions.len() < 8 {
            return self.say();
        }
        let at = self.random.below(self.sessions.len());
        let (session, _) = self.sessions.swap_remove(at);
        self.newest = None;
        self.write(&["delete", &session, "--yes"]).map(drop)
    }

    fn any(&mut self) -> Option<(String, u64)> {
        let at = self.random.below(self.sessions.len());
        self.sessions.get(at).cloned()
    }

    /// Its directory holds its sessions, as it left them.
    fn list(&mut self) -> Result<()> {
        let cwd = self.cwd.clone();
        let listing = self.read(&["list", "--cwd", &cwd])?;
        let listed = listing.get("sessions").and_then(Value::as_array).context("a list without sessions")?;
        let brief = |info: &Value| {
            let (id, messages) = (info.get("id").and_then(Value::as_str), info.get("messages").and_then(Value::as_u64));
            (id.unwrap_or_default().to_owned(), messages.unwrap_or_default())
        };
        let (mut listed, mut own): (Vec<_>, _) = (listed.iter().map(brief).collect(), self.sessions.clone());
        listed.sort();
        own.sort();
        ensure!(listed == own, "worker {} sees {listed:?} instead of {own:?}", self.number);
        self.read(&["list", "--all", "--limit", "50"]).map(drop)
    }

    /// What was said last is found, once.
    fn search(&mut self) -> Result<()> {
        let Some((entry, word)) = self.newest.clone() else { return Ok(()) };
        let answer = self.read(&["search", &word])?;
        let hits = answer.get("hits").and_then(Value::as_array).context("an answer without hits")?;
        let found: Vec<_> = hits.iter().filter_map(|hit| hit.get("entry").and_then(Value::as_str)).collect();
        ensure!(found == [entry.as_str()], "worker {}: {word} is in {found:?} instead of {entry}", self.number);
        Ok(())
    }

    fn write(&mut self, arguments: &[&str]) -> Result<Value> {
        self.done.writes += 1;
        self.quietly(arguments)
    }

    fn read(&mut self, arguments: &[&str]) -> Result<Value> {
        let start = Instant::now();
        let answer = self.quietly(arguments)?;
        self.done.reads += 1;
        self.done.slowest = self.done.slowest.max(start.elapsed());
        Ok(answer)
    }

    /// A word on stderr is an error that a user sees.
    fn quietly(&self, arguments: &[&str]) -> Result<Value> {
        let (answer, said) = self.asked.run(arguments)?;
        ensure!(said.is_empty(), "ramus {arguments:?} said: {said}");
        Ok(answer)
    }
}

fn id(answer: &Value, at: &str) -> Result<String> {
    Ok(answer.pointer(at).and_then(Value::as_str).with_context(|| format!("no {at} in {answer}"))?.to_owned())
}
