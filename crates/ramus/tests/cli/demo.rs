//! `demo`: real, quick, and gone afterwards.

use std::time::{Duration, Instant};

use crate::world::{World, snapshot};

#[test]
fn the_tour_is_real_and_leaves_nothing_behind() {
    let world = World::new();
    let temporary = world.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let world = world.with("TMPDIR", &temporary.display().to_string());
    let started = Instant::now();
    let ran = world.run(&["demo"]);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    snapshot!("demo", world.tame(&shortened(&ran.stdout)));
    for empty in [&temporary, &world.path("home")] {
        assert_eq!(std::fs::read_dir(empty).unwrap().count(), 0, "{}", empty.display());
    }
}

#[test]
fn programs_can_take_the_tour_too() {
    let steps = World::new().json(&["demo"])["steps"].clone();
    let commands: Vec<&str> = steps.as_array().unwrap().iter().map(|step| step["command"].as_str().unwrap()).collect();
    assert!(commands.iter().any(|command| command.starts_with("ramus replace-segment ")), "{commands:?}");
}

/// How long calls took differs from run to run, and what keeps commands in bounds from machine to machine.
fn steady(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n').filter(|line| !line.starts_with("warning: commands run")) {
        match line.rsplit_once(" · ") {
            Some((before, took)) if took.ends_with(" ms\n") || took.ends_with(" s\n") => {
                out.push_str(&format!("{before} · [took]\n"));
            }
            _ => match line.split_once("is kept as ") {
                // The name of a snapshot tells when it was taken.
                Some((before, _)) => out.push_str(&format!("{before}is kept as [snapshot]\n")),
                None => out.push_str(line),
            },
        }
    }
    out
}

/// How much of a session id is unique depends on the moment it was made.
fn shortened(text: &str) -> String {
    let text = steady(text);
    let mut out = String::new();
    for word in text.split_inclusive([' ', '\n', '@']) {
        let id = word.trim_end_matches([' ', '\n', '@']);
        let rest = &word[id.len()..];
        let is_prefix = id.len() < 36
            && id.len() >= 4
            && id.starts_with("01")
            && !id.contains(|c: char| !c.is_ascii_hexdigit() && c != '-');
        // An entry id can look like this as well; those have exactly eight digits.
        if is_prefix && (id.len() == 4 || id.contains('-')) {
            out.push_str("[session]");
        } else {
            out.push_str(id);
        }
        out.push_str(rest);
    }
    out
}
