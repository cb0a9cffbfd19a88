//! Scripts: what they play, and what they refuse to.

use std::time::{Duration, Instant};

use futures_util::stream::StreamExt as _;
use ramus_model::delta::{Delta, Finish};
use ramus_model::message::Usage;
use ramus_provider::{Provider as _, ProviderError, Scripted};

use crate::requests::{name, request};

const SCRIPT: &str = r#"
[[answers]]
steps = [
    { thinking = ["Let me ", "look."], seal = "s1" },
    { text = ["I will ", "read it."] },
    { call = { name = "read", arguments = { path = "a.txt", depth = [1, 2] } } },
    { call = { name = "bash", id = "mine", arguments = ['{"command":', '"ls"'], seal = "s2" } },
    { usage = { input = 100, output = 20, cache_read = 3 } },
]

[[answers]]
steps = [{ delay_ms = 30 }, { text = "Cut" }, { finish = "length" }, { usage = { output = 1 } }]

[[answers]]
steps = [{ error = "busy", retry_after_ms = 1500, message = "wait" }]

[[answers]]
steps = [{ text = "Half" }, { error = "overflow", needed = 9, available = 8 }]
"#;

async fn ask(script: &Scripted) -> Vec<Result<Delta, ProviderError>> {
    let mut told: Vec<_> = script.stream(request(name("scripted", "m"), Vec::new())).collect().await;
    for one in &mut told {
        // The play in the middle is another one each time.
        if let Ok(Delta::Started { response: Some(response), .. }) = one {
            let number = response.rsplit('-').next().unwrap_or_default().to_owned();
            *response = format!("scripted-{number}");
        }
    }
    told
}

#[tokio::test]
async fn no_two_plays_give_their_responses_the_same_names() {
    let mut names = Vec::new();
    for _ in 0..2 {
        let script = Scripted::new(SCRIPT, "s").unwrap();
        let told: Vec<_> = script.stream(request(name("scripted", "m"), Vec::new())).collect().await;
        names.extend(told.into_iter().find_map(|one| match one {
            Ok(Delta::Started { response, .. }) => response,
            _ => None,
        }));
    }
    assert_eq!(names.len(), 2);
    assert_ne!(names[0], names[1]);
}

#[tokio::test]
async fn answers_one_after_the_other() {
    let script = Scripted::new(SCRIPT, "s").unwrap();
    let started = |number: usize| Ok(Delta::Started { response: Some(format!("scripted-{number}")), model: None });
    let text = |text: &str| Ok(Delta::Text(text.into()));
    let arguments = |index, text: &str| Ok(Delta::Arguments { index, text: text.into() });
    assert_eq!(
        ask(&script).await,
        [
            started(0),
            Ok(Delta::Thinking("Let me ".into())),
            Ok(Delta::Thinking("look.".into())),
            Ok(Delta::ThinkingSeal("s1".into())),
            text("I will "),
            text("read it."),
            Ok(Delta::Call { index: 0, id: "call_0_0".into(), name: "read".into() }),
            arguments(0, r#"{"depth":[1,2],"path":"a.txt"}"#),
            Ok(Delta::Call { index: 1, id: "mine".into(), name: "bash".into() }),
            arguments(1, r#"{"command":"#),
            arguments(1, r#""ls""#),
            Ok(Delta::CallSeal { index: 1, seal: "s2".into() }),
            Ok(Delta::Usage(Usage { input: 100, output: 20, cache_read: 3, ..Usage::default() })),
            Ok(Delta::Finished(Finish::Calls)),
        ]
    );
    let start = Instant::now();
    let second = ask(&script).await;
    assert!(start.elapsed() >= Duration::from_millis(30));
    let used = Ok(Delta::Usage(Usage { output: 1, ..Usage::default() }));
    assert_eq!(second, [started(1), text("Cut"), Ok(Delta::Finished(Finish::Length)), used]);
    let busy = ProviderError::Busy { retry_after: Some(Duration::from_millis(1_500)), message: "wait".into() };
    assert_eq!(ask(&script).await, [started(2), Err(busy)]);
    let overflow = ask(&script).await.pop().unwrap().unwrap_err();
    assert!(matches!(overflow, ProviderError::Overflow { needed: Some(9), available: Some(8), .. }));
    let exhausted = ask(&script).await;
    let message = "it has 4 answers, and this is request 5".to_owned();
    assert_eq!(exhausted, [Err(ProviderError::Script { message })]);
    assert_eq!(script.asked(), 5);
}

#[tokio::test]
async fn the_same_as_json() {
    let script = Scripted::new(r#" {"answers":[{"steps":[{"text":"Hi"}]}]}"#, "s").unwrap();
    assert_eq!(ask(&script).await.len(), 3);
}

#[tokio::test]
async fn one_that_hangs_can_be_dropped() {
    let script = Scripted::new("answers = [{ steps = [{ text = 'a' }, { hang = true }] }]", "s").unwrap();
    let mut deltas = script.stream(request(name("scripted", "m"), Vec::new()));
    deltas.next().await.unwrap().unwrap();
    deltas.next().await.unwrap().unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(50), deltas.next()).await.is_err());
}

#[test]
fn what_is_not_understood_is_refused() {
    for (steps, said) in [
        ("[{ txt = 'a' }]", "unknown field `txt`"),
        ("[{}]", "answer 1, step 1: it says nothing"),
        (
            "[{ text = 'a' }, { text = 'a', delay_ms = 1 }]",
            "answer 1, step 2: it says several things at once: text, delay_ms",
        ),
        ("[{ text = 'a', seal = 's' }]", "`seal` does not belong"),
        ("[{ error = 'denied', retry_after_ms = 1 }]", "`retry_after_ms` does not belong"),
        ("[{ finish = 'stop', message = 'm' }]", "`message` does not belong"),
        ("[{ finish = 'sometime' }]", "unknown variant"),
        ("[{ call = { name = '' } }]", "a call without a name"),
        ("[{ call = { name = 'r', arguments = 1 } }]", "`arguments` is a table"),
        ("[{ call = { name = 'r', argument = {} } }]", "unknown field `argument`"),
        ("[{ error = 'broken' }, { text = 'a' }]", "behind the end"),
        ("[{ finish = 'stop' }, { text = 'a' }]", "behind the end"),
        ("[{ hang = false }]", "it says nothing"),
        ("[{ delay_ms = 99999999999 }]", "more than a day"),
    ] {
        let error = Scripted::new(&format!("answers = [{{ steps = {steps} }}]"), "my.toml").unwrap_err().to_string();
        assert!(error.starts_with("my.toml: ") && error.contains(said), "{steps}: {error}");
    }
    assert!(Scripted::new("{\"answers\":[{}]}", "s").unwrap_err().to_string().contains("steps"));
}
