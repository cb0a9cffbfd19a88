//! Permission: order, wildcards, what is unknown, approvals and children, each against a model that tries everything.

use proptest::prelude::*;
use ramus_model::permission::{
    ANY, Action, Approval, Because, Covered, Layer, Permissions, Question, Rule, RuleError, Scope, WORD, covers,
    decide, rules_from_json, rules_to_json, touches,
};
use serde_json::json;

fn question(subject: &str) -> Question {
    Question {
        permission: "bash".into(),
        exact: subject.replace([ANY, WORD], "$x"),
        subjects: vec![subject.into()],
        ..Question::default()
    }
}

fn rules(list: &[(&str, Action)]) -> Vec<Rule> {
    list.iter().map(|(pattern, action)| Rule::new("bash", *pattern, *action)).collect()
}

fn action(permissions: &Permissions, approvals: &[Approval], subject: &str) -> Action {
    decide(permissions, approvals, &question(subject)).action
}

fn always(pattern: &str) -> Approval {
    Approval { scope: Scope::Session, permission: "bash".into(), covered: Covered::Pattern(pattern.into()) }
}

/// Matches by trying every way, one character at a time.
fn naive(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], []) => true,
        (['*', rest @ ..], _) => naive(rest, text) || matches!(text, [_, more @ ..] if naive(pattern, more)),
        (['?', rest @ ..], [_, more @ ..]) => naive(rest, more),
        ([a, rest @ ..], [b, more @ ..]) => a == b && naive(rest, more),
        _ => false,
    }
}

fn naive_match(pattern: &str, text: &str) -> bool {
    let chars = |text: &str| text.chars().collect::<Vec<_>>();
    naive(&chars(pattern), &chars(text))
        || pattern.strip_suffix(" *").is_some_and(|pattern| naive(&chars(pattern), &chars(text)))
}

/// Every text that the marks of a subject can become, up to two characters each.
fn instances(subject: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for letter in subject.chars() {
        let fill: Vec<&str> = match letter {
            ANY => vec!["", "a", "b", " ", "a ", " b", "ab", "ba", "aa", "bb"],
            WORD => vec!["", "a", "b", "ab", "ba", "aa", "bb"],
            _ => {
                all.iter_mut().for_each(|text| text.push(letter));
                continue;
            }
        };
        all = all.iter().flat_map(|text| fill.iter().map(move |fill| format!("{text}{fill}"))).collect();
    }
    all
}

fn any_action() -> impl Strategy<Value = Action> {
    prop_oneof![Just(Action::Allow), Just(Action::Ask), Just(Action::Deny)]
}

fn any_rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(("[ab*? ]{0,4}", any_action()), 0..5)
        .prop_map(|list| list.into_iter().map(|(pattern, action)| Rule::new("bash", pattern, action)).collect())
}

fn any_permissions() -> impl Strategy<Value = Permissions> {
    (any_rules(), any_rules(), any_rules(), any_rules()).prop_map(|(agent, user, project, session)| {
        Permissions::new()
            .with(Layer::Session, session)
            .with(Layer::Agent, agent)
            .with(Layer::Project, project)
            .with(Layer::User, user)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn wildcards_match_as_trying_everything_does(pattern in "[ab*? ]{0,6}", text in "[ab ]{0,7}") {
        prop_assert_eq!(covers(&pattern, &text), naive_match(&pattern, &text));
        prop_assert_eq!(touches(&pattern, &text), naive_match(&pattern, &text));
    }

    #[test]
    fn what_is_unknown_is_never_judged_more_mildly_than_what_it_may_become(
        permissions in any_permissions(), subject in "[ab \u{0}\u{1}]{0,4}",
    ) {
        let judged = action(&permissions, &[], &subject);
        for instance in instances(&subject) {
            let known = action(&permissions, &[], &instance);
            prop_assert!(judged >= known, "{subject:?} {judged} but {instance:?} {known}");
        }
    }

    #[test]
    fn the_last_rule_that_matches_decides(permissions in any_permissions(), subject in "[ab ]{0,4}") {
        let last = permissions.rules().rev().find(|(_, rule)| naive_match(&rule.pattern, &subject));
        prop_assert_eq!(action(&permissions, &[], &subject), last.map_or(Action::Ask, |(_, rule)| rule.action));
    }

    #[test]
    fn no_stored_approval_lifts_what_some_rule_denies(
        permissions in any_permissions(), pattern in "[ab*? ]{0,4}", subject in "[ab ]{0,3}",
    ) {
        let denies = |(_, rule): (Layer, &Rule)| rule.action == Action::Deny && naive_match(&rule.pattern, &subject);
        if permissions.rules().any(denies) {
            let exact = Approval { covered: Covered::Exact(subject.clone()), ..always("") };
            let approvals = [always(&pattern), always("*"), exact];
            prop_assert_eq!(action(&permissions, &approvals, &subject), action(&permissions, &[], &subject));
        }
    }

    #[test]
    fn a_child_never_may_what_its_parent_may_not(
        parent in any_permissions(), child in any_permissions(), grandchild in any_permissions(),
        subject in "[ab \u{0}]{0,3}",
    ) {
        let bound = child.child_of(&parent);
        let below = grandchild.clone().child_of(&bound);
        let [top, middle, bottom] = [&parent, &bound, &below].map(|rules| action(rules, &[], &subject));
        prop_assert!(bottom >= middle && middle >= top);
        prop_assert!(bottom >= action(&grandchild, &[], &subject));
        // Whoever binds a child that is bound already keeps both bonds.
        let twice = bound.child_of(&grandchild);
        prop_assert!(action(&twice, &[], &subject) >= middle);
    }

    #[test]
    fn one_denied_subject_denies_and_all_must_be_allowed(
        permissions in any_permissions(), subjects in prop::collection::vec("[ab ]{0,3}", 1..4),
    ) {
        let strictest = subjects.iter().map(|subject| action(&permissions, &[], subject)).max();
        let all = Question { subjects, ..question("never matched: c") };
        let exact = action(&permissions, &[], &all.exact);
        let expected = if exact == Action::Deny { Some(exact) } else { strictest };
        prop_assert_eq!(Some(decide(&permissions, &[], &all).action), expected);
    }
}

#[test]
fn a_session_may_relax_what_the_user_wrote() {
    let user = rules_from_json(&json!({"bash": "ask"})).unwrap();
    let session = rules_from_json(&json!([{"permission": "bash", "pattern": "*", "action": "allow"}])).unwrap();
    let alone = Permissions::new().with(Layer::User, user);
    assert_eq!(action(&alone, &[], "make"), Action::Ask);
    assert_eq!(action(&alone.with(Layer::Session, session), &[], "make"), Action::Allow);
}

#[test]
fn always_for_pushing_is_not_for_pushing_with_force() {
    let denied = rules(&[("*", Action::Ask), ("git push --force*", Action::Deny)]);
    let permissions = Permissions::new().with(Layer::User, denied);
    let approvals = [always("git push *")];
    assert_eq!(action(&permissions, &approvals, "git push origin main"), Action::Allow);
    assert_eq!(action(&permissions, &approvals, "git push"), Action::Allow);
    assert_eq!(action(&permissions, &approvals, "git push --force origin"), Action::Deny);
    // What stands for anything may be --force.
    assert_eq!(action(&permissions, &approvals, "git push \u{0}"), Action::Deny);
    // A later rule that asks instead does not open the door for what was stored.
    let relaxed = permissions.with(Layer::Session, rules(&[("*", Action::Ask)]));
    assert_eq!(action(&relaxed, &approvals, "git push --force origin"), Action::Ask);
    let now = Approval { scope: Scope::Once, covered: Covered::Exact("git push --force origin".into()), ..always("") };
    assert_eq!(action(&relaxed, &[now], "git push --force origin"), Action::Allow);
}

#[test]
fn an_approval_is_bound_to_the_bytes_that_were_shown() {
    let exact = Approval { covered: Covered::Exact("make  install".into()), ..always("") };
    let asked = |exact: &str| Question { exact: exact.into(), ..question("make install") };
    let shown = |question: &Question| decide(&Permissions::new(), std::slice::from_ref(&exact), question);
    assert_eq!(shown(&asked("make  install")).because, Because::Approved(exact.clone()));
    assert_eq!(shown(&asked("make install")).action, Action::Ask);
    assert_eq!(shown(&Question { permission: "task".into(), ..asked("make  install") }).action, Action::Ask);
}

#[test]
fn doubt_asks_at_best_and_only_its_bytes_can_be_approved() {
    let permissions = Permissions::new().with(Layer::User, rules(&[("?*", Action::Allow)]));
    let unclear = Question { doubt: Some("a variable".into()), ..question("ls") };
    let decision = decide(&permissions, &[always("*")], &unclear);
    assert_eq!((decision.action, decision.because), (Action::Ask, Because::Doubt("a variable".into())));
    let exact = Approval { covered: Covered::Exact("ls".into()), ..always("") };
    assert_eq!(decide(&permissions, &[exact], &unclear).action, Action::Allow);
    let none = Question { subjects: Vec::new(), doubt: None, ..question("--") };
    assert_eq!(decide(&permissions, &[], &none).because, Because::NoSubject);
    let shade = Question { shades: vec!["rm x".into()], ..question("/bin/rm x") };
    let denying = permissions.with(Layer::Session, rules(&[("rm *", Action::Deny)]));
    assert_eq!(decide(&denying, &[], &shade).action, Action::Deny);
}

#[test]
fn who_allows_everything_allows_what_is_doubtful() {
    let unclear = Question { doubt: Some("a variable".into()), ..question("ls") };
    let judged = |rules: Vec<Rule>| decide(&Permissions::new().with(Layer::Session, rules), &[], &unclear).action;
    assert_eq!(judged(rules(&[("rm *", Action::Ask), ("*", Action::Allow)])), Action::Allow);
    // It may be what a later rule is about.
    assert_eq!(judged(rules(&[("*", Action::Allow), ("rm *", Action::Deny)])), Action::Ask);
    assert_eq!(judged(rules(&[("*", Action::Allow), ("rm *", Action::Ask)])), Action::Ask);
    assert_eq!(judged(rules(&[("l*", Action::Allow)])), Action::Ask);
    // A child that is allowed everything is still bound by its parent.
    let all = Permissions::new().with(Layer::Session, rules(&[("*", Action::Allow)]));
    let bound = all.child_of(&Permissions::new().with(Layer::User, rules(&[("ls", Action::Allow)])));
    assert_eq!(decide(&bound, &[], &unclear).action, Action::Ask);
}

#[test]
fn rules_are_read_exactly_or_not_at_all() {
    let table = json!({"bash": {"*": "ask", "git status": "allow"}, "mcp_*": "deny"});
    let expected = vec![
        Rule::new("bash", "*", Action::Ask),
        Rule::new("bash", "git status", Action::Allow),
        Rule::new("mcp_*", "*", Action::Deny),
    ];
    assert_eq!(rules_from_json(&table), Ok(expected.clone()));
    assert_eq!(rules_from_json(&rules_to_json(&expected)), Ok(expected));
    for wrong in [
        json!("ask"),
        json!({"bash": "Deny"}),
        json!({"bash": ["deny"]}),
        json!([{"permission": "bash", "action": "deny"}]),
        json!([{"permission": "bash", "pattern": "*", "action": "deny", "unless": "*"}]),
    ] {
        assert!(rules_from_json(&wrong).is_err(), "{wrong}");
    }
    let unknown = rules_from_json(&json!({"bash": "maybe"}));
    assert_eq!(unknown, Err(RuleError::NotAnAction { permission: "bash".into(), found: "\"maybe\"".into() }));
}

#[test]
fn hostile_patterns_and_long_lines_of_parents_cost_little() {
    let pattern = "*a".repeat(500);
    let subject = "a".repeat(20_000) + "b";
    assert!(!covers(&pattern, &subject) && !touches(&pattern, &subject));
    let mut permissions = Permissions::new();
    for _ in 0..100_000 {
        permissions = Permissions::new().child_of(&permissions);
    }
    assert_eq!(action(&permissions, &[], "ls"), Action::Ask);
}
