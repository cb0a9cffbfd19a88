//! Asking the person at the terminal whether a call may run. Where there is nobody, the answer is no.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use ramus_engine::run::{Answer, Asker};
use ramus_model::delta::Called;
use ramus_model::permission::{Because, Question};

use crate::render::clean;

/// Nobody can be asked.
struct Nobody;

impl Asker for Nobody {
    fn ask(&self, _: &Called, question: &Question, because: &Because) -> BoxFuture<'static, Answer> {
        let reason = format!(
            "it must be asked for ({because}), and nobody can be asked; `--permission {}=allow` allows it",
            question.permission
        );
        futures_util::future::ready(Answer::No(Some(reason))).boxed()
    }
}

/// Someone sits at the terminal.
struct Person;

impl Asker for Person {
    fn ask(&self, call: &Called, question: &Question, because: &Because) -> BoxFuture<'static, Answer> {
        // What is approved is what is shown, with nothing hidden in it.
        let text = format!(
            "\n{} wants to use {}: {}\n  {}\n  ({})\nallow it? [y/N] ",
            "the model",
            clean::one_line(&call.name),
            question.permission,
            clean::escape(&serde_json::Value::from(question.exact.as_str()).to_string()),
            clean::one_line(&because.to_string()),
        );
        let answered = tokio::task::spawn_blocking(move || {
            let mut stderr = io::stderr().lock();
            let asked = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
            drop(stderr);
            let mut line = String::new();
            let read = asked.and_then(|()| io::stdin().lock().read_line(&mut line));
            match (read, line.trim()) {
                (Ok(_), "y" | "Y" | "yes") => Answer::Yes,
                _ => Answer::No(None),
            }
        });
        async move { answered.await.unwrap_or(Answer::No(None)) }.boxed()
    }
}

pub(super) fn asker(for_programs: bool) -> Arc<dyn Asker> {
    if !for_programs && io::stdin().is_terminal() && io::stderr().is_terminal() {
        Arc::new(Person)
    } else {
        Arc::new(Nobody)
    }
}
