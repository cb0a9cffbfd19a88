//! Budget: room for an answer, eviction, and where a compaction cuts.

use proptest::prelude::*;
use ramus_model::budget::{Eviction, Keep, Plan, Weighed, Weight, What, desired_completion, evict, max_tokens, plan};
use ramus_model::{Role, Seq};

/// Reads messages as letters with tokens: `U10A10T30`.
fn messages(text: &str) -> Vec<Weight> {
    let mut messages: Vec<Weight> = Vec::new();
    for letter in text.chars() {
        let role = match letter {
            'S' => Role::System,
            'U' => Role::User,
            'A' => Role::Assistant,
            'T' | 'F' => Role::ToolResult,
            digit => {
                let last = messages.last_mut().unwrap();
                last.tokens = last.tokens * 10 + u64::from(digit.to_digit(10).unwrap());
                continue;
            }
        };
        messages.push(Weight { role, tokens: 0 });
    }
    messages
}

fn left(text: &str, need: u64) -> (String, u64) {
    let messages = messages(text);
    let Eviction { removed, freed } = evict(&messages, need);
    let kept = messages.iter().enumerate().filter(|(at, _)| !removed.contains(at));
    let letter = |weight: &Weight| match weight.role {
        Role::System => 'S',
        Role::User => 'U',
        Role::Assistant => 'A',
        _ => 'T',
    };
    (kept.map(|(_, weight)| letter(weight)).collect(), freed)
}

#[test]
fn whole_turns_go_first_then_steps_then_single_messages() {
    let cases = [
        ("U10A10U10A10", 10, "UA", 20),
        ("U10A10U10A10", 20, "UA", 20),
        // Less than was needed: whoever asked decides what to do about it.
        ("U10A10U10A10", 25, "UA", 20),
        ("S5U10A10U10A10U10", 15, "SUAU", 20),
        ("U10A10T30A10U10", 5, "U", 60),
        ("U10A10T30A10U10A10T30A10T30", 5, "UATAT", 60),
        // A turn that ends with a result goes as a whole.
        ("U10A10T30U10", 5, "U", 50),
        ("U10A10T30T30A10U10", 5, "U", 90),
        ("U10A10T30", 5, "UAT", 0),
        ("U10A10T30A10T30A10T30", 5, "UATAT", 40),
        ("U10A10T30A10T30A10T30", 100, "UAT", 80),
        // All results go with their call.
        ("U10A10T30T30A10T30", 30, "UAT", 70),
        // What a person said twice in a row is one turn.
        ("U10U10A10U10", 5, "U", 30),
        // A system message stays; the turn around it goes.
        ("U10A10S5A10U10", 5, "SU", 30),
        ("U10A10F20A10U10", 5, "U", 50),
        ("U10A10F20A10F20", 5, "UAT", 30),
        ("A10T10A10", 5, "A", 20),
        ("U10", 5, "U", 0),
        ("U10A10U10A10U10A10U10", 35, "UAU", 40),
        ("U10A10U10A10U10A10U10", 45, "U", 60),
        ("U10A10U10A10U10A10U10", 1000, "U", 60),
        // Single messages: what was said before the question, without an answer.
        ("A10U10A10A10", 5, "UAA", 10),
        ("U10A10A10T10A10", 1000, "UA", 30),
    ];
    for (text, need, expected, freed) in cases {
        assert_eq!(left(text, need), (expected.to_owned(), freed), "{text} {need}");
    }
}

#[test]
fn an_answer_gets_a_share_of_the_window() {
    let cases =
        [(4096, 689), (8192, 1408), (16384, 2929), (32768, 6312), (65536, 14437), (131_072, 36122), (200_000, 60000)];
    for (window, desired) in cases {
        assert_eq!(desired_completion(window, None), desired, "{window}");
    }
    assert_eq!(desired_completion(0, None), 0);
    assert_eq!(desired_completion(65536, Some(4096)), 4096);
    assert_eq!(max_tokens(8192, 8000, None, None), 192);
    assert_eq!(max_tokens(8192, 9000, Some(10), None), 0);
    assert_eq!(max_tokens(8192, 100, Some(500), Some(400)), 400);
}

fn path(text: &str) -> Vec<Weighed> {
    let what = |letter| match letter {
        'U' => What::Start,
        'A' => What::Answer,
        'T' => What::Result,
        'C' => What::Compaction,
        _ => What::Other,
    };
    let weighed =
        |(at, letter)| Weighed { seq: Seq::new(at as u32 + 1).unwrap(), what: what(letter), tokens: 10, call: None };
    text.chars().enumerate().map(weighed).collect()
}

#[test]
fn a_cut_keeps_pairs_and_says_when_it_falls_into_a_turn() {
    let cut = |text: &str, keep| plan(&path(text), 0, keep).map(|Plan { first_kept, turn, .. }| (first_kept, turn));
    assert_eq!(cut("UAUAUA", Keep::Tokens(20)), Some((4, None)));
    assert_eq!(cut("UAUAUA", Keep::Tokens(21)), Some((3, Some(2..3))));
    assert_eq!(cut("UAUAUA", Keep::Messages(2)), Some((4, None)));
    // Never before a result.
    assert_eq!(cut("UAUATTTA", Keep::Tokens(20)), Some((7, Some(2..7))));
    assert_eq!(cut("UAUATTT", Keep::Tokens(20)), Some((3, Some(2..3))));
    // Nor between a call and a result that comes late.
    let mut late = path("UAUUATUA");
    late[5].call = Some(1);
    assert_eq!(plan(&late, 0, Keep::Messages(4)).unwrap().first_kept, 6);
    assert_eq!(plan(&late, 0, Keep::Messages(2)).unwrap().first_kept, 6);
    // Changes belong to what follows them.
    assert_eq!(cut("UAxxUA", Keep::Messages(2)), Some((2, None)));
    // Nothing to do.
    assert_eq!(cut("UAUA", Keep::Tokens(1000)), None);
    assert_eq!(cut("UAUAC", Keep::Tokens(10)), None);
    assert_eq!(cut("", Keep::Tokens(10)), None);
}

proptest! {
    #[test]
    fn eviction_never_parts_pairs(roles in prop::collection::vec(0..4_usize, 0..40), need in 0..500_u64) {
        let letters = ["S10", "U10", "A10", "T10"];
        let messages = messages(&roles.iter().map(|role| letters[*role]).collect::<String>());
        let Eviction { removed, freed } = evict(&messages, need);
        prop_assert!(removed.is_sorted_by(|a, b| a < b));
        prop_assert_eq!(freed, removed.len() as u64 * 10);
        let is_gone = |at: usize| removed.contains(&at);
        for (at, message) in messages.iter().enumerate() {
            let gone = is_gone(at);
            match message.role {
                Role::System => prop_assert!(!gone),
                // A result shares the fate of its call.
                Role::ToolResult => {
                    let before = messages[..at].iter().rposition(|message| message.role != Role::ToolResult);
                    if let Some(call) = before.filter(|call| messages[*call].role == Role::Assistant) {
                        prop_assert_eq!(gone, is_gone(call));
                    }
                }
                _ => {}
            }
        }
        let last_user = messages.iter().rposition(|message| message.role == Role::User);
        prop_assert!(last_user.is_none_or(|at| !is_gone(at)));
        // More need never keeps more.
        let more = evict(&messages, need + 50);
        prop_assert!(removed.iter().all(|at| more.removed.contains(at)));
    }

    #[test]
    fn a_plan_covers_what_it_does_not_keep(letters in prop::collection::vec(prop::sample::select(vec!['U', 'A', 'T', 'x', 'C']), 0..60), keep in 0..40_usize, tokens in any::<bool>()) {
        let path = path(&letters.iter().collect::<String>());
        let keep = if tokens { Keep::Tokens(keep as u64 * 10) } else { Keep::Messages(keep) };
        if let Some(plan) = plan(&path, 0, keep) {
            prop_assert!(plan.first_kept < path.len());
            prop_assert!(path[plan.first_kept].what != What::Result);
            let turn = plan.turn.clone().unwrap_or(plan.first_kept..plan.first_kept);
            prop_assert_eq!((plan.history.start, plan.history.end, turn.end), (0, turn.start, plan.first_kept));
        }
    }
}
