//! What a person erased here does not come back from the file it was read from.

use ramus_engine::{Purge, PurgeScope};

use crate::foreign_world::{CLAUDE, Machine, answered, asked};
use crate::homes::{clean, path, saying};

const ERASE: Purge = Purge { scope: PurgeScope::Subtree, dry_run: false };

fn lines() -> Vec<String> {
    vec![
        asked("u1-0000", None, "The password is hunter2."),
        answered("a1-0000", "u1-0000", "So hunter2 it is."),
        asked("u2-0000", Some("a1-0000"), "And the swordfish?"),
        answered("a2-0000", "u2-0000", "A swordfish too."),
    ]
}

fn forget(machine: &Machine) {
    std::fs::remove_file(machine.home.directory.path().join("home/imports.json")).unwrap();
}

fn says(machine: &Machine, word: &str) -> bool {
    machine.logs().iter().any(|(_, log)| String::from_utf8_lossy(log).contains(word))
}

#[test]
fn what_was_erased_stays_away_when_the_file_grows_or_is_read_again() {
    let machine = Machine::new();
    let mut lines = lines();
    let file = machine.claude(CLAUDE, &lines);
    machine.import();
    let mut session = machine.session(CLAUDE);
    let secret = saying(&session, "And the swordfish?");
    machine.engine.purge(&mut session, secret, ERASE).unwrap();
    assert!(!says(&machine, "swordfish"));
    let erased = machine.logs();

    forget(&machine);
    assert_eq!(machine.import().unchanged, 1);
    assert_eq!(machine.logs(), erased);

    lines.push(asked("u3-0000", Some("a2-0000"), "Something else."));
    machine.claude(CLAUDE, &lines);
    assert_eq!(machine.import().grown.len(), 1);
    assert!(says(&machine, "Something else.") && !says(&machine, "swordfish"));
    assert_eq!(path(&machine.session(CLAUDE)), ["The password is hunter2.", "So hunter2 it is."]);

    // Another file with the same session.
    let moved = machine.path(".claude/projects/-other").join(file.file_name().unwrap());
    std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
    std::fs::rename(file, moved).unwrap();
    forget(&machine);
    assert_eq!(machine.import().imported.len(), 0);
    assert!(!says(&machine, "swordfish"));
    clean(&machine.logs()[0].1);
}

#[test]
fn a_title_goes_with_what_it_was_made_of_and_one_that_a_person_gave_stays() {
    for name in [None, Some("My password is hunter2")] {
        let machine = Machine::new();
        machine.claude(CLAUDE, &lines());
        machine.import();
        let mut session = machine.session(CLAUDE);
        assert_eq!(session.title(), "The password is hunter2");
        if let Some(name) = name {
            machine.engine.rename(&mut session, name).unwrap();
        }
        let first = saying(&session, "The password is hunter2.");
        machine.engine.purge(&mut session, first, ERASE).unwrap();
        forget(&machine);
        machine.import();
        let title = machine.session(CLAUDE).title();
        match name {
            Some(name) => assert_eq!(title, name),
            None => assert!(!says(&machine, "hunter2"), "{title}"),
        }
    }
}

#[test]
fn a_title_goes_from_a_file_that_forks_count_the_bytes_of() {
    let machine = Machine::new();
    let mut lines = lines();
    lines.insert(0, asked("u0-0000", None, "Before."));
    lines.insert(1, asked("u9-0000", Some("u0-0000"), "Also."));
    machine.claude(CLAUDE, &lines);
    machine.import();
    let mut session = machine.session(CLAUDE);
    let before = saying(&session, "Also.");
    let fork = machine.home.fork(&session, before);
    let secret = saying(&session, "And the swordfish?");
    machine.engine.purge(&mut session, secret, ERASE).unwrap();
    assert!(!says(&machine, "swordfish"));
    assert_eq!(path(&machine.home.reopened(&fork)), ["Before.", "Also."]);
}
