//! Playing one answer.

use std::time::Duration;

use futures_util::stream::{self, Stream, StreamExt as _};
use ramus_model::delta::{Delta, Finish};
use ramus_model::message::Usage;

use super::script::{self, Answer, Step};
use crate::error::ProviderError;

/// What happens at one moment of an answer.
enum Moment {
    Say(Delta),
    Fail(ProviderError),
    Wait(Duration),
    Hang,
}

/// Plays an answer. `number` makes ids of its calls that no other answer of the script has; with the name of the play before
/// it, it makes a name of the response that no other response has.
pub(super) fn play(
    answer: &Answer,
    (play, number): (&str, usize),
) -> impl Stream<Item = Result<Delta, ProviderError>> + use<> {
    let moments = stream::iter(moments(answer, (play, number)));
    moments.filter_map(|moment| async move {
        match moment {
            Moment::Say(delta) => Some(Ok(delta)),
            Moment::Fail(error) => Some(Err(error)),
            Moment::Wait(time) => {
                tokio::time::sleep(time).await;
                None
            }
            Moment::Hang => std::future::pending().await,
        }
    })
}

fn moments(answer: &Answer, (play, number): (&str, usize)) -> Vec<Moment> {
    let response = Some(format!("scripted-{play}-{number}"));
    let mut moments = vec![Moment::Say(Delta::Started { response, model: None })];
    let mut calls = 0;
    for step in &answer.steps {
        let is_end = step.finish.is_some() || step.error.is_some() || step.hang.is_some();
        moments.extend(step_moments(step, number, &mut calls));
        if is_end && step.finish.is_none() {
            return moments;
        }
    }
    if !answer.steps.iter().any(|step| step.finish.is_some()) {
        moments.push(Moment::Say(Delta::Finished(if calls > 0 { Finish::Calls } else { Finish::Stop })));
    }
    moments
}

fn step_moments(step: &Step, number: usize, calls: &mut usize) -> Vec<Moment> {
    let mut deltas = Vec::new();
    deltas.extend(step.text.iter().flat_map(|text| text.all()).map(Delta::Text));
    deltas.extend(step.thinking.iter().flat_map(|text| text.all()).map(Delta::Thinking));
    deltas.extend(step.seal.clone().map(Delta::ThinkingSeal));
    if let Some(call) = &step.call {
        let index = *calls;
        *calls += 1;
        let id = if call.id.is_empty() { format!("call_{number}_{index}") } else { call.id.clone() };
        deltas.push(Delta::Call { index, id, name: call.name.clone() });
        deltas.extend(call.pieces().into_iter().map(|text| Delta::Arguments { index, text }));
        deltas.extend(call.seal.clone().map(|seal| Delta::CallSeal { index, seal }));
    }
    deltas.extend(step.usage.map(|usage| {
        let script::Usage { input, output, cache_read, cache_write } = usage;
        Delta::Usage(Usage { input, output, cache_read, cache_write, ..Usage::default() })
    }));
    deltas.extend(step.finish.map(|finish| Delta::Finished(finish_of(finish, step))));
    let mut moments: Vec<Moment> = deltas.into_iter().map(Moment::Say).collect();
    moments.extend(step.delay_ms.map(|millis| Moment::Wait(Duration::from_millis(millis))));
    moments.extend(step.failure().map(Moment::Fail));
    moments.extend(step.hang.map(|_| Moment::Hang));
    moments
}

fn finish_of(finish: script::Finish, step: &Step) -> Finish {
    match finish {
        script::Finish::Stop => Finish::Stop,
        script::Finish::Calls => Finish::Calls,
        script::Finish::Length => Finish::Length,
        script::Finish::Refused => {
            Finish::Refused(step.message.clone().unwrap_or_else(|| "the script says so".to_owned()))
        }
    }
}
