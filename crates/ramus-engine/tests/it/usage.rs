//! Usage: each answer once, however many copies, forks and bases there are, with a catalogue as without.

use proptest::prelude::*;
use ramus_engine::{Children, Cursor, NewSession, Session, UsageBy, UsageQuery, UsageReport, WhichDirectory, prices};
use ramus_model::time::Zone;
use ramus_model::{Body, Draft, SessionId};
use serde_json::{Value, json};

use crate::homes::{Home, homes, jsonl};

const DAY: i64 = 86_400_000;

fn ask(home: &Home, by: UsageBy) -> UsageReport {
    ask_in(home, by, WhichDirectory::All)
}

/// Asks both ways, which must agree.
fn ask_in(home: &Home, by: UsageBy, directory: WhichDirectory) -> UsageReport {
    let prices = prices::known().unwrap();
    let query = UsageQuery { by, directory, since: None, until: None, zone: Zone::utc(), prices: &prices };
    let report = home.engine.usage(&query).unwrap();
    assert_eq!(report, home.engine.usage_by_reading(&query).unwrap(), "{} by {by:?}", home.name);
    report
}

fn session_in(home: &Home, cwd: &str, parent: Option<&SessionId>) -> Session {
    home.engine.create(NewSession { cwd: cwd.into(), parent: parent.cloned(), ..NewSession::default() }).unwrap()
}

fn message(day: i64, input: u64, response: Option<&str>, cost: f64) -> Value {
    let mut message = json!({
        "role": "assistant", "content": "ok", "provider": "demo", "model": "small", "timestamp": day * DAY,
        "usage": {"input": input, "output": 1, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": cost}},
    });
    if let Some(response) = response {
        message["responseId"] = response.into();
    }
    message
}

fn answer(home: &Home, session: &mut Session, message: Value) {
    let draft = Draft::new(Body::new("message", [("message", message)]));
    home.engine.append(session, &[draft], &Cursor::Leaf).unwrap();
}

fn inputs(report: &UsageReport) -> Vec<u64> {
    report.rows.iter().map(|row| row.usage.tokens.input).collect()
}

/// The tokens that went in, of the only session, as a list shows them.
fn listed(home: &Home) -> u64 {
    let filter = ramus_engine::Filter { directory: WhichDirectory::All, ..ramus_engine::Filter::default() };
    home.engine.list(&filter).unwrap().sessions.iter().map(|info| info.usage.tokens.input).sum()
}

#[test]
fn of_the_messages_of_one_response_the_last_counts() {
    for home in homes() {
        let mut session = home.session();
        for (input, response) in [(1, "r1"), (10, "r1"), (100, "r2"), (1000, "r1")] {
            answer(&home, &mut session, message(1, input, Some(response), 0.5));
        }
        answer(&home, &mut session, message(1, 10_000, None, 0.5));
        let report = ask(&home, UsageBy::Day);
        assert_eq!((inputs(&report), report.total.usage.answers), (vec![11_100], 3), "{}", home.name);
        assert_eq!(report.total.cost.micros, Some(1_500_000));
        let info = session.info().unwrap();
        assert_eq!((info.usage.tokens.input, info.usage.tokens.output), (11_100, 3), "{}", home.name);
        assert_eq!(listed(&home), 11_100, "{}", home.name);
        // Also when it is counted on from what was there.
        answer(&home, &mut session, message(1, 20_000, Some("r3"), 0.5));
        assert_eq!(listed(&home), 31_100, "{}", home.name);
        answer(&home, &mut session, message(1, 30_000, Some("r3"), 0.5));
        assert_eq!(listed(&home), 41_100, "{}", home.name);
    }
}

#[test]
fn forks_count_only_what_is_their_own_and_bases_what_was_kept() {
    for home in homes() {
        let mut origin = home.session();
        answer(&home, &mut origin, message(1, 1, None, 0.0));
        let leaf = origin.log().leaf().unwrap();
        answer(&home, &mut origin, message(1, 10, None, 0.0));
        let mut fork = home.fork(&origin, leaf);
        answer(&home, &mut fork, message(2, 100, None, 0.0));
        assert_eq!(ask(&home, UsageBy::Session).total.usage.tokens.input, 111, "{}", home.name);
        // The base keeps the first answer, which the fork shows; the second is gone with its session.
        home.engine.delete(&origin, Children::Orphan, false).unwrap();
        let report = ask(&home, UsageBy::Session);
        assert_eq!(report.total.usage.tokens.input, 101, "{}", home.name);
        let row = report.rows.iter().find(|row| row.key == origin.id().as_str()).unwrap();
        assert_eq!(row.session.as_ref().unwrap().title, "(deleted)");
    }
}

#[test]
fn copies_of_a_session_add_only_what_is_new() {
    let home = jsonl();
    let mut session = home.session();
    answer(&home, &mut session, message(1, 1, Some("r1"), 0.0));
    answer(&home, &mut session, message(1, 10, Some("r2"), 0.0));
    let path = session.location().path.clone().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    // Another session with the same entries, as an export that was put back, made later and gone on with.
    let copy = "0f0f0f0f-0000-7000-8000-000000000000";
    let name = path.file_name().unwrap().to_str().unwrap().replace(session.id().as_str(), copy);
    std::fs::write(path.with_file_name(name), text.replace(session.id().as_str(), copy)).unwrap();
    let mut copy = home.engine.open(copy, "/proj").unwrap();
    answer(&home, &mut copy, message(1, 20, Some("r2"), 0.0));
    answer(&home, &mut copy, message(1, 100, None, 0.0));
    let report = ask(&home, UsageBy::Session);
    assert_eq!(report.total.usage.tokens.input, 131, "what each of them got for its own counts");
    assert_eq!(report.total.sessions, 2);
}

#[test]
fn children_are_told_apart_and_directories_chosen() {
    let home = jsonl();
    let mut parent = session_in(&home, "/a", None);
    answer(&home, &mut parent, message(1, 1, None, 0.25));
    let silent = session_in(&home, "/a", Some(parent.id()));
    let mut grandchild = session_in(&home, "/b", Some(silent.id()));
    answer(&home, &mut grandchild, message(1, 10, None, 0.5));
    let report = ask(&home, UsageBy::Session);
    let share = |id: &SessionId| {
        let row = report.rows.iter().find(|row| row.key == id.as_str()).unwrap();
        (row.usage.tokens.input, row.session.as_ref().unwrap().children.tokens.input)
    };
    assert_eq!([share(parent.id()), share(silent.id()), share(grandchild.id())], [(1, 10), (0, 10), (10, 0)]);
    assert_eq!((report.total.usage.tokens.input, report.total.sessions), (11, 2));
    assert_eq!(ask_in(&home, UsageBy::Project, WhichDirectory::One("/b".into())).total.usage.tokens.input, 10);
}

#[test]
fn replaced_answers_cost_what_they_cost() {
    let home = jsonl();
    let mut session = home.saying(&["question"]);
    answer(&home, &mut session, message(1, 1, None, 0.0));
    answer(&home, &mut session, message(1, 10, None, 0.0));
    let [first, last] = [2, 3].map(|at| session.log().seqs().nth(at - 1).unwrap());
    home.engine.replace_segment(&mut session, first, last, "summary").unwrap();
    assert_eq!(ask(&home, UsageBy::Day).total.usage.tokens.input, 11);
}

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    Answer { session: usize, day: i64, input: u64, response: Option<u8>, priced: bool },
    Fork { session: usize, entry: usize },
    Spawn { session: usize },
    Delete { session: usize },
    Ask,
}

fn step() -> impl Strategy<Value = Step> {
    let number = 0usize..8;
    prop_oneof![
        6 => (number.clone(), 0i64..3, 0u64..100, proptest::option::of(0u8..4), any::<bool>())
            .prop_map(|(session, day, input, response, priced)| Step::Answer { session, day, input, response, priced }),
        2 => (number.clone(), 0usize..6).prop_map(|(session, entry)| Step::Fork { session, entry }),
        1 => number.clone().prop_map(|session| Step::Spawn { session }),
        1 => number.prop_map(|session| Step::Delete { session }),
        1 => Just(Step::Ask),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_catalogue_says_what_reading_says(steps in proptest::collection::vec(step(), 1..24)) {
        for home in homes() {
            let kept = Home { engine: home.engine.clone().with_catalogue(home.directory.path()), ..home };
            let mut sessions = vec![kept.session()];
            for step in &steps {
                take(&kept, &mut sessions, step);
            }
            for by in [UsageBy::Day, UsageBy::Model, UsageBy::Project, UsageBy::Session] {
                ask(&kept, by);
            }
        }
    }
}

fn take(home: &Home, sessions: &mut Vec<Session>, step: &Step) {
    let count = sessions.len().max(1);
    match *step {
        Step::Answer { session, day, input, response, priced } => {
            let Some(session) = sessions.get_mut(session % count) else { return };
            let response = response.map(|number| format!("r{number}"));
            answer(home, session, message(day, input, response.as_deref(), f64::from(u8::from(priced))));
        }
        Step::Fork { session, entry } => {
            let Some(origin) = sessions.get(session % count) else { return };
            let entries: Vec<_> = origin.log().visible().collect();
            if let Some(entry) = entries.get(entry % entries.len().max(1)) {
                sessions.push(home.fork(origin, *entry));
            }
        }
        Step::Spawn { session } => {
            let parent = sessions.get(session % count).map(|session| session.id().clone());
            sessions.push(session_in(home, "/other", parent.as_ref()));
        }
        Step::Delete { session } => {
            if !sessions.is_empty() {
                let gone = sessions.remove(session % count);
                home.engine.delete(&gone, Children::Orphan, false).unwrap();
                // Whoever goes on with a fork of it must find its base.
                for session in sessions {
                    *session = home.reopened(session);
                }
            }
        }
        Step::Ask => drop(ask(home, UsageBy::Session)),
    }
}
