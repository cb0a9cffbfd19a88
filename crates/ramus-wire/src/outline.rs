//! A session for viewers that show a part of it at a time: the shape of the whole tree without any text, one line about each of
//! some entries or turns, and some entries whole.

use ramus_engine::run::keeps_book;
use ramus_engine::{EngineError, Session};
use ramus_model::json::Raw;
use ramus_model::message::Message;
use ramus_model::usage::{ModelName, Prices, UsageTotals};
use ramus_model::{Kind, Lines as _, Record, Role, Scope, Seq};
use serde_json::{Map, Value, json};

use crate::preview::{Preview, Signs};
use crate::{members, session as shape};

/// How much of an entry is told in a row.
const PREVIEW: usize = 200;

/// The shape of the tree behind a position: columns of numbers, and a letter for the kind of each entry.
///
/// `u`ser, `a`ssistant, `t`ool result, `b`ash, `s`ystem and `o`ther messages, `c`ustom messages, `C`ompactions, `S`ummaries of
/// branches, `R`esets, changes of `m`odel and mode, changed `f`iles, snapshots that somebody asked for (`p`)
/// and those around a restore (`q`), book`k`eeping, and `x` for the rest.
pub fn outline(session: &Session, after: u64) -> Result<Map<String, Value>, EngineError> {
    let log = session.log();
    let tree = session.tree(Scope::Visible);
    let number = |seq: Option<Seq>| seq.map_or(0, Seq::number);
    let (mut seqs, mut parents, mut kinds) = (Vec::new(), Vec::new(), String::new());
    let mut labels = Map::new();
    for node in &tree.entries {
        if let Some(label) = log.facts().label(log.id(node.seq)) {
            labels.insert(node.seq.number().to_string(), label.into());
        }
        if u64::from(node.seq.number()) <= after {
            continue;
        }
        let Some(record) = log.record(node.seq) else { continue };
        seqs.push(node.seq.number());
        parents.push(number(node.parent));
        kinds.push(letter(session, node.seq, record)?);
    }
    let context = session.context(log.leaf())?;
    let kept = context.items.iter().map(|item| item.seq()).find(|seq| Some(*seq) != context.compacted_by);
    Ok(members(json!({
        "session": session.id().as_str(),
        "position": log.len(),
        "count": tree.entries.len(),
        "leaf": number(tree.leaf),
        "compaction": number(context.compacted_by),
        "kept_from": number(kept.filter(|_| context.compacted_by.is_some())),
        "seqs": seqs,
        "parents": parents,
        "kinds": kinds,
        "labels": labels,
    })))
}

fn letter(session: &Session, seq: Seq, record: &Record) -> Result<char, EngineError> {
    Ok(match record.kind {
        Kind::Message => match record.role {
            Role::User => 'u',
            Role::Assistant => 'a',
            Role::ToolResult => 't',
            Role::BashExecution => 'b',
            Role::System => 's',
            Role::Custom | Role::Other => 'o',
        },
        Kind::CustomMessage => 'c',
        Kind::Compaction => 'C',
        Kind::BranchSummary => 'S',
        Kind::ResetBoundary => 'R',
        Kind::Custom if keeps_book(session, seq) => 'k',
        Kind::Custom => {
            let line = session.line(seq)?;
            let entry = Raw::parse(&line);
            let cause = || entry.and_then(|entry| entry.field("data")?.field("cause")?.text());
            match entry.and_then(|entry| entry.field("customType")?.text()).as_deref() {
                Some("ramus.files") => 'f',
                Some("ramus.snapshot") if cause().is_some_and(|cause| cause != "asked") => 'q',
                Some("ramus.snapshot") => 'p',
                _ => 'x',
            }
        }
        Kind::Unknown => 'x',
        _ => 'm',
    })
}

/// One line about an entry, and about the turn that starts with it when that ends elsewhere. `budget` is how many entries may
/// still be read for turns.
pub fn row(
    session: &Session,
    (start, end): (Seq, Option<Seq>),
    prices: &Prices,
    budget: &mut usize,
) -> Result<Option<Value>, EngineError> {
    let log = session.log();
    let (Some(record), Some(place)) = (log.record(start), log.place(start)) else { return Ok(None) };
    let lines = session.lines();
    let line = lines.line(place)?;
    let preview = Preview::of_entry(&line, record, PREVIEW, &Signs::default());
    let raw = Raw::parse(&line);
    let timestamp = raw.and_then(|raw| raw.field("timestamp")?.text()).unwrap_or_default().into_owned();
    let failed = raw.and_then(Message::of_entry).is_some_and(|message| message.result.is_some_and(|r| r.is_error));
    let turn = end.filter(|end| *end != start).map(|end| turn(session, start, end, prices, budget)).transpose()?;
    Ok(Some(json!({
        "seq": start.number(),
        "id": log.id(start),
        "type": preview.type_name,
        "role": preview.role,
        "speaker": preview.speaker,
        "preview": preview.text,
        "timestamp": timestamp,
        "error": failed,
        "turn": turn,
    })))
}

/// What a turn came to, from its prompt, or where it went on otherwise, to its last entry.
fn turn(session: &Session, start: Seq, end: Seq, prices: &Prices, budget: &mut usize) -> Result<Value, EngineError> {
    let log = session.log();
    let mut usage = UsageTotals::default();
    let (mut tools, mut is_whole, mut model) = (0_u64, true, None);
    let (mut changed, mut snapshot, mut outcome) = (Value::Null, Value::Null, Value::Null);
    for seq in log.ancestors(Some(end)).take_while(|seq| *seq != start).chain([start]) {
        if *budget == 0 {
            is_whole = false;
            break;
        }
        *budget -= 1;
        let Some(record) = log.record(seq) else { continue };
        match (record.kind, record.role) {
            (Kind::Message, Role::ToolResult) => tools += 1,
            (Kind::Message, Role::Assistant) => {
                let line = session.line(seq)?;
                let answer = Raw::parse(&line).and_then(Message::glance).and_then(|glance| glance.answer);
                if let Some(answer) = &answer {
                    let name = ModelName::of(answer);
                    usage.add(&name, &answer.usage.unwrap_or_default());
                    model = model.or_else(|| answer.model.clone());
                }
            }
            (Kind::Custom, _) if outcome.is_null() => {
                let line = session.line(seq)?;
                let entry: Value = serde_json::from_slice(&line).unwrap_or_default();
                if entry.get("customType").and_then(Value::as_str) == Some("ramus.turn") {
                    let data = |name: &str| entry.pointer(&format!("/data/{name}")).cloned().unwrap_or_default();
                    (changed, snapshot, outcome) = (data("summary"), data("snapshot/commit"), data("end"));
                }
            }
            _ => {}
        }
    }
    let cost = usage.cost(prices);
    let last = session.line(end)?;
    let ended = Raw::parse(&last).and_then(|entry| entry.field("timestamp")?.text()).map(|time| time.into_owned());
    Ok(json!({
        "end": end.number(),
        "ended": ended,
        "whole": is_whole,
        "answers": usage.answers,
        "tools": tools,
        "model": model,
        "tokens": usage.tokens.sum(),
        "cost_micros": cost.micros,
        "unpriced": cost.unpriced,
        "changed": changed,
        "snapshot": snapshot,
        "outcome": outcome,
    }))
}

/// An entry whole: as a message when it is one, in few words otherwise.
pub fn whole(session: &Session, seq: Seq, prices: &Prices) -> Result<Option<Value>, EngineError> {
    let log = session.log();
    let parent = log.record(seq).and_then(Record::parent);
    let Some(view) = session.view(seq, parent)? else {
        let told = row(session, (seq, None), prices, &mut 0)?;
        return Ok(told);
    };
    let mut object = shape::message_of(session, &view);
    if let Some(answer) = &view.message.answer {
        let mut usage = UsageTotals::default();
        usage.add(&ModelName::of(answer), &answer.usage.unwrap_or_default());
        object.insert("model".into(), json!(answer.model));
        object.insert("provider".into(), json!(answer.provider));
        object.insert("stop_reason".into(), json!(answer.stop_reason));
        object.insert("usage".into(), json!(usage.tokens));
        object.insert("cost_micros".into(), json!(usage.cost(prices).micros));
    }
    if let Some(result) = &view.message.result {
        object.insert("call_id".into(), result.call.as_str().into());
        object.insert("name".into(), result.name.as_str().into());
        object.insert("error".into(), result.is_error.into());
    }
    Ok(Some(object.into()))
}
