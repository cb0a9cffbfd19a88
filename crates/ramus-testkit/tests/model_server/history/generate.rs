//! Histories in no format's words: a user who asks, and a model that thinks, speaks and calls until it is done.

use ramus_testkit::random::Random;

/// One step of a history. User and model take turns; results answer all calls of the step before.
pub(crate) enum Step {
    /// The user speaks, perhaps with pictures.
    User { texts: Vec<String>, images: usize },
    /// The model answers.
    Model { thought: Option<String>, text: Option<String>, calls: Vec<Call> },
    /// The results of the calls, and what the user said meanwhile.
    Results { calls: Vec<Call>, meanwhile: Option<String> },
}

/// A call and its result.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: &'static str,
    pub(crate) result: String,
}

/// Makes a legal history, which ends with something for the model to answer.
pub(crate) fn history(random: &mut Random) -> Vec<Step> {
    let mut steps = vec![user(random)];
    let mut number = 0;
    for turn in 0..=random.below(4) {
        if turn > 0 {
            let thought = random.chance(40).then(|| text(random));
            steps.push(Step::Model { thought, text: Some(text(random)), calls: Vec::new() });
            steps.push(user(random));
        }
        for _ in 0..random.below(4) {
            let calls: Vec<Call> = (0..=random.below(3)).map(|_| call(random, &mut number)).collect();
            let said = random.chance(50).then(|| text(random));
            steps.push(Step::Model { thought: Some(text(random)), text: said, calls: calls.clone() });
            steps.push(Step::Results { calls, meanwhile: random.chance(20).then(|| text(random)) });
        }
    }
    steps
}

fn user(random: &mut Random) -> Step {
    Step::User { texts: (0..=random.below(2)).map(|_| text(random)).collect(), images: random.below(3) / 2 }
}

fn call(random: &mut Random, number: &mut usize) -> Call {
    *number += 1;
    let result = if random.chance(20) { String::new() } else { text(random) };
    Call { id: format!("call_{number}"), name: if random.chance(50) { "bash" } else { "read" }, result }
}

fn text(random: &mut Random) -> String {
    let words = ["a", "Grüße", "🦀", "\"quoted\"", "line\nbreak", "\u{0}", "\u{fffd}", "longer than the others"];
    (0..=random.below(3)).map(|_| format!("{} ", words[random.below(words.len())])).collect::<String>() + "x"
}
