//! `tail`: whole lines, each once, whatever happens to the file.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Stdio};

use crate::world::World;

/// A `tail --follow` that is running.
struct Tail {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Tail {
    fn start(world: &World, session: &str, more: &[&str]) -> Self {
        let mut command = world.command(&[&["tail", session, "--follow", "--json"], more].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    fn end(mut self) -> (i32, String) {
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut said).unwrap();
        (self.child.wait().unwrap().code().unwrap(), said)
    }
}

fn file_of(world: &World, session: &str) -> std::path::PathBuf {
    world.json(&["show", session])["session"]["path"].as_str().unwrap().into()
}

#[test]
fn the_last_entries_as_they_are_stored() {
    let world = World::new();
    let session = world.branched();
    let stored = std::fs::read_to_string(file_of(&world, &session)).unwrap();
    let lines: Vec<&str> = stored.lines().collect();
    let tail = world.ok(&["tail", &session, "-n", "3", "--json"]);
    assert_eq!(tail.lines().collect::<Vec<_>>(), lines[lines.len() - 3..]);
    assert_eq!(world.ok(&["tail", &session, "-n", "0", "--json"]), "");
    let all = world.ok(&["tail", &session, "-n", "1000", "--json"]);
    assert_eq!(all.lines().collect::<Vec<_>>(), lines[1..], "the header is no entry");
    let text = world.ok(&["tail", &session, "-n", "1"]);
    assert!(text.contains("cccc0002") && text.contains("Call sorted(names)."), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn every_line_once_through_publication_until_the_end() {
    let world = World::new();
    let session = world.session();
    let mut tail = Tail::start(&world, &session, &[]);
    let mut expected = Vec::new();
    for number in 0..5 {
        expected.push(world.say(&session, "user", &format!("{number}")));
    }
    expected.push(world.say(&session, "assistant", "published"));
    expected.push(world.say(&session, "user", "afterwards"));
    let seen: Vec<String> = expected.iter().map(|_| tail.line()).collect();
    for (line, id) in seen.iter().zip(&expected) {
        assert!(line.contains(id.as_str()), "{line} {id}");
    }
    world.ok(&["delete", &session, "--yes"]);
    let (code, said) = tail.end();
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("the session was deleted"), "{said}");
}

#[test]
fn no_part_of_a_line_and_a_word_when_the_file_is_another() {
    let world = World::new();
    let session = world.session();
    let first = world.say(&session, "user", "one");
    let path = file_of(&world, &session);
    let mut tail = Tail::start(&world, &session, &["-n", "1"]);
    assert!(tail.line().contains(&first));
    let entry =
        r#"{"type":"message","id":"half","parentId":null,"timestamp":"","message":{"role":"user","content":"x"}}"#;
    let (start, rest) = entry.split_at(40);
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    for part in [start, rest, "\n"] {
        file.write_all(part.as_bytes()).unwrap();
        // Long enough for the follower to look, and of no consequence if it does not.
        world.ok(&["list"]);
    }
    assert_eq!(tail.line(), entry);
    let whole = std::fs::read_to_string(&path).unwrap();
    let header = whole.lines().next().unwrap();
    std::fs::write(path.with_extension("new"), format!("{header}\n{entry}\n")).unwrap();
    std::fs::rename(path.with_extension("new"), &path).unwrap();
    assert_eq!((tail.line().as_str(), tail.line().as_str()), (header, entry));
    // Cut in place: shorter than what was handed out.
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(header.len() as u64 + 1).unwrap();
    assert_eq!(tail.line(), header);
    std::fs::remove_file(&path).unwrap();
    let (code, said) = tail.end();
    assert_eq!((code, said.matches("starting over").count()), (3, 2), "{said}");
}
