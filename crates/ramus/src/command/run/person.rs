//! Asking the person at the terminal whether a call may run. Where there is nobody, the answer is no.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use ramus_engine::run::{Answer, Asker};
use ramus_model::delta::Called;
use ramus_model::permission::{Action, Approval, Because, Covered, Permissions, Question, Scope, decide};
use serde_json::{Map, Value, json};

use crate::render::{Answer as _, clean};

const CHOICES: &str =
    "  y once · a in this session · p in this project · a PATTERN, p PATTERN for all that match · n, n REASON";

/// How often someone is asked again who cannot be understood.
pub(super) const PATIENCE: usize = 5;

/// Nobody can be asked.
struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _: &str, _: &Called, question: &Question, because: &Because) -> BoxFuture<'static, Answer> {
        let reason = format!(
            "it must be asked for ({because}), and nobody can be asked; `--permission {}=allow` allows it",
            question.permission
        );
        futures_util::future::ready(Answer::Unasked(reason)).boxed()
    }
}

/// Someone sits at the terminal, and can be asked one thing at a time.
#[derive(Default)]
struct Person {
    attention: Arc<Mutex<()>>,
}

impl Asker for Person {
    fn ask(&self, _: &str, call: &Called, question: &Question, because: &Because) -> BoxFuture<'static, Answer> {
        let text = shown(&call.name, question, &because.to_string());
        let (question, attention) = (question.clone(), Arc::clone(&self.attention));
        let answered = tokio::task::spawn_blocking(move || {
            let Ok(_held) = attention.lock() else { return Answer::No(None) };
            put(&text, &question).unwrap_or(Answer::No(None))
        });
        async move { answered.await.unwrap_or(Answer::No(None)) }.boxed()
    }
}

/// Puts a question of a turn elsewhere, and returns the answer as a server is told. What it covers is for the server to say.
pub(super) fn reply(asked: &Map<String, Value>) -> Value {
    let question = Question {
        permission: asked.word("permission").to_owned(),
        exact: asked.word("exact").to_owned(),
        subjects: vec![asked.word("exact").to_owned()],
        ..Question::default()
    };
    let text = shown(asked.word("name"), &question, asked.word("because"));
    match put(&text, &question).unwrap_or(Answer::No(None)) {
        Answer::Yes => json!({"answer": "once"}),
        Answer::No(reason) => json!({"answer": "deny", "reason": reason}),
        Answer::Unasked(reason) => json!({"answer": "deny", "reason": reason}),
        Answer::Always(approval) => {
            let pattern = if let Covered::Pattern(pattern) = &approval.covered { Some(pattern) } else { None };
            let scope = if approval.scope == Scope::Project { "project" } else { "session" };
            json!({"answer": scope, "pattern": pattern})
        }
    }
}

/// Says what is wrong with an answer.
pub(super) fn complain(trouble: &str) {
    // Whoever does not see it is asked again all the same.
    let _ = say(&format!("{}\n", clean::one_line(trouble)));
}

/// Says whether someone sits at the terminal who can be asked.
pub(crate) fn is_there(for_programs: bool) -> bool {
    !for_programs && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What is approved is what is shown, with nothing hidden in it.
fn shown(name: &str, question: &Question, because: &str) -> String {
    format!(
        "\nthe model wants to use {}: {}\n  {}\n  ({})\n{CHOICES}\n",
        clean::one_line(name),
        clean::one_line(&question.permission),
        clean::escape(&Value::from(question.exact.as_str()).to_string()),
        clean::one_line(because),
    )
}

/// Shows a question and reads until there is an answer. Whoever hangs up says no.
fn put(text: &str, question: &Question) -> io::Result<Answer> {
    say(text)?;
    for _ in 0..PATIENCE {
        say("allow it? [y/a/p/N] ")?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(Answer::No(None));
        }
        match understand(line.trim(), question) {
            Ok(answer) => return Ok(answer),
            Err(trouble) => say(&format!("{trouble}\n"))?,
        }
    }
    Ok(Answer::No(None))
}

fn say(text: &str) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes())?;
    stderr.flush()
}

/// Reads an answer; what cannot be understood is said, and is no yes.
fn understand(line: &str, question: &Question) -> Result<Answer, String> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let scope = match word.to_lowercase().as_str() {
        "y" | "yes" if rest.is_empty() => return Ok(Answer::Yes),
        "" | "n" | "no" => return Ok(Answer::No((!rest.is_empty()).then(|| rest.to_owned()))),
        "a" | "always" => Scope::Session,
        "p" | "project" => Scope::Project,
        _ => return Err(format!("that is no answer;\n{CHOICES}")),
    };
    let covered = match rest {
        "" => Covered::Exact(question.exact.clone()),
        pattern => Covered::Pattern(pattern.to_owned()),
    };
    let approval = Approval { scope, permission: question.permission.clone(), covered };
    // Without any rule it is only the approval that can allow.
    let allows = decide(&Permissions::new(), std::slice::from_ref(&approval), question).action == Action::Allow;
    if !allows {
        return Err("the pattern does not match all of what is asked, so it would not allow it".to_owned());
    }
    Ok(Answer::Always(approval))
}

/// Asks nobody.
pub(crate) fn nobody() -> Arc<dyn Asker> {
    Arc::new(Nobody)
}

pub(super) fn asker(for_programs: bool) -> Arc<dyn Asker> {
    if is_there(for_programs) { Arc::new(Person::default()) } else { Arc::new(Nobody) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Question {
        Question {
            permission: "bash".into(),
            exact: "git push origin".into(),
            subjects: vec!["git push origin".into()],
            ..Question::default()
        }
    }

    fn always(scope: Scope, covered: Covered) -> Result<Answer, String> {
        Ok(Answer::Always(Approval { scope, permission: "bash".into(), covered }))
    }

    #[test]
    fn answers_are_understood_and_everything_else_is_asked_again() {
        let exact = || Covered::Exact("git push origin".into());
        let pattern = || Covered::Pattern("git push *".into());
        for (line, expected) in [
            ("y", Ok(Answer::Yes)),
            ("", Ok(Answer::No(None))),
            ("n", Ok(Answer::No(None))),
            ("n use the other remote", Ok(Answer::No(Some("use the other remote".into())))),
            ("a", always(Scope::Session, exact())),
            ("p", always(Scope::Project, exact())),
            ("a git push *", always(Scope::Session, pattern())),
            ("P git push *", always(Scope::Project, pattern())),
        ] {
            assert_eq!(understand(line, &asked()), expected, "{line:?}");
        }
        for line in ["yep", "y git push *", "a cargo *", "ok", "allow"] {
            assert!(understand(line, &asked()).is_err(), "{line:?}");
        }
        // What nobody understood is approved by its bytes alone.
        let doubtful = Question { doubt: Some("a variable".into()), ..asked() };
        assert!(understand("a git push *", &doubtful).is_err());
        assert_eq!(understand("a", &doubtful), always(Scope::Session, exact()));
    }
}
