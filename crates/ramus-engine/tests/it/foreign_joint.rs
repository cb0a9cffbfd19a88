//! Several imports of the same files at the same time, and several sessions that begin alike.

use ramus_engine::ForeignImport;
use ramus_interchange::Format;
use ramus_interchange::place::roots;

use crate::foreign_world::{CLAUDE, Machine, asked, conversation};
use crate::homes::path;

#[test]
fn a_session_that_another_import_brought_meanwhile_is_here() {
    let machine = Machine::new();
    let mut lines = conversation();
    machine.claude(CLAUDE, &lines);
    let all: Vec<_> = Format::ALL.iter().flat_map(|format| roots(*format, &machine.environment())).collect();
    let stores = machine.engine.find_foreign(&all);
    let mut others = Vec::new();
    // It is known what is here when it is told how far the import has come.
    let done = machine.engine.import_foreign(&stores, ForeignImport::default(), &mut |_| {
        if others.is_empty() {
            others.push(machine.import());
        }
    });
    assert_eq!(others[0].imported.len(), 1, "{others:?}");
    let done = done.unwrap();
    assert_eq!((done.imported.len(), done.unchanged, done.failed.len()), (0, 1, 0), "{done:?}");
    assert_eq!(machine.logs().len(), 1);

    // One that grew before the other import looked at it.
    lines.push(asked("u2-0000", Some("a1-0000"), "More?"));
    machine.claude(CLAUDE, &lines);
    assert_eq!(machine.import().grown.len(), 1);
}

fn shepherd(answers: &[&str]) -> Vec<u8> {
    let said = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":"{text}","tokens":1}}"#);
    let mut messages = vec![said("user", "hi")];
    messages.extend(answers.iter().map(|answer| said("assistant", answer)));
    let messages = messages.join(",");
    format!(r#"{{"version":1,"timestamp":1794726696,"provider":"openai","model":"gpt-9","messages":[{messages}]}}"#)
        .into_bytes()
}

/// Shepherd's files have no ids, and all of them are called the same.
#[test]
fn sessions_of_other_directories_that_begin_alike_are_others() {
    let machine = Machine::new();
    let mut ids = Vec::new();
    for (directory, answer) in [("a", "Answer in A."), ("b", "Answer in B.")] {
        let file = machine.write(&format!("{directory}/.shepherd_session.openai.json"), &shepherd(&[answer]));
        let done = machine.import_path(&file);
        assert_eq!(done.imported.len(), 1, "{done:?}");
        assert_eq!(path(&machine.session(done.imported[0].id.as_str())), ["hi", answer]);
        ids.push(done.imported[0].id.clone());
        let file = machine.write(&format!("{directory}/.shepherd_session.openai.json"), &shepherd(&[answer, "More."]));
        let done = machine.import_path(&file);
        assert_eq!((done.grown.len(), &done.grown[0].id), (1, &ids[ids.len() - 1]), "{done:?}");
    }
    assert_ne!(ids[0], ids[1]);
}

/// A copy that went on another way is no copy.
#[test]
fn a_message_that_says_something_else_makes_another_session() {
    let machine = Machine::new();
    let okcvm = |answer: &str| {
        let said = |id: &str, role: &str, text: &str| {
            format!(r#"{{"id":"{id}","role":"{role}","content":"{text}","timestamp":"2026-11-01T10:00:00.000Z"}}"#)
        };
        let messages = [said("m1", "user", "hi"), said("m2", "assistant", answer)].join(",");
        format!(
            r#"{{"id":"conversation-1","title":"t","createdAt":"2026-11-01T10:00:00.000Z","branches":{{}},"messages":[{messages}]}}"#
        )
    };
    machine.import_path(&machine.write("a/one.json", okcvm("One.").as_bytes()));
    let done = machine.import_path(&machine.write("b/one.json", okcvm("Two.").as_bytes()));
    assert_eq!(done.imported.len(), 1, "{done:?}");
    assert_eq!(path(&machine.session(done.imported[0].id.as_str())), ["hi", "Two."]);
}
