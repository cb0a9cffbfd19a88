//! Sessions go out to the agents they came from: as they came in, or as they are here now.

use ramus_engine::{Extent, OneFile, Say, Session};
use ramus_interchange::Format;
use serde_json::{Value, json};

use crate::foreign_world::{CLAUDE, Machine, answered, asked, conversation};

fn written(machine: &Machine, session: &Session, format: Format) -> Vec<u8> {
    let mut written = Vec::new();
    let (start, extent) = (session.start(), Extent::Path(None));
    machine.engine.convert(session, format, extent, start, &mut OneFile::new(&mut written)).unwrap();
    written
}

/// What the lines of a file of Claude Code are called, and what they hang from.
fn tree(file: &[u8]) -> Vec<(String, Value)> {
    let lines = serde_json::Deserializer::from_slice(file).into_iter::<Value>().map(Result::unwrap);
    let lines = lines.filter(|line| line["uuid"].is_string());
    lines.map(|line| (line["uuid"].as_str().unwrap().to_owned(), line["parentUuid"].clone())).collect()
}

/// A conversation that was asked again, with a line that only has a place behind it.
fn asked_again(machine: &Machine) -> Vec<u8> {
    let mut lines = conversation();
    lines.push(asked("u2-0000", Some("a1-0000"), "And a twig?"));
    lines.push(answered("a2-0000", "u2-0000", "A small one."));
    let beside = asked("p1-0000", Some("a1-0000"), "x").replace(r#""type":"user""#, r#""type":"progress""#);
    lines.push(beside);
    lines.push(asked("u3-0000", Some("a1-0000"), "And a leaf?"));
    let file = machine.claude(CLAUDE, &lines);
    machine.import();
    std::fs::read(file).unwrap()
}

#[test]
fn h6_a_file_of_claude_ends_where_the_session_stands() {
    let machine = Machine::new();
    let file = asked_again(&machine);
    let mut session = machine.session(CLAUDE);
    assert_eq!(written(&machine, &session, Format::Claude), file, "nothing was done here");
    let ids = |file: &[u8]| tree(file).into_iter().map(|(uuid, _)| uuid).collect::<Vec<_>>();
    let target = session.log().seq_of("a2-0000").unwrap();
    machine.engine.branch(&mut session, target).unwrap();
    let ours = written(&machine, &session, Format::Claude);
    assert_eq!(ids(&ours), ["u1-0000", "a1-0000", "u2-0000", "a2-0000"]);
    machine.engine.say(&mut session, Say::user("Thanks.")).unwrap();
    let ours = tree(&written(&machine, &session, Format::Claude));
    assert_eq!(ours.last().unwrap().1, json!("a2-0000"), "what was said here comes last");
    // Back where the file ended, with something that was added elsewhere, the file is not the one that came.
    let target = session.log().seq_of("u3-0000").unwrap();
    machine.engine.branch(&mut session, target).unwrap();
    assert_eq!(ids(&written(&machine, &session, Format::Claude)).last().unwrap(), "u3-0000");
}

#[test]
fn h6_a_session_that_went_back_here_goes_out_as_it_stands() {
    let machine = Machine::new();
    let message = |id: &str, text: &str| json!({"info": {"id": id, "sessionID": "ses_1", "role": "user", "time": {"created": 1}}, "parts": [{"id": format!("prt_{id}"), "type": "text", "text": text}]});
    let known = json!({"id": "ses_1", "title": "Twigs", "directory": "/proj", "version": "1", "time": {"created": 1, "updated": 1}});
    let reverted = {
        let mut known = known.clone();
        known["revert"] = json!({"messageID": "msg_2"});
        known
    };
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    for known in [known, reverted] {
        let id = if known["revert"].is_null() { "ses_twigs0001" } else { "ses_twigs0002" };
        let document = json!({"info": known, "messages": [message("msg_1", "one"), message("msg_2", "two")]});
        let document = read(document.to_string().replace("ses_1", id).as_bytes());
        machine.import_path(&machine.write(&format!("there/{id}.json"), document.to_string().as_bytes()));
        let mut session = machine.session(id);
        assert_eq!(read(&written(&machine, &session, Format::Opencode)), document, "nothing was done here");
        let stands = session.log().leaf().unwrap();
        let target = if session.log().id(stands) == "msg_1" { "msg_2" } else { "msg_1" };
        let target = session.log().seq_of(target).unwrap();
        machine.engine.branch(&mut session, target).unwrap();
        let ours = read(&written(&machine, &session, Format::Opencode));
        let count = if id == "ses_twigs0001" { 1 } else { 2 };
        assert_eq!(ours["messages"].as_array().unwrap().len(), count, "{ours}");
        assert!(ours["info"]["revert"].is_null(), "{ours}");
    }
}
