//! A turn that runs at a server, shown here: what happens comes as events, and what is asked is answered over HTTP.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ramus_agent::Event;
use ramus_client::{Error, Handle, Order, WhenBusy};
use ramus_engine::Attachment;
use ramus_model::SessionId;
use serde_json::{Map, Value, json};

use super::heard;
use super::person;
use super::watcher::Watcher;
use crate::failure::Refusal;
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, style};
use crate::signal;

/// Whoever holds this may read the keyboard.
pub(crate) type Keyboard = Arc<tokio::sync::Mutex<()>>;

/// The longest request that a server takes, in bytes.
const LONGEST: usize = 32 << 20;

/// Makes files ready to be sent along.
pub(crate) fn upload(files: &[Attachment]) -> anyhow::Result<Vec<Value>> {
    let sent = files.iter().map(|file| json!({"name": file.name, "data": STANDARD.encode(&file.bytes)}));
    let sent: Vec<Value> = sent.collect();
    if sent.iter().map(|file| file.word("data").len()).sum::<usize>() >= LONGEST {
        let most = (LONGEST / 4 * 3) >> 20;
        let refusal =
            Refusal::invalid(format!("what is attached comes to more than the {most} MiB that a server takes"));
        return Err(refusal.hint("attach less, or let the model read the files where it runs").into());
    }
    Ok(sent)
}

/// Runs a turn to its end and shows it; `also` is told what happens too, and `begun` that something can be said to it.
/// Returns how it ended.
pub(crate) fn turn(
    invocation: &mut Invocation<'_>,
    remote: &Remote,
    (session, order): (&str, &Order),
    keyboard: &Keyboard,
    begun: &mut dyn FnMut(Handle),
    also: &mut dyn FnMut(&Event),
) -> anyhow::Result<Map<String, Value>> {
    let mut turn = remote.wait(remote.client().session(session).run(order))?;
    let handle = turn.handle();
    begun(handle.clone());
    let runtime = remote.runtime().handle().clone();
    let (stopped, on) = (handle.clone(), runtime.clone());
    let guard = signal::on_interrupt(move || {
        let stopped = stopped.clone();
        // A turn that cannot be told to stop is over, or out of reach; the next interrupt ends the program.
        on.spawn(async move { stopped.cancel().await.ok() });
    })?;
    let mut watcher = Watcher::new(&SessionId::from(session), invocation.screen);
    let watched = loop {
        match remote.wait(turn.next()) {
            Ok(None) => break Ok(()),
            Ok(Some(event)) => {
                let told = heard::event(&event.name, &event.data);
                if let (Some(Event::PermissionAsked { .. }), Some(true)) = (&told, order.ask) {
                    runtime.spawn(ask(handle.clone(), event.data.clone(), Arc::clone(keyboard)));
                }
                watcher.hear(&event.data, told.as_ref());
                told.iter().for_each(&mut *also);
            }
            Err(error) => break Err(error),
        }
    };
    drop(guard);
    let told = watcher.finish();
    watched?;
    told?;
    if turn.is_restarted() {
        let mut text = Text::new();
        text.styled(style::HINT, "the server was started anew while the turn ran").end();
        invocation.screen.note(&text)?;
    }
    let end = turn.end().map(|end| end.data.clone()).unwrap_or_default();
    if let Some(error) = end.get("error").filter(|_| end.word("status") == "failed") {
        return Err(Error::Refused(ramus_client::Refusal {
            status: 0,
            kind: error.word("kind").to_owned(),
            message: error.word("message").to_owned(),
            hint: error.maybe("hint").map(str::to_owned),
        })
        .into());
    }
    match end.get("end") {
        Some(Value::Object(end)) => Ok(end.clone()),
        _ => Err(Refusal::unavailable("the server did not say how the turn ended").into()),
    }
}

/// Puts a question to the person at the terminal, and sends the answer. When somebody else was faster, theirs counts.
async fn ask(handle: Handle, asked: Map<String, Value>, keyboard: Keyboard) {
    let _held = keyboard.lock_owned().await;
    for _ in 0..person::PATIENCE {
        let question = asked.clone();
        let answered = tokio::task::spawn_blocking(move || person::reply(&question)).await;
        let mut reply = answered.unwrap_or_else(|_| json!({"answer": "deny"}));
        // What was seen is what is answered. Older servers give their questions no names.
        if let (Some(reply), Some(question)) = (reply.as_object_mut(), asked.get("question")) {
            reply.insert("question".into(), question.clone());
        }
        match handle.answer(asked.word("call"), &reply).await {
            Err(error) if error.status() == Some(422) => person::complain(&error.to_string()),
            // Somebody else was faster.
            Err(error) if error.status() == Some(409) => return,
            Err(error) => return person::complain(&error.to_string()),
            Ok(_) => return,
        }
    }
}

/// Says something to a turn.
pub(crate) async fn say(handle: Handle, text: String, when: WhenBusy) {
    // A turn that is over does not hear it; what was typed is kept and said in the next one.
    let _ = handle.say(&text, when).await;
}
