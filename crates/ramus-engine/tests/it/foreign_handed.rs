//! Sessions that were handed to another agent, and come back.

use ramus_interchange::Format;

use crate::foreign_world::{CLAUDE, Machine, conversation, files};

#[test]
fn a_session_that_was_handed_over_comes_back_as_a_fork() {
    for format in [Format::Claude, Format::Codex, Format::Pi] {
        let machine = Machine::new();
        machine.claude(CLAUDE, &conversation());
        machine.import();
        let session = machine.session(CLAUDE);
        let work = machine.path("work");
        std::fs::create_dir_all(&work).unwrap();
        let leaf = session.leaf().unwrap();
        let handed = machine.engine.hand_over(&session, None, format, &machine.environment(), &work).unwrap();
        files(&machine.path("")).iter().for_each(|path| crate::foreign_world::age(path));
        let done = machine.import();
        assert_eq!(done.imported.len(), 1, "{format:?}: {done:?}");
        assert_eq!(done.imported[0].file, handed.file.canonicalize().unwrap());
        let link = &done.linked[0];
        assert_eq!((&link.id, link.origin.session.as_str()), (&done.imported[0].id, CLAUDE), "{format:?}");
        let back = machine.session(done.imported[0].id.as_str());
        let origin = back.info().unwrap().lineage.forked_from.unwrap();
        assert_eq!((origin.session.as_str(), origin.entry), (CLAUDE, leaf), "{format:?}");
    }
}
