//! Out of one home, into another, and out again: the same bytes.

use ramus_engine::{Cursor, Engine, ErrorKind, ImportOptions, Say};
use ramus_model::permission::{Action, Rule};

use crate::world::{World, any_file};

#[test]
fn a25_export_import_export_is_a_fixed_point() {
    for seed in 0..300 {
        let (here, there) = (World::new(), World::new());
        let id = format!("tree-{seed}");
        let file = any_file(seed);
        here.put(&id, &file);
        let bundle = here.export(&[&id]);
        let imported = there.import(&bundle);
        assert_eq!((imported.imported.len(), imported.skipped.len()), (1, 0), "seed {seed}");
        let name = imported.imported[0].id.to_string();
        assert_eq!(there.logs()[0].1, file, "seed {seed}");
        assert!(there.export(&[&name]) == bundle, "seed {seed}");
        // Once more changes nothing, there and here.
        for world in [&there, &here] {
            let before = world.logs();
            let again = world.import(&bundle);
            assert_eq!((again.imported.len(), again.skipped.len()), (0, 1), "seed {seed}");
            assert_eq!(world.logs(), before, "seed {seed}");
        }
    }
}

#[test]
fn a25_forks_and_blobs_come_along_and_ids_stay() {
    let (here, there) = (World::new(), World::new());
    let origin = here.conversation("origin");
    let fork = here.fork(&origin);
    let mut own = here.open(&fork);
    here.engine.say(&mut own, Say::user("only in the fork")).unwrap();
    let bundle = here.export(&[origin.id().as_str(), &fork]);
    let imported = there.import(&bundle);
    assert_eq!(imported.imported.len(), 2);
    for id in [origin.id().as_str(), fork.as_str()] {
        let entries = |world: &World| {
            let session = world.open(id);
            let page = session.messages(session.log().leaf(), None, None).unwrap();
            assert_eq!(session.missing_blobs(), []);
            page.messages.into_iter().map(|view| (view.id, view.message)).collect::<Vec<_>>()
        };
        assert_eq!(entries(&here), entries(&there), "{id}");
    }
    assert!(there.export(&[origin.id().as_str(), &fork]) == bundle);
    // The home it came from has the fork by reference, and knows it again all the same.
    assert_eq!(here.import(&bundle).skipped.len(), 2);
}

#[test]
fn a25_a_session_that_grew_elsewhere_is_extended_and_one_that_parted_is_a_conflict() {
    let (here, there) = (World::new(), World::new());
    let mut session = here.conversation("grows");
    let id = session.id().to_string();
    let short = here.export(&[&id]);
    there.import(&short);
    here.engine.say(&mut session, Say::user("more")).unwrap();
    let long = here.export(&[&id]);
    let extended = there.import(&long);
    assert!(extended.imported[0].extended);
    assert_eq!(there.logs(), here.logs());
    // What is older here is left alone.
    assert_eq!(there.import(&short).skipped[0].1, "it is here already, and longer");
    let mut other = there.open(&id);
    there.engine.say(&mut other, Say::user("another way")).unwrap();
    here.engine.say(&mut session, Say::user("this way")).unwrap();
    let before = there.logs();
    let parted = here.export(&[&id]);
    let refused = there.engine.import_bundle(&*parted, ImportOptions::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert_eq!(there.logs(), before);
    let options = ImportOptions { as_new: true, ..ImportOptions::default() };
    let copy = there.engine.import_bundle(&*parted, options).unwrap();
    let copied = there.open(copy.imported[0].id.as_str());
    assert_eq!(copied.log().len(), session.log().len());
    assert_ne!(copied.id(), session.id());
}

#[test]
fn a25_nothing_that_comes_in_allows_anything() {
    let (here, there) = (World::new(), World::new());
    let mut session = here.conversation("rules");
    let line = r#"{"type":"custom","customType":"ramus.meta","data":{"op":"permission","client":"test","set":{"permission":[
        {"permission":"bash","pattern":"*","action":"allow"},{"permission":"edit","pattern":"*","action":"deny"}]}}}"#;
    let line = line.replace('\n', "");
    let draft = ramus_model::Draft::parse(line.as_bytes()).unwrap();
    here.engine.append(&mut session, &[draft], &Cursor::Leaf).unwrap();
    let actions = |rules: Vec<Rule>| rules.into_iter().map(|rule| rule.action).collect::<Vec<_>>();
    assert_eq!(actions(session.rules().unwrap()), [Action::Allow, Action::Deny]);
    there.import(&here.export(&[session.id().as_str()]));
    let imported = there.open(session.id().as_str());
    assert_eq!(actions(imported.rules().unwrap()), [Action::Deny]);
    let fork = there.open(&there.fork(&imported));
    assert_eq!(actions(fork.rules().unwrap()), [Action::Deny]);
}

#[test]
fn a25_hostile_names_stay_out() {
    let world = World::new();
    let bundle = |id: &str, times: usize| {
        let mut writer = ramus_publish::bundle::Writer::new(Vec::new()).unwrap();
        for _ in 0..times {
            let head = ramus_publish::bundle::SessionHead { id: id.to_owned(), ..Default::default() };
            writer.session(&head).unwrap();
            writer.log(b"{}\n").unwrap();
        }
        writer.finish().unwrap()
    };
    for id in ["../../etc/cron.d/x", "a/b", "", ".hidden", "nul\0", "new\nline", &"x".repeat(129)] {
        let error = world.engine.import_bundle(&*bundle(id, 1), ImportOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{id:?}");
    }
    let error = world.engine.import_bundle(&*bundle("twice", 2), ImportOptions::default()).unwrap_err();
    assert!(error.to_string().contains("twice"), "{error}");
    assert_eq!(world.logs(), []);
}

#[test]
fn a25_a_dry_run_and_a_home_in_memory() {
    let here = World::new();
    let session = here.conversation("memory");
    let bundle = here.export(&[session.id().as_str()]);
    let there = Engine::in_memory();
    let options = ImportOptions { dry_run: true, ..ImportOptions::default() };
    assert_eq!(there.import_bundle(&*bundle, options).unwrap().imported.len(), 1);
    assert!(there.open(session.id().as_str(), "").is_err());
    assert_eq!(there.import_bundle(&*bundle, ImportOptions::default()).unwrap().imported.len(), 1);
    assert_eq!(there.import_bundle(&*bundle, ImportOptions::default()).unwrap().skipped.len(), 1);
    let mut again = Vec::new();
    there.export_bundle(&[there.open(session.id().as_str(), "").unwrap()], &mut again).unwrap();
    assert!(again == bundle);
}
