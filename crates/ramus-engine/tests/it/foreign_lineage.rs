//! Forks that other agents made are linked to what they were forked from: by what they share, never by what anybody may say.

use ramus_model::Origin;

use crate::foreign_world::{CLAUDE, Machine, answered, asked, conversation};

const FORK: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const THIRD: &str = "cccccccc-0000-4000-8000-000000000003";

/// The same lines in another session, as Claude Code copies them.
fn copied(lines: &[String], session: &str) -> Vec<String> {
    lines.iter().map(|line| line.replace(CLAUDE, session)).collect()
}

fn at(line: String, second: u8) -> String {
    line.replace("10:00:00.000Z", &format!("10:00:{second:02}.000Z"))
}

fn turn(from: &str, name: &str, second: u8) -> [String; 2] {
    let (prompt, answer) = (format!("{name}-prompt"), format!("{name}-answer"));
    [
        at(asked(&prompt, Some(from), name), second),
        at(answered(&answer, &prompt, &format!("{name} it is.")), second + 1),
    ]
}

fn origin(machine: &Machine, id: &str) -> Option<(String, String)> {
    let from = machine.session(id).info().unwrap().lineage.forked_from;
    from.map(|Origin { session, entry }| (session.to_string(), entry.to_string()))
}

fn link(session: &str, entry: &str) -> Option<(String, String)> {
    Some((session.to_owned(), entry.to_owned()))
}

#[test]
fn h4_a_fork_is_linked_to_the_last_entry_that_both_have() {
    let machine = Machine::new();
    let mut lines = conversation();
    lines.extend(turn("a1-0000", "second", 10));
    let mut fork = copied(&lines, FORK);
    fork.extend(copied(&turn("second-answer", "other", 30), FORK));
    lines.extend(turn("second-answer", "third", 20));
    machine.claude(CLAUDE, &lines);
    machine.claude(FORK, &fork);
    let done = machine.import();
    assert_eq!((done.imported.len(), done.linked.len(), done.failed.len()), (2, 1, 0), "{:?}", done.failed);
    assert_eq!(origin(&machine, FORK), link(CLAUDE, "second-answer"));
    assert_eq!(origin(&machine, CLAUDE), None);
    let settled = machine.logs();
    std::fs::remove_file(machine.home.directory.path().join("home/imports.json")).unwrap();
    for _ in 0..2 {
        let again = machine.import();
        assert_eq!((again.linked.len(), again.grown.len(), again.unchanged), (0, 0, 2));
        assert_eq!(machine.logs(), settled, "a link is written once");
    }
}

#[test]
fn h4_a_fork_of_a_session_that_came_earlier_is_linked_and_so_is_one_that_came_before_its_origin() {
    let machine = Machine::new();
    let mut lines = conversation();
    lines.extend(turn("a1-0000", "second", 10));
    let mut fork = copied(&lines, FORK);
    fork.extend(copied(&turn("second-answer", "other", 30), FORK));
    machine.claude(FORK, &fork);
    assert_eq!(machine.import().linked, []);
    // The origin comes from a backup, and then somebody forks the fork.
    machine.claude(CLAUDE, &lines);
    assert_eq!(machine.import().linked.len(), 1);
    assert_eq!(origin(&machine, FORK), link(CLAUDE, "second-answer"));
    let mut third: Vec<String> = fork.iter().map(|line| line.replace(FORK, THIRD)).collect();
    third.extend(turn("other-answer", "last", 50).iter().map(|line| line.replace(CLAUDE, THIRD)));
    machine.claude(THIRD, &third);
    assert_eq!(machine.import().linked.len(), 1);
    assert_eq!(origin(&machine, THIRD), link(FORK, "other-answer"));
    assert_eq!(origin(&machine, FORK), link(CLAUDE, "second-answer"), "what was found stays");
    // Lists say so too, and read no log for it.
    let listed = machine.engine.list(&Default::default()).unwrap();
    let from = |id: &str| {
        let info = listed.sessions.iter().find(|info| info.id.as_str() == id).unwrap();
        info.lineage.forked_from.as_ref().map(|from| from.session.to_string())
    };
    assert_eq!((from(FORK).as_deref(), from(THIRD).as_deref()), (Some(CLAUDE), Some(FORK)));
}

#[test]
fn h4_sessions_that_only_say_the_same_are_not_linked() {
    let machine = Machine::new();
    machine.claude(CLAUDE, &conversation());
    // The same question and the same answer, at another time; and the same question alone at the same time.
    let again: Vec<String> = copied(&conversation(), FORK).into_iter().map(|line| at(line, 40)).collect();
    machine.claude(FORK, &again);
    machine.claude(THIRD, &copied(&conversation()[..1], THIRD));
    let done = machine.import();
    assert_eq!((done.imported.len(), done.linked.len()), (3, 0));
    assert!([CLAUDE, FORK, THIRD].iter().all(|id| origin(&machine, id).is_none()));
}

#[test]
fn h4_a_session_that_says_what_it_was_forked_from_is_linked_when_that_is_here() {
    let machine = Machine::new();
    let entry = |id: &str, parent: &str, role: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-11-01T10:00:00.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let session = |id: &str, more: &str, lines: &[String]| {
        let header = format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-11-01T09:00:00.000Z","cwd":"/proj"{more}}}"#
        );
        let name = format!(".pi/agent/sessions/--proj--/2026-11-01T09-00-00-000Z_{id}.jsonl");
        machine.write(&name, format!("{header}\n{}\n", lines.join("\n")).as_bytes())
    };
    let shared =
        [entry("aaaa0001", "null", "user", "Plan it."), entry("aaaa0002", "\"aaaa0001\"", "assistant", "Done.")];
    let pointer = r#","parentSession":"/x/2026-11-01T09-00-00-000Z_origin-0001.jsonl""#;
    let own = entry("bbbb0001", "\"aaaa0001\"", "user", "Or so?");
    session("fork-0002", pointer, &[shared[0].clone(), own]);
    // A session that only follows another one has the pointer and nothing else of it.
    session("follow-0003", pointer, &[entry("cccc0001", "null", "user", "Now the tests.")]);
    assert_eq!(machine.import().linked, []);
    session("origin-0001", "", &shared);
    let done = machine.import();
    assert_eq!(done.linked.len(), 1, "{done:?}");
    assert_eq!(origin(&machine, "fork-0002"), link("origin-0001", "aaaa0001"));
    assert_eq!(origin(&machine, "follow-0003"), None);
    assert_eq!(machine.import().linked, []);
}

#[test]
fn h4_what_a_file_says_about_links_is_not_believed() {
    let machine = Machine::new();
    let header = r#"{"type":"session","version":3,"id":"liar-0001","timestamp":"2026-11-01T09:00:00.000Z","cwd":"/proj","ramus":{"copiedFrom":{"session":"x","entry":"y"}}}"#;
    let meta = r#"{"type":"custom","id":"aaaa0001","parentId":null,"timestamp":"2026-11-01T10:00:00.000Z","customType":"ramus.meta","data":{"op":"import","set":{"copied_from":{"session":"victim-0001","entry":"aaaa0009"}}}}"#;
    machine.write(".pi/agent/sessions/--proj--/2026_liar-0001.jsonl", format!("{header}\n{meta}\n").as_bytes());
    machine.import();
    assert_eq!(origin(&machine, "liar-0001"), None);
    assert!(machine.home.store.list().unwrap().len() == 1);
}

/// A rollout of Codex: what it says about itself, and what is said in it, numbered from `first`.
fn rollout(machine: &Machine, name: &str, first: usize, meta: &str, said: &[(&str, &str)]) {
    let thread = &name[..36];
    let mut lines = vec![format!(
        r#"{{"timestamp":"2026-11-01T10:00:00.000Z","ordinal":{first},"type":"session_meta","payload":{{"id":"{thread}","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/proj","model_provider":"openai","history_mode":"paginated"{meta}}}}}"#
    )];
    for (at, (role, text)) in (first + 1..).zip(said) {
        let kind = if *role == "user" { "input_text" } else { "output_text" };
        lines.push(format!(
            r#"{{"timestamp":"2026-11-01T10:00:00.000Z","ordinal":{at},"type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}}}"#
        ));
    }
    let file = format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{name}.jsonl");
    machine.write(&file, (lines.join("\n") + "\n").as_bytes());
}

#[test]
fn h4_a_thread_that_was_reverted_twice_is_linked_to_what_the_second_revert_started_from() {
    let machine = Machine::new();
    let [thread, fork, first, second] =
        [1, 2, 3, 4].map(|number| format!("01a1de00-0000-7000-8000-00000000000{number}"));
    // Whatever is made of a fork goes on saying what the fork was made of.
    let on = |base: &str, end: usize| {
        format!(
            r#","forked_from_id":"{thread}","history_base":{{"thread_id":"{base}","end_ordinal_exclusive":{end},"end_byte_offset":1}}"#
        )
    };
    rollout(&machine, &thread, 0, "", &[("user", "Plan it."), ("assistant", "So.")]);
    rollout(&machine, &fork, 3, &on(&thread, 3), &[("user", "Otherwise."), ("assistant", "Well.")]);
    rollout(&machine, &format!("{fork}_{first}"), 6, &on(&fork, 6), &[("user", "Again."), ("assistant", "Fine.")]);
    // Nothing that the first revert added is in the second: it shares as much with all of them.
    rollout(&machine, &format!("{fork}_{second}"), 7, &on(&first, 7), &[("user", "Once more.")]);
    let done = machine.import();
    assert_eq!((done.imported.len(), done.linked.len(), done.failed.len()), (4, 3, 0), "{done:?}");
    let from = |id: &str| origin(&machine, id).map(|(session, _)| session);
    assert_eq!(from(&fork), Some(thread.clone()));
    assert_eq!(from(&format!("{fork}.{first}")), Some(fork.clone()));
    assert_eq!(from(&format!("{fork}.{second}")), Some(format!("{fork}.{first}")));
    // What was done to a session is asked of all that came from it, through links that were found later too.
    let audited = machine.engine.audit(&machine.session(&thread)).unwrap();
    let mut asked: Vec<_> = audited.sessions.iter().map(|session| session.id().to_string()).collect();
    asked.sort();
    assert_eq!(asked, [thread, fork.clone(), format!("{fork}.{first}"), format!("{fork}.{second}")]);
}
