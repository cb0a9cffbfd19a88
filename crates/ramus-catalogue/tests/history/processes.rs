//! Several processes share a history, and processes are killed. The test binary is its own child.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ramus_catalogue::History;

use crate::{LONG, found, prompt};

const HOME: &str = "RAMUS_TEST_HISTORY_HOME";
const NAME: &str = "RAMUS_TEST_HISTORY_NAME";
const COUNT: usize = 60;

/// What the child does: records prompts one by one, and says which are stored.
#[test]
fn child() {
    let (Ok(home), Ok(name)) = (std::env::var(HOME), std::env::var(NAME)) else { return };
    for number in 0..COUNT {
        let history = History::at(Path::new(&home));
        let text = if name == "same" { "the same".to_owned() } else { format!("{name} {number}") };
        history.record(prompt(&text));
        history.close(LONG).unwrap();
        println!("stored {text}");
    }
}

fn start(home: &Path, name: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "processes::child", "--nocapture"]).env(HOME, home).env(NAME, name);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// What the child said is stored, until it ended or said so often enough.
fn stored(child: &mut Child, at_most: usize) -> Vec<String> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    // The first line is also the one the test harness starts.
    let said = lines.filter_map(|line| Some(line.split_once("stored ")?.1.to_owned()));
    said.take(at_most).collect()
}

#[test]
fn writers_of_several_processes_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut children: Vec<Child> = ["a", "b", "c", "d"].iter().map(|name| start(home.path(), name)).collect();
    for child in &mut children {
        assert_eq!(stored(child, usize::MAX).len(), COUNT);
        assert!(child.wait().unwrap().success());
    }
    let mut all = found(home.path(), "");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4 * COUNT);
}

#[test]
fn two_processes_that_ask_the_same_store_it_once() {
    let home = tempfile::tempdir().unwrap();
    let mut children = [start(home.path(), "same"), start(home.path(), "same")];
    for child in &mut children {
        assert_eq!(stored(child, usize::MAX).len(), COUNT);
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(found(home.path(), ""), ["the same"]);
}

#[test]
fn what_was_stored_survives_being_killed() {
    let home = tempfile::tempdir().unwrap();
    let mut promised = Vec::new();
    for round in 0..20 {
        let mut child = start(home.path(), &format!("round{round}"));
        promised.extend(stored(&mut child, 1 + round % 7));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let all = found(home.path(), "round");
    for text in promised {
        assert!(all.contains(&text), "{text} was lost");
    }
    let checked: String =
        crate::connect(home.path()).query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(checked, "ok");
}
