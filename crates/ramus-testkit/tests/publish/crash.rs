//! An import that is interrupted at any operation of the file system leaves nothing or everything.

use ramus_engine::ImportOptions;
use ramus_model::SessionId;
use ramus_testkit::sim::{Fault, Limits, OperationKind};
use rustix::io::Errno;

use crate::world::World;

/// A bundle of three sessions, one of which continues what is there.
fn bundle() -> (World, Vec<u8>, Vec<u8>) {
    let source = World::new();
    let mut grows = source.conversation("grows");
    let before = source.export(&[grows.id().as_str()]);
    source.engine.say(&mut grows, ramus_engine::Say::user("more")).unwrap();
    let others = [source.conversation("one"), source.conversation("two")];
    let after = source.export(&[others[0].id().as_str(), grows.id().as_str(), others[1].id().as_str()]);
    (source, before, after)
}

type Logs = Vec<(SessionId, Vec<u8>)>;

fn prepared(before: &[u8]) -> (World, Logs) {
    let world = World::new();
    world.import(before);
    let logs = world.logs();
    (world, logs)
}

/// What is there once somebody came by.
fn settled(world: &World) -> Logs {
    world.engine.settle_imports().unwrap();
    world.logs()
}

#[test]
fn a25_an_import_that_is_cut_off_leaves_nothing_or_everything() {
    let (source, before, after) = bundle();
    let everything = source.logs();
    let (mut nothing_left, mut all_there) = (0, 0);
    for last in 0.. {
        let (world, nothing) = prepared(&before);
        world.fs.record();
        world.fs.crash_after(last);
        let outcome = world.engine.import_bundle(&*after, ImportOptions::default());
        if outcome.is_ok() {
            assert!(last > 20, "only {last} operations");
            break;
        }
        // The process died there; or the power went, and took what was not confirmed or nothing.
        for image in world.fs.history().extremes() {
            let survivor = World::on(image.boot());
            let logs = settled(&survivor);
            assert!(logs == nothing || logs == everything, "operation {last}: {} logs", logs.len());
            if logs == nothing {
                nothing_left += 1;
            } else {
                all_there += 1;
            }
            // Whatever happened, the same import works now.
            survivor.import(&after);
            assert_eq!(survivor.logs(), everything, "operation {last}");
        }
    }
    assert!(nothing_left > 0 && all_there > 0, "{nothing_left} and {all_there}");
}

#[test]
fn a25_a_power_cut_during_an_import_leaves_nothing_or_everything() {
    let (source, before, after) = bundle();
    let everything = source.logs();
    let (world, nothing) = prepared(&before);
    world.fs.record();
    world.import(&after);
    let limits = Limits { exhaustive: 3, samples: 4, seed: 7 };
    let visited = world.fs.history().images(0, limits, &mut |moment, image| {
        let logs = settled(&World::on(image.boot()));
        assert!(logs == nothing || logs == everything, "moment {moment}: {} logs", logs.len());
        true
    });
    assert!(visited > 100, "{visited}");
}

#[test]
fn a25_an_import_that_fails_says_so_and_can_be_repeated() {
    let (source, before, after) = bundle();
    let everything = source.logs();
    let kinds = [
        OperationKind::Create,
        OperationKind::Write,
        OperationKind::Sync,
        OperationKind::Rename,
        OperationKind::Remove,
    ];
    for kind in kinds {
        for at in 1..60 {
            let (world, nothing) = prepared(&before);
            world.fs.arm(Fault::once(kind, at, Errno::NOSPC));
            let outcome = world.engine.import_bundle(&*after, ImportOptions::default());
            world.fs.clear_faults();
            let logs = settled(&world);
            assert!(logs == nothing || logs == everything, "{kind:?} {at}");
            if outcome.is_ok() {
                assert_eq!(logs, everything, "{kind:?} {at}");
            }
            world.import(&after);
            assert_eq!(world.logs(), everything, "{kind:?} {at}");
        }
    }
}
