//! Crashes at every moment: a workload runs to its end, and every image the disk may have had during its last verb is
//! booted and judged. Crashes during the earlier verbs are those of the shorter workloads.

use super::oracle::Oracle;
use super::verb::Verb;
use super::world::World;
use crate::sim::Limits;

/// What exploring came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many workloads ran.
    pub workloads: usize,
    /// How many images were judged.
    pub states: usize,
    /// What was wrong.
    pub violations: Vec<String>,
}

impl Report {
    /// Adds what another run came to.
    pub fn add(&mut self, other: Self) {
        self.workloads += other.workloads;
        self.states += other.states;
        self.violations.extend(other.violations);
    }
}

/// Returns all workloads of a length.
pub fn workloads(length: usize) -> impl Iterator<Item = Vec<Verb>> {
    let verbs = Verb::ALL.len();
    let count = u32::try_from(length).ok().and_then(|length| verbs.checked_pow(length)).unwrap_or(usize::MAX);
    (0..count).map(move |mut number| {
        let mut next = || {
            let verb = Verb::ALL.into_iter().nth(number % verbs);
            number /= verbs;
            verb
        };
        (0..length).filter_map(|_| next()).collect()
    })
}

/// Runs a workload and judges every image of its last verb.
pub fn explore(workload: &[Verb], limits: Limits) -> Report {
    let mut report = Report { workloads: 1, ..Report::default() };
    if let Err(wrong) = explore_into(workload, limits, &mut report) {
        report.violations.push(format!("{workload:?}: {wrong}"));
    }
    report
}

fn explore_into(workload: &[Verb], limits: Limits, report: &mut Report) -> Result<(), String> {
    let Some((last, earlier)) = workload.split_last() else { return Ok(()) };
    let mut world = World::new().map_err(|error| format!("the home cannot be read: {error}"))?;
    let run = |world: &mut World, verb: Verb| {
        world.run(verb).map_err(|error| format!("{verb:?} failed without a fault: {error}"))
    };
    for verb in earlier {
        run(&mut world, *verb)?;
    }
    let before = world.model().clone();
    world.fs().record();
    run(&mut world, *last)?;
    let after = world.model();
    let history = world.fs().history();
    let writes = before.changed(after);
    let mut wrong = None;
    report.states += history.images(1.min(history.len()), limits, &mut |moment, image| {
        let before = if moment == history.len() { after } else { &before };
        let verdict = Oracle { before, after, writes: &writes }.check(&image.boot());
        wrong = verdict.err().map(|wrong| format!("after change {moment} of {}: {wrong}", history.len()));
        wrong.is_none()
    });
    wrong.map_or(Ok(()), Err)
}
