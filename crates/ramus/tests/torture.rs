//! The built binary, killed, cut off and starved: the slice of `cargo xtask soak` that continuous integration runs.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, missing_docs, reason = "a test may fail loudly")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use ramus_store::planted::Bug;
use ramus_testkit::torture::birth::Births;
use ramus_testkit::torture::catalogue::crowd::Crowd;
use ramus_testkit::torture::catalogue::derived::Harms;
use ramus_testkit::torture::child::Program;
use ramus_testkit::torture::cut::{Cuts, Scene};
use ramus_testkit::torture::full::FullDisks;
use ramus_testkit::torture::kill::Kills;
use ramus_testkit::torture::lines::Sizes;
use ramus_testkit::torture::race::Race;
use ramus_testkit::torture::repair::Repairs;
use ramus_testkit::torture::turn::{Killed, Turns};
use ramus_testkit::torture::{Tally, disk, refusal};

fn ramus() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_ramus"))
}

fn intact(tally: Tally) -> Tally {
    eprintln!("{tally:?}");
    assert_eq!(tally.violations, 0, "{:?}", tally.first);
    tally
}

/// Says why a test cannot run here. Skipped is not passed: `cargo xtask test` says so too.
fn cannot_mount() -> bool {
    let reason = disk::unavailable();
    if let Some(reason) = &reason {
        eprintln!("SKIPPED, which is not passed: {reason}");
    }
    reason.is_some()
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged() {
    let kills = Kills { program: Program::Ramus(ramus()), sizes: Sizes::Usual, kills: 1_000, seed: 1, planted: None };
    let tally = intact(kills.run().unwrap());
    assert!(tally.acknowledged > 1_000, "{} entries are too few to show anything", tally.acknowledged);
}

#[test]
fn a_kill_inside_a_huge_write_leaves_a_tail_that_is_repaired() {
    let mut tally = Tally::default();
    // How many kills fall inside the write is up to the machine.
    for seed in 0..10 {
        let kills = Kills { program: Program::Ramus(ramus()), sizes: Sizes::Huge, kills: 30, seed, planted: None };
        tally.add(intact(kills.run().unwrap()));
        if tally.torn > 0 {
            break;
        }
    }
    assert!(tally.torn > 0, "no kill tore a line");
    assert_eq!(tally.repaired, tally.torn);
}

#[test]
fn a_kill_while_a_session_is_made_leaves_a_whole_one_or_none() {
    let tally = intact(Births { ramus: ramus(), kills: 200, seed: 3 }.run().unwrap());
    assert!((1..200).contains(&tally.acknowledged), "kills came all too early or all too late: {tally:?}");
}

#[test]
fn a_repair_that_is_killed_is_done_by_the_next_one() {
    intact(Repairs { program: Program::Ramus(ramus()), kills: 100, seed: 4, planted: None }.run().unwrap());
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    if cannot_mount() {
        return;
    }
    let scene = Scene::Appending(Program::Ramus(ramus()));
    intact(Cuts { scene, cuts: 40, seed: 5, planted: None }.run().unwrap());
}

#[test]
fn a_power_cut_after_a_session_was_made_leaves_it() {
    if cannot_mount() {
        return;
    }
    intact(Cuts { scene: Scene::Making(ramus()), cuts: 40, seed: 6, planted: None }.run().unwrap());
}

#[test]
fn without_syncing_directories_a_power_cut_loses_new_sessions() {
    if cannot_mount() {
        return;
    }
    let planted = Some(Bug::NoDirectoryFsync);
    let tally = Cuts { scene: Scene::Making(ramus()), cuts: 10, seed: 7, planted }.run().unwrap();
    assert!(tally.violations > 0, "nothing was lost: {tally:?}");
}

#[test]
fn two_processes_make_one_chain() {
    let race = Race { program: Program::Ramus(ramus()), writers: 2, appends: 1_000, seed: 8, planted: None };
    assert_eq!(race.run().unwrap(), 2_000);
}

#[test]
fn a_full_disk_takes_nothing_with_it() {
    if cannot_mount() {
        return;
    }
    intact(FullDisks { ramus: Some(ramus()), cycles: 20, seed: 9 }.run().unwrap());
}

/// Kills turns in two threads.
fn kill_turns(ramus: &Path, kills: u64, seed: u64, grace: u64, planted: Option<Bug>) -> Killed {
    let grace = Duration::from_millis(grace);
    let series = |seed| Turns { ramus: ramus.to_owned(), kills, seed, grace, planted }.run().unwrap();
    let killed = std::thread::scope(|scope| {
        let other = scope.spawn(|| series(seed + 1_000));
        let mut killed = series(seed);
        killed.add(other.join().unwrap());
        killed
    });
    eprintln!("{killed:?}");
    killed
}

#[test]
fn a_turn_that_is_killed_is_gone_on_with() {
    let killed = kill_turns(&ramus(), 8, 13, 400, None);
    intact(killed.tally.clone());
    assert!(killed.tally.torn > 4 && killed.effects > 0, "too little happened: {killed:?}");
    // A machine with too much to do may keep a process from writing what it has shown.
    assert!(killed.forgetful <= 2, "{:?}", killed.forgotten);
}

#[test]
fn without_a_journal_a_killed_turn_forgets() {
    let forgets = |seed| kill_turns(&ramus(), 2, seed, 120, Some(Bug::NoJournal)).forgetful > 0;
    assert!((0..10).any(forgets), "nothing was forgotten");
}

#[test]
fn calls_without_results_are_noticed() {
    let is_noticed = |seed| kill_turns(&ramus(), 3, seed, 400, Some(Bug::LeaveCallsOpen)).tally.violations > 0;
    assert!((0..10).any(is_noticed), "nothing was noticed");
}

#[test]
fn an_effect_that_is_had_twice_is_noticed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("twice");
    let twice = "[ -f effects.txt ] && tail -n 1 effects.txt >>effects.txt";
    let text = format!("#!/bin/sh\n{twice}\nexec \"{}\" \"$@\"\n", ramus().display());
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let is_noticed = |seed| kill_turns(&script, 2, seed, 400, None).tally.violations > 0;
    assert!((0..10).any(is_noticed), "nothing was noticed");
}

#[test]
fn a_limit_on_the_size_of_files_is_a_full_disk() {
    for limit in [4_096, 10_000, 65_536, 200_001, 1 << 20] {
        refusal::file_size(&ramus(), limit).unwrap_or_else(|error| panic!("limit {limit}: {error:#}"));
    }
}

#[test]
fn too_few_file_descriptors_are_an_error_and_change_nothing() {
    let mut refused = 0;
    for limit in 4..20 {
        let refusal = refusal::open_files(&ramus(), limit).unwrap_or_else(|error| panic!("limit {limit}: {error:#}"));
        // From here on there are enough.
        let Some(refusal) = refusal else { break };
        assert_eq!(refusal.kind, "io", "limit {limit}: {}", refusal.message);
        refused += 1;
    }
    assert!(refused > 0, "no limit was low enough to show anything");
}

#[test]
fn what_may_not_be_written_is_denied_and_stays_as_it_is() {
    if cannot_mount() {
        return;
    }
    refusal::not_allowed(Path::new(&ramus())).unwrap();
}

#[test]
fn a_harmed_catalogue_changes_no_answer() {
    let tally = intact(Harms { ramus: ramus(), times: 120, seed: 10 }.run().unwrap());
    assert_eq!(tally.runs, 120);
}

/// A program that believes what it once said: it answers a question that it was asked before in the same words.
fn believer(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let (script, ramus) = (folder.join("believer"), ramus());
    let text = format!(
        r#"#!/bin/sh
case "$1" in list|search|usage) ;; *) exec "{ramus}" "$@" ;; esac
answer="{folder}/$(printf '%s|' "$RAMUS_HOME" "$@" | cksum | tr ' ' -)"
if [ ! -f "$answer" ]; then
    "{ramus}" "$@" >"$answer.$$" || exit
    mv "$answer.$$" "$answer"
fi
exec cat "$answer"
"#,
        ramus = ramus.display(),
        folder = folder.display(),
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    script
}

#[test]
fn an_answer_of_another_moment_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let tally = Harms { ramus: believer(folder.path()), times: 20, seed: 11 }.run().unwrap();
    assert!(tally.violations > 0, "nothing was noticed: {tally:?}");
    let crowd = Crowd { ramus: believer(folder.path()), workers: 2, time: Duration::from_secs(10), seed: 11 };
    let noticed = crowd.run().unwrap_err().to_string();
    assert!(noticed.contains("instead of"), "{noticed}");
}

#[test]
fn a_crowd_that_writes_and_asks_sees_no_error() {
    let crowd = Crowd { ramus: ramus(), workers: 8, time: Duration::from_secs(8), seed: 12 };
    let crowded = crowd.run().unwrap();
    eprintln!("{crowded:?}");
    assert!(crowded.writes > 20 && crowded.reads > 20, "too little happened: {crowded:?}");
}
