//! Kills in the middle of turns: matrix row E2 with real processes. A model on loopback says and calls, `ramus run` is killed
//! at any moment, and the next `ramus run` in the same session must go on as if nothing had happened.
//!
//! What counts: no call has its effect twice, the next turn ends properly and its history is accepted, every entry that was
//! told of is there, every call has one result, and what was shown is there, but for the last moment.

mod judge;
mod player;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ramus_store::planted::Bug;
use serde_json::{Value, json};

use super::{Run, Tally, pause};
use crate::model_server::{Format, Reply};
use crate::random::Random;
use judge::Scene;
use player::Player;

/// How many kills one session takes, so that most turns meet what others left.
const KILLS_PER_SESSION: u64 = 5;

/// How long the model waits between two pieces.
const PACE: Duration = Duration::from_millis(12);

/// A series of kills.
#[derive(Clone, Debug)]
pub struct Turns {
    /// The program.
    pub ramus: PathBuf,
    /// How many kills.
    pub kills: u64,
    /// Decides what happens and when.
    pub seed: u64,
    /// How long before a kill something must have been shown to count.
    pub grace: Duration,
    /// A bug in the program, which must show.
    pub planted: Option<Bug>,
}

/// What a series came to.
#[derive(Clone, Debug, Default)]
pub struct Killed {
    /// The kills: acknowledged are entries that were told of, torn are turns that were interrupted, repaired are those of
    /// which the next turn said so.
    pub tally: Tally,
    /// How many kills lost text that had been shown longer ago than the grace.
    pub forgetful: u64,
    /// The first of those.
    pub forgotten: Option<String>,
    /// How many answers were kept in part.
    pub kept: u64,
    /// How many effects calls had.
    pub effects: u64,
}

impl Killed {
    /// Adds what another series came to.
    pub fn add(&mut self, other: Self) {
        self.tally.add(other.tally);
        self.forgetful += other.forgetful;
        self.forgotten = self.forgotten.take().or(other.forgotten);
        self.kept += other.kept;
        self.effects += other.effects;
    }
}

impl Turns {
    /// Runs the series.
    pub fn run(&self) -> Result<Killed> {
        let mut killed = Killed::default();
        let mut random = Random::new(self.seed);
        while killed.tally.runs < self.kills {
            let format = Format::ALL.get(random.below(4)).copied().context("there are four formats")?;
            let scene = Scene::new(&self.ramus, format)?;
            for _ in 0..KILLS_PER_SESSION.min(self.kills - killed.tally.runs) {
                let number = killed.tally.runs;
                let (before, run) = (killed.tally.violations, self.kill(&scene, number, &mut random, &mut killed));
                killed.tally.count(run, || format!("seed {}, kill {number}, {}", self.seed, format.name()));
                // What is lost stays lost: it would be counted again with every further kill.
                if killed.tally.violations > before {
                    break;
                }
            }
            killed.effects += scene.effects()?.len() as u64;
        }
        Ok(killed)
    }

    fn kill(&self, scene: &Scene, number: u64, random: &mut Random, killed: &mut Killed) -> Result<Run> {
        let player = Player::start(scene, &conversation(number, random), "do it", self.planted)?;
        let seen = player.kill_after(instant(random))?;
        let next = Player::start(scene, &[Reply::text(format!("Again{number}."))], "go on", self.planted)?;
        let went_on = next.finish().context("the next turn")?;
        ensure!(went_on.end.as_deref() == Some("stop"), "the next turn ended otherwise: {:?}", went_on.lines.last());
        let entries = scene.check(&seen, &went_on)?;
        if let Err(error) = scene.remembers(&entries, &seen, self.grace) {
            killed.forgetful += 1;
            killed.forgotten.get_or_insert_with(|| format!("seed {}, kill {number}: {error:#}", self.seed));
        }
        killed.kept +=
            u64::from(went_on.has("turn.interrupted", |event| event.pointer("/answer").is_some_and(Value::is_string)));
        let acknowledged = seen.entries().len() + went_on.entries().len();
        let (torn, repaired) = (seen.end.is_none(), went_on.has("turn.interrupted", |_| true));
        ensure!(torn || !repaired, "a turn that ended is said to have been interrupted");
        Ok(Run { acknowledged: acknowledged as u64, torn, repaired })
    }
}

/// The moment of a kill: a quarter while the program starts, the others while it works.
fn instant(random: &mut Random) -> Duration {
    let most = if random.chance(20) { 150 } else { 2_200 };
    Duration::from_micros(random.below(most * 1_000) as u64)
}

/// A turn with three calls, thoughts and an answer that is cut off. Every word is there once.
fn conversation(number: u64, random: &mut Random) -> Vec<Reply> {
    let mut words =
        |part: &str| (0..random.below(40) + 1).map(|at| format!("{part}{number}x{at} ")).collect::<Vec<_>>();
    let call = |name: &str| {
        let command = format!("sleep 0.2; echo {name}{number} >> effects.txt");
        (format!("call{name}{number}"), json!({"command": command}))
    };
    let with_call = |reply: Reply, name: &str| {
        let (id, arguments) = call(name);
        reply.call_as(id, "bash", arguments)
    };
    let first = Reply::default().think(words("thought")).say(words("alpha"));
    let second = Reply::default().say(words("beta")).with_finish(crate::model_server::Finish::Length);
    let third = Reply::default().say(words("gamma"));
    vec![
        with_call(with_call(first, "a"), "b").paced(PACE),
        second.paced(PACE),
        with_call(third, "c").paced(PACE),
        Reply::default().say(words("delta")).paced(PACE),
    ]
}

/// Waits for the moment.
fn wait(time: Duration) {
    pause(time);
}
