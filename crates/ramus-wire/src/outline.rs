//! A session for viewers that show a part of it at a time: the shape of the whole tree without any text, one line about each of
//! some entries or turns, and some entries whole.

use ramus_engine::run::keeps_book;
use ramus_engine::{EngineError, Session};
use ramus_model::json::Raw;
use ramus_model::message::Message;
use ramus_model::usage::{ModelName, Prices, UsageTotals};
use ramus_model::{Kind, Lines as _, Record, Role, Scope, Seq};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;
use crate::preview::{Preview, Signs};
use crate::session::{ChangedLines, MessageJson};
use crate::usage::TokenCounts;

/// How much of an entry is told in a row.
const PREVIEW: usize = 200;

/// The shape of a tree: columns of numbers, and a letter for the kind of each entry.
#[derive(Serialize, ToSchema)]
pub struct Outline<'o> {
    session: &'o str,
    /// How long the log is.
    position: usize,
    /// How many entries the tree has.
    count: usize,
    /// The position of the leaf; 0 for none.
    leaf: u32,
    /// The position of the compaction that stands in front of the context; 0 for none.
    compaction: u32,
    /// The position of the first entry that it kept; 0 for none.
    kept_from: u32,
    seqs: Vec<u32>,
    /// The positions of what the entries hang from; 0 for roots.
    parents: Vec<u32>,
    /// A letter for each: `u`ser, `a`ssistant, `t`ool result, `b`ash, `s`ystem and `o`ther messages, `c`ustom messages,
    /// `C`ompactions, `S`ummaries of branches, `R`esets, changes of `m`odel and mode, changed `f`iles, snapshots that somebody
    /// asked for (`p`) and those around a restore (`q`), book`k`eeping, and `x` for the rest.
    kinds: String,
    /// The labels of entries, by their positions.
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    labels: Map<String, Value>,
}

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
    Ok(object_of(&Outline {
        session: session.id().as_str(),
        position: log.len(),
        count: tree.entries.len(),
        leaf: number(tree.leaf),
        compaction: number(context.compacted_by),
        kept_from: number(kept.filter(|_| context.compacted_by.is_some())),
        seqs,
        parents,
        kinds,
        labels,
    }))
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

/// Rows, one for each entry or turn that is there.
#[derive(Serialize, ToSchema)]
pub struct OutlineRows {
    /// The rows.
    #[schema(value_type = Vec<OutlineRow>)]
    pub rows: Vec<Value>,
}

/// One line about an entry, or about the turn that starts with it.
#[derive(Serialize, ToSchema)]
struct OutlineRow<'r> {
    /// Its position in the log.
    seq: u32,
    id: &'r str,
    #[serde(rename = "type")]
    type_name: String,
    /// Who speaks, as it is stored, in entries that show as messages.
    #[schema(required)]
    role: Option<String>,
    /// Who speaks, or what kind of entry it is, for people.
    speaker: String,
    /// What it says, on one line.
    preview: String,
    timestamp: String,
    /// Whether it is the result of something that failed.
    error: bool,
    /// The turn that starts with it; null when the entry alone is told.
    #[schema(required)]
    turn: Option<OutlineTurn>,
}

/// What a turn came to.
#[derive(Serialize, ToSchema)]
struct OutlineTurn {
    /// The position of its last entry.
    end: u32,
    /// The time of its last entry.
    #[schema(required)]
    ended: Option<String>,
    /// Whether all of it was read; otherwise the sums are of a part of it.
    whole: bool,
    answers: u64,
    /// How many calls of tools were answered.
    tools: u64,
    /// The last model that answered.
    #[schema(required)]
    model: Option<String>,
    tokens: u64,
    /// In millionths of a US dollar; null when nothing is known of it.
    #[schema(required)]
    cost_micros: Option<u64>,
    /// How many answers have no price.
    unpriced: u64,
    /// How much changed in files, as the turn noted it.
    #[schema(value_type = Option<ChangedLines>, required)]
    changed: Value,
    /// The snapshot at its end, as the turn noted it.
    #[schema(value_type = Option<String>, required)]
    snapshot: Value,
    /// How it ended, as the turn noted it.
    #[schema(value_type = Option<String>, required)]
    outcome: Value,
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
    let row = OutlineRow {
        seq: start.number(),
        id: log.id(start),
        type_name: preview.type_name,
        role: preview.role,
        speaker: preview.speaker,
        preview: preview.text,
        timestamp,
        error: failed,
        turn,
    };
    Ok(Some(object_of(&row).into()))
}

/// What a turn came to, from its prompt, or where it went on otherwise, to its last entry.
fn turn(
    session: &Session,
    start: Seq,
    end: Seq,
    prices: &Prices,
    budget: &mut usize,
) -> Result<OutlineTurn, EngineError> {
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
    Ok(OutlineTurn {
        end: end.number(),
        ended,
        whole: is_whole,
        answers: usage.answers,
        tools,
        model,
        tokens: usage.tokens.sum(),
        cost_micros: cost.micros,
        unpriced: cost.unpriced,
        changed,
        snapshot,
        outcome,
    })
}

/// Entries that were read whole, in the order they were asked for.
#[derive(Serialize, ToSchema)]
pub struct Passage {
    /// The entries.
    #[schema(value_type = Vec<PassageEntry>)]
    pub entries: Vec<Value>,
    /// The positions of those that did not fit any more.
    pub rest: Vec<u32>,
}

/// An entry whole.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its description is used: entries are told one by one")]
enum PassageEntry<'p> {
    /// A message.
    Message(PassageMessage<'p>),
    /// Something else, in few words.
    Other(OutlineRow<'p>),
}

/// A message whole, and what is known of the answer or the result that it is.
#[derive(Serialize, ToSchema)]
struct PassageMessage<'p> {
    #[serde(flatten)]
    message: MessageJson<'p>,
    /// Of an answer: who gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    model: Option<Option<&'p str>>,
    /// Of an answer: whose model that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    provider: Option<Option<&'p str>>,
    /// Of an answer: why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    stop_reason: Option<Option<&'p str>>,
    /// Of an answer: what it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<TokenCounts>,
    /// Of an answer: what it cost, in millionths of a US dollar; null when nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, required = false)]
    cost_micros: Option<Option<u64>>,
    /// Of a result: the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    call_id: Option<&'p str>,
    /// Of a result: the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<&'p str>,
    /// Of a result: whether it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<bool>,
}

/// An entry whole: as a message when it is one, in few words otherwise.
pub fn whole(session: &Session, seq: Seq, prices: &Prices) -> Result<Option<Value>, EngineError> {
    let log = session.log();
    let parent = log.record(seq).and_then(Record::parent);
    let Some(view) = session.view(seq, parent)? else {
        return row(session, (seq, None), prices, &mut 0);
    };
    let (answer, result) = (view.message.answer.as_ref(), view.message.result.as_ref());
    let used = answer.map(|answer| {
        let mut usage = UsageTotals::default();
        usage.add(&ModelName::of(answer), &answer.usage.unwrap_or_default());
        usage
    });
    let message = PassageMessage {
        message: MessageJson::of(&view).in_session(session, &view),
        model: answer.map(|answer| answer.model.as_deref()),
        provider: answer.map(|answer| answer.provider.as_deref()),
        stop_reason: answer.map(|answer| answer.stop_reason.as_deref()),
        usage: used.as_ref().map(|used| used.tokens.into()),
        cost_micros: used.as_ref().map(|used| used.cost(prices).micros),
        call_id: result.map(|result| result.call.as_str()),
        name: result.map(|result| result.name.as_str()),
        error: result.map(|result| result.is_error),
    };
    Ok(Some(object_of(&message).into()))
}
