//! `gc` of snapshots: what any file of the home names stays, everything else goes, and nobody who works loses anything.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ramus_engine::{Children, Clock, Engine, ErrorKind, ForkOptions, NewSession, RestoreOptions, SystemClock, Unswept};
use ramus_snapshot::{About, Snapshots, Vault};
use ramus_store::{JsonlStore, Layout};

use crate::travel_world::World;

/// A clock that is two hours ahead: what was taken just now is old.
#[derive(Debug)]
struct Later;

impl Clock for Later {
    fn now(&self) -> i64 {
        SystemClock.now() + 2 * 60 * 60 * 1_000
    }
}

fn later(world: &World) -> Engine {
    later_in(&world.folder.path().join("home"))
}

fn later_in(home: &Path) -> Engine {
    Engine::new(Arc::new(JsonlStore::new(home, Layout::Pi)), "gc").with_snapshots(home).with_clock(Arc::new(Later))
}

fn vault(world: &World) -> PathBuf {
    Vault::list(&world.folder.path().join("home/snapshots")).unwrap().remove(0)
}

/// Takes a snapshot that nothing names.
fn nameless(world: &World, label: &str) -> ramus_snapshot::SnapshotId {
    let mut snapshots = Snapshots::open(&vault(world), &world.project(), &[]).unwrap();
    snapshots.take(&About { label: label.into(), parents: Vec::new() }).unwrap().id
}

#[test]
fn what_nothing_names_goes_exactly_as_foretold_and_the_rest_can_be_gone_back_to() {
    let mut world = World::new();
    world.put("mine.txt", Some("mine\n"));
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    world.put("secret", Some(&"only in a snapshot that nobody names ".repeat(500)));
    let nobody = nameless(&world, "nobody");
    world.put("secret", None);
    world.turn("second", &[&[("a.txt", Some("2\n"))]]);
    // Taken just now, so somebody may be about to name it.
    assert!(world.engine.gc_snapshots(false).unwrap()[0].outcome.as_ref().unwrap().gone.is_empty());
    let would = later(&world).gc_snapshots(true).unwrap();
    let would = would[0].outcome.as_ref().unwrap();
    assert!(Vault::open(&vault(&world)).unwrap().has(nobody), "nothing was removed yet");
    let done = later(&world).gc_snapshots(false).unwrap();
    assert_eq!(done[0].directory.as_ref(), Some(&world.project()));
    let done = done[0].outcome.as_ref().unwrap();
    assert_eq!(would, done, "a dry run says exactly what goes, to the byte");
    assert_eq!(done.gone.iter().map(|one| (one.id, one.label.as_str())).collect::<Vec<_>>(), [(nobody, "nobody")]);
    assert!(done.after.bytes < done.before.bytes);
    assert_eq!(later(&world).gc_snapshots(false).unwrap()[0].outcome.as_ref().unwrap().gone, []);
    let first = world.answers()[0];
    world.revert(first);
    assert_eq!(world.read("a.txt").as_deref(), Some("1\n"));
    world.unrevert();
    assert_eq!(world.read("a.txt").as_deref(), Some("2\n"));
}

#[test]
fn damaged_and_quarantined_files_keep_what_they_name_and_one_that_cannot_be_read_keeps_all() {
    let mut world = World::new();
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    let home = world.folder.path().join("home");
    let places = ["quarantine/x.bin", "drafts/broken.jsonl", "bases/b.jsonl", "sessions/s.jsonl.corrupt-00"];
    let named: Vec<_> = places
        .iter()
        .map(|place| {
            world.put("a.txt", Some(place));
            let id = nameless(&world, place);
            let path = home.join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("\u{fffd}{{\"commit\":\"{id}\",half of a li")).unwrap();
            id
        })
        .collect();
    world.put("a.txt", Some("nobody"));
    let nobody = nameless(&world, "nobody");
    // A directory under the name of a log cannot be read as one.
    let unreadable = home.join("drafts/unreadable.jsonl");
    std::os::unix::fs::symlink(home.join("sessions"), &unreadable).unwrap();
    let error = later(&world).gc_snapshots(false).unwrap_err();
    assert!(error.to_string().contains("nothing was removed"), "{error}");
    assert!(Vault::open(&vault(&world)).unwrap().has(nobody));
    fs::remove_file(&unreadable).unwrap();
    let swept = later(&world).gc_snapshots(false).unwrap();
    let gone: Vec<_> = swept[0].outcome.as_ref().unwrap().gone.iter().map(|one| one.id).collect();
    assert!(gone.contains(&nobody) && !named.iter().any(|id| gone.contains(id)), "{gone:?}");
}

#[test]
fn snapshots_of_a_directory_that_is_gone_can_be_collected() {
    let mut world = World::new();
    world.turn("first", &[&[("a.txt", Some(&"long ".repeat(1_000)))]]);
    fs::remove_dir_all(world.folder.path().join("project")).unwrap();
    // They are named, so they stay.
    let kept = later(&world).gc_snapshots(false).unwrap();
    assert_eq!(kept[0].outcome.as_ref().unwrap().gone, []);
    assert!(!kept[0].directory.as_ref().unwrap().exists());
    fs::remove_dir_all(world.folder.path().join("home/sessions")).unwrap();
    let would = later(&world).gc_snapshots(true).unwrap();
    let swept = later(&world).gc_snapshots(false).unwrap();
    let done = swept[0].outcome.as_ref().unwrap();
    assert_eq!(would[0].outcome.as_ref().unwrap(), done);
    assert_eq!((done.after.snapshots, done.after.objects, done.after.packs), (0, 0, 0));
}

#[test]
fn logs_of_other_programs_keep_what_they_name_and_all_of_it_when_they_cannot_be_found() {
    let world = World::new();
    world.put("a.txt", Some("1\n"));
    let path = world.folder.path().join("theirs.jsonl");
    let header = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"t\",\"timestamp\":\"\",\"cwd\":\"{}\"}}\n",
        world.project().display()
    );
    fs::write(&path, header).unwrap();
    let mut theirs = world.engine.open(path.to_str().unwrap(), "/").unwrap();
    world.engine.snapshot(&mut theirs, Some("theirs")).unwrap();
    world.put("a.txt", Some("2\n"));
    let nobody = nameless(&world, "nobody");
    let hidden = path.with_extension("hidden");
    fs::rename(&path, &hidden).unwrap();
    let swept = later(&world).gc_snapshots(false).unwrap();
    assert!(
        matches!(&swept[0].outcome, Err(Unswept::Unread { log, .. }) if log.ends_with("theirs.jsonl")),
        "{swept:?}"
    );
    fs::rename(&hidden, &path).unwrap();
    let swept = later(&world).gc_snapshots(false).unwrap();
    let gone: Vec<_> = swept[0].outcome.as_ref().unwrap().gone.iter().map(|one| one.id).collect();
    assert_eq!(gone, [nobody]);
    let target = world.engine.find_snapshot(&theirs, "theirs").unwrap();
    let force = RestoreOptions { force: true, ..RestoreOptions::default() };
    world.engine.restore(&mut theirs, &target, &force).unwrap();
    assert_eq!(world.read("a.txt").as_deref(), Some("1\n"));
}

#[test]
fn a_directory_that_is_in_use_is_left() {
    let mut world = World::new();
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    world.put("a.txt", Some("2\n"));
    let mut open = Snapshots::open(&vault(&world), &world.project(), &[]).unwrap();
    let taken = open.take(&About::default()).unwrap().id;
    let swept = later(&world).gc_snapshots(false).unwrap();
    assert!(matches!(swept[0].outcome, Err(Unswept::InUse)), "{swept:?}");
    assert_eq!(open.files(taken).unwrap().len(), 1);
    drop(open);
    assert_eq!(later(&world).gc_snapshots(false).unwrap()[0].outcome.as_ref().unwrap().gone.len(), 1);
}

#[test]
fn nobody_who_works_meanwhile_loses_anything() {
    let mut world = World::new();
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    let (done, swept) = (AtomicBool::new(false), AtomicUsize::new(0));
    let home = world.folder.path().join("home");
    let project = world.project();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let engine = later_in(&home);
                while !done.load(Ordering::Relaxed) {
                    for one in engine.gc_snapshots(false).unwrap() {
                        swept.fetch_add(one.outcome.map_or(0, |done| done.gone.len()), Ordering::Relaxed);
                    }
                }
            });
        }
        let work = |who: usize| {
            let (home, project) = (home.clone(), project.clone());
            move || {
                let engine = Engine::new(Arc::new(JsonlStore::new(&home, Layout::Pi)), "t").with_snapshots(&home);
                let cwd = project.display().to_string();
                let mut session = engine.create(NewSession { cwd, ..NewSession::default() }).unwrap();
                for number in 0..15 {
                    fs::write(project.join(format!("of{who}")), format!("{number}")).unwrap();
                    engine.snapshot(&mut session, Some(&format!("number {number}"))).unwrap();
                    // This one is never named.
                    fs::write(project.join(format!("of{who}")), format!("unnamed {number}")).unwrap();
                    engine.diff(&mut session, None, None, &[]).unwrap();
                }
                for number in 0..15 {
                    let target = engine.find_snapshot(&session, &format!("number {number}")).unwrap();
                    let only = RestoreOptions { force: true, only: vec![format!("of{who}").into()], dry_run: false };
                    engine.restore(&mut session, &target, &only).unwrap();
                    let text = fs::read_to_string(project.join(format!("of{who}"))).unwrap();
                    assert_eq!(text, number.to_string());
                }
            }
        };
        let workers: Vec<_> = (0..3).map(|who| scope.spawn(work(who))).collect();
        let results: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(results.into_iter().all(|result| result.is_ok()));
    });
    let rest = later(&world).gc_snapshots(false).unwrap();
    swept.fetch_add(rest[0].outcome.as_ref().unwrap().gone.len(), Ordering::Relaxed);
    assert!(swept.load(Ordering::Relaxed) > 0, "there was something to collect");
}

#[test]
fn a19_a20_delete_removes_what_only_it_names_and_says_so() {
    let mut world = World::new();
    world.put("mine.txt", Some("mine\n"));
    world.turn("first", &[&[("a.txt", Some(&"once ".repeat(2_000)))]]);
    let first = world.session.log().leaf().unwrap();
    let fork = world.engine.fork(&world.session, first, &ForkOptions::default()).unwrap();
    world.turn("second", &[&[("a.txt", Some(&"twice ".repeat(2_000)))]]);
    let count = world.snapshots().len() as u64;
    let would = world.engine.delete(&world.session, Children::Orphan, true).unwrap();
    assert!(world.engine.open(world.session.id().as_str(), "/").is_ok());
    let done = world.engine.delete(&world.session, Children::Orphan, false).unwrap();
    assert_eq!(would, done, "a dry run says exactly what goes");
    // The fork stands on the first turn, so what that kept stays.
    assert!(done.snapshots >= 1 && done.snapshots < count + 2, "{done:?}");
    assert_eq!(done.snapshots_left, 0);
    assert!(done.removed.files.iter().all(|file| !file.exists()), "{:?}", done.removed.files);
    let missing = world.engine.open(world.session.id().as_str(), "/").map(drop);
    assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(world.read("mine.txt").as_deref(), Some("mine\n"));
    assert_eq!(world.read("a.txt"), Some("twice ".repeat(2_000)), "files of a person stay");
    let mut fork = world.engine.open(fork.id.as_str(), "/").unwrap();
    let kept = world.engine.snapshots(&fork).unwrap();
    let force = RestoreOptions { force: true, ..RestoreOptions::default() };
    world.engine.restore(&mut fork, &kept[0], &force).unwrap();
    assert_eq!(world.read("a.txt"), Some("once ".repeat(2_000)), "a fork can go back where it could");
}

#[test]
fn deleting_the_last_session_leaves_nothing_of_its_files_in_the_home() {
    let mut world = World::new();
    world.turn("first", &[&[("a.txt", Some("s3cret words that must go"))]]);
    world.put("a.txt", Some("another s3cret"));
    let _ = world.engine.diff(&mut world.session, None, None, &[]).unwrap();
    let done = world.engine.delete(&world.session, Children::Orphan, false).unwrap();
    assert!(done.snapshots > 0);
    let usage = Vault::open(&vault(&world)).unwrap().usage().unwrap();
    assert_eq!((usage.objects, usage.snapshots), (0, 0), "also what was looked at and never named");
    let report = world.engine.disk().unwrap();
    let part = |name: &str| report.parts.iter().find(|(part, _)| *part == name).unwrap().1;
    assert_eq!((part("sessions").count, part("drafts").count, part("indexes").count), (0, 0, 0));
    assert_eq!(report.directories.len(), 1);
    assert!(report.directories[0].is_there && report.directories[0].usage == Some(usage));
}

#[test]
fn a_workspace_that_was_made_for_a_session_goes_with_it_unless_others_work_there() {
    let mut world = World::new();
    let storage = world.folder.path().join("storage");
    let info = world.engine.make_workspace(&mut world.session, &storage).unwrap();
    fs::write(info.root.join("output/made.txt"), "made\n").unwrap();
    let outside = world.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "kept").unwrap();
    std::os::unix::fs::symlink(&outside, info.root.join("link")).unwrap();
    let leaf = world.session.log().leaf().unwrap();
    let fork = world.engine.fork(&world.session, leaf, &ForkOptions::default()).unwrap();
    let done = world.engine.delete(&world.session, Children::Orphan, false).unwrap();
    assert_eq!(done.workspaces[0].kept_for, vec![fork.id.clone()]);
    assert!(info.root.join("output/made.txt").exists(), "a fork works there");
    let fork = world.engine.open(fork.id.as_str(), "/").unwrap();
    let would = world.engine.delete(&fork, Children::Orphan, true).unwrap();
    assert!(info.root.exists());
    let done = world.engine.delete(&fork, Children::Orphan, false).unwrap();
    assert_eq!(would, done);
    assert_eq!((&done.workspaces[0].path, done.workspaces[0].kept_for.len()), (&info.root, 0));
    assert!(!info.root.exists(), "the last one takes it along");
    assert!(storage.is_dir() && outside.join("kept").exists(), "what is not ours stays");
    assert!(world.engine.disk().unwrap().workspaces.is_empty());
}

#[test]
fn a_session_that_is_being_run_is_not_deleted() {
    let world = World::new();
    let lease = world.engine.lease(&world.session).unwrap();
    let error = world.engine.delete(&world.session, Children::Orphan, false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    drop(lease);
    world.engine.delete(&world.session, Children::Orphan, false).unwrap();
}
