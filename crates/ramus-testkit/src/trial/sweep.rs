//! Errors of every operation: a plan of mixed verbs runs while the k-th write, sync, rename and so on fails. Afterwards the
//! disk works again, and everything that was acknowledged must be there, also after a power cut.

use ramus_engine::{Cursor, EngineError, ErrorKind, Session};
use ramus_store::{Health, StoreError};
use rustix::io::Errno;

use super::home::message;
use super::survival::{Survivors, check_survival};
use super::verb::Verb;
use super::world::World;
use crate::sim::{Fault, Lasts, Operation, OperationKind};

/// What a run under faults came to.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// How many operations failed.
    pub failures: usize,
    /// How many verbs reported an error.
    pub errors: usize,
    /// Whether a session was poisoned on the way.
    pub poisoned: bool,
    /// What was wrong.
    pub violations: Vec<String>,
}

/// Forty verbs that meet each other in many ways.
pub fn plan() -> Vec<Verb> {
    use Verb::{Append, Batch, Branch, Create, Delete, Doctor, Fork, Mend, Migrate, Publish, Rename};
    let day = [
        Append, Publish, Batch, Migrate, Rename, Mend, Append, Create, Append, Append, Fork, Batch, Branch, Append,
        Publish, Migrate, Delete, Append, Doctor, Mend,
    ];
    day.into_iter().chain(day).collect()
}

/// Runs the plan while these operations fail.
pub fn run_plan(faults: &[Fault]) -> Sweep {
    let mut sweep = Sweep::default();
    if let Err(wrong) = run(faults, &mut sweep) {
        sweep.violations.push(format!("{faults:?}: {wrong}"));
    }
    sweep
}

fn run(faults: &[Fault], sweep: &mut Sweep) -> Result<(), String> {
    let mut world = World::new().map_err(|error| error.to_string())?;
    world.fs().record();
    faults.iter().for_each(|fault| world.fs().arm(*fault));
    let mut survivors = Survivors::default();
    for (step, verb) in plan().into_iter().enumerate() {
        run_verb(verb, &mut world, faults, &mut survivors, sweep)
            .map_err(|wrong| format!("step {step} ({verb:?}): {wrong}"))?;
        if faults.iter().all(|fault| fault.lasts == Lasts::Once) {
            recover(&mut world);
        }
    }
    if world.fs().syncs_after_failure() > 0 {
        return Err("a handle that failed to sync was synced again".to_owned());
    }
    for image in world.fs().history().extremes() {
        check_survival(&image.boot(), &world, &survivors).map_err(|wrong| format!("after a power cut: {wrong}"))?;
    }
    world.fs().clear_faults();
    check_recovery(&mut world, &mut survivors)?;
    check_survival(world.fs(), &world, &survivors)
}

/// Runs one verb and checks that what failed in it was told.
fn run_verb(
    verb: Verb,
    world: &mut World,
    faults: &[Fault],
    survivors: &mut Survivors,
    sweep: &mut Sweep,
) -> Result<(), String> {
    let done = world.fs().operations().len();
    let said = notices(world);
    let tried = world.attempted().clone();
    let target = world.current().to_owned();
    let outcome = world.run(verb);
    let failed: Vec<_> = world.fs().operations().into_iter().skip(done).filter(|operation| operation.failed).collect();
    sweep.failures += failed.len();
    match outcome {
        Ok(()) if failed.iter().any(|operation| !is_derived(operation)) && notices(world) == said => {
            return Err(format!("an error was swallowed: {failed:?}"));
        }
        Ok(()) => {}
        Err(error) => {
            sweep.errors += 1;
            check_error(&error, &failed, faults)?;
            survivors.note(&error, &failed, world.attempted().difference(&tried).cloned().collect());
            if verb == Verb::Delete {
                survivors.may_be_gone.insert(target);
            }
        }
    }
    sweep.poisoned |= check_health(world, &failed)?;
    Ok(())
}

/// Trouble with a sidecar costs time and nothing else, so nobody is told.
fn is_derived(operation: &Operation) -> bool {
    operation.path.ends_with("index") || operation.path.parent().is_some_and(|parent| parent.ends_with("index"))
}

/// What people were told, counted.
fn notices(world: &mut World) -> usize {
    world.open_sessions().map(|(_, session)| session.notices().len() + session.log().findings().len()).sum()
}

/// A full disk is called full, or remembered as the first error.
fn check_error(error: &EngineError, failed: &[Operation], faults: &[Fault]) -> Result<(), String> {
    let space = |fault: &Fault| matches!(fault.errno, Errno::NOSPC | Errno::DQUOT | Errno::FBIG);
    let wrote = |operation: &Operation| matches!(operation.kind, OperationKind::Write | OperationKind::Create);
    let is_full = !failed.is_empty() && failed.iter().all(wrote) && faults.iter().all(space);
    match error.kind() {
        ErrorKind::Full | ErrorKind::Degraded => Ok(()),
        kind if is_full => Err(format!("a full disk was reported as {}", kind.name())),
        _ => Ok(()),
    }
}

/// A log that the disk did not confirm is not trusted with more. Says whether there was one.
fn check_health(world: &mut World, failed: &[Operation]) -> Result<bool, String> {
    let mut found = false;
    for (id, session) in world.open_sessions() {
        let path = session.location().path.clone().unwrap_or_default();
        let unconfirmed =
            failed.iter().any(|operation| operation.kind == OperationKind::Sync && operation.path == path);
        let poisoned = matches!(session.health(), Health::Poisoned(_));
        if unconfirmed && !poisoned {
            return Err(format!("session {id} was not confirmed and is not poisoned"));
        }
        found |= poisoned;
    }
    Ok(found)
}

/// Does what a caller does after an error: recovers what refuses to work. A full disk needs no recovery.
fn recover(world: &mut World) {
    let engine = world.engine();
    for (_, session) in world.open_sessions().filter(|(_, session)| needs_recovery(session)) {
        // When a second fault hits the recovery, the next round tries again.
        let _ = engine.recover(session);
    }
}

fn needs_recovery(session: &Session) -> bool {
    match session.health() {
        Health::Healthy => false,
        Health::Degraded(first) => !matches!(*first, StoreError::Full { .. }),
        Health::Poisoned(_) => true,
    }
}

/// The disk works again: every session can be written to, after recovery where that is needed and not without it.
fn check_recovery(world: &mut World, survivors: &mut Survivors) -> Result<(), String> {
    let engine = world.engine();
    for (id, session) in world.open_sessions() {
        if survivors.may_be_gone.contains(id) {
            continue;
        }
        let wrong = |what: &str, error: EngineError| format!("session {id} {what}: {error}");
        let number = survivors.extra.len();
        let drafts = [message(Some(&format!("f{number:07}")), "user", "after recovery")];
        if needs_recovery(session) {
            match engine.append(session, &drafts, &Cursor::Leaf) {
                Err(error) if error.kind() == ErrorKind::Degraded => {}
                outcome => return Err(format!("session {id} took an entry although it was poisoned: {outcome:?}")),
            }
            engine.recover(session).map_err(|error| wrong("cannot be recovered", error))?;
        }
        let appended = engine.append(session, &drafts, &Cursor::Leaf);
        appended.map_err(|error| wrong("cannot be written to after recovery", error))?;
        survivors.extra.push((id.clone(), format!("f{number:07}")));
    }
    Ok(())
}

/// Returns how many operations of a kind the plan needs when nothing fails.
pub fn calls_of(kind: OperationKind) -> Result<usize, EngineError> {
    let mut world = World::new()?;
    let before = world.fs().count(kind);
    for verb in plan() {
        world.run(verb)?;
    }
    Ok(world.fs().count(kind) - before)
}
