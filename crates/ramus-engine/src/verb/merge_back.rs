//! `merge_back`: what came of another branch, fork or child is told here, as a summary or word for word. The other one stays
//! as it is.

use ramus_model::{Body, Draft, EntryId, Kind, Role, Seq, SessionId};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;

/// How much of each thing that was asked a made-up summary tells, in characters.
const ASKED: usize = 200;

/// What is brought here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeBack {
    /// This summary.
    Summary(String),
    /// A summary that is made of what was asked and answered last.
    Plain,
    /// These messages, word for word.
    Messages(Vec<Seq>),
}

/// What was brought here, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The entries that were written.
    pub entries: Vec<EntryId>,
    /// The session it comes from.
    pub from: SessionId,
    /// The end of the branch it comes from, or the messages.
    pub sources: Vec<EntryId>,
    /// What is told here.
    pub text: String,
}

impl Engine {
    /// Tells at the leaf of `into` what came of the path to `end` in `from`. With `dry_run`, says what would be told.
    pub fn merge_back(
        &self,
        into: &mut Session,
        (from, end): (&Session, Option<Seq>),
        what: &MergeBack,
        dry_run: bool,
    ) -> Result<Merged, EngineError> {
        let end = end.ok_or_else(|| EngineError::Invalid("there is nothing to bring back".into()))?;
        let sources: Vec<EntryId> = match what {
            MergeBack::Messages(seqs) => seqs.iter().map(|seq| from.entry_id(*seq)).collect(),
            MergeBack::Summary(_) | MergeBack::Plain => vec![from.entry_id(end)],
        };
        let text = match what {
            MergeBack::Summary(text) if text.trim().is_empty() => {
                return Err(EngineError::Invalid("a summary cannot be empty".into()));
            }
            MergeBack::Summary(text) => text.clone(),
            MergeBack::Plain => plain(into, from, end)?,
            MergeBack::Messages(seqs) => word_for_word(from, seqs)?,
        };
        let mut merged = Merged { entries: Vec::new(), from: from.id().clone(), sources, text };
        if dry_run {
            return Ok(merged);
        }
        let body = match what {
            MergeBack::Messages(_) => Body::new(
                "custom_message",
                [
                    ("customType", Value::from("ramus.merged")),
                    ("content", Value::from(merged.text.clone())),
                    ("display", Value::from(true)),
                    ("details", details(&merged)),
                ],
            ),
            MergeBack::Summary(_) | MergeBack::Plain => {
                let leaf = into.leaf();
                let hangs = leaf.as_ref().map_or("root", EntryId::as_str);
                Body::new(
                    "branch_summary",
                    [
                        ("fromId", Value::from(hangs)),
                        ("summary", Value::from(merged.text.clone())),
                        ("details", details(&merged)),
                    ],
                )
            }
        };
        let appended = self.record(into, &mut Doing::one("merge_back", self), vec![Draft::new(body)])?;
        merged.entries = appended.entries.into_iter().map(|written| written.id).collect();
        Ok(merged)
    }
}

fn details(merged: &Merged) -> Value {
    let ids: Vec<&str> = merged.sources.iter().map(EntryId::as_str).collect();
    json!({"session": merged.from.as_str(), "leftEntryId": ids.last(), "entries": ids})
}

/// Messages as text, each with who said it.
fn word_for_word(from: &Session, seqs: &[Seq]) -> Result<String, EngineError> {
    if seqs.is_empty() {
        return Err(EngineError::Invalid("no message is named".into()));
    }
    let mut text = format!("From session {}:", from.id());
    for seq in seqs {
        let nothing = || EngineError::Invalid(format!("{} is no message", from.entry_id(*seq)));
        let message = from.message(*seq)?.ok_or_else(nothing)?;
        text.push_str(&format!("\n\n[{}]\n{}", message.role_name, message.text()));
    }
    Ok(text)
}

/// Says what was asked on the other path, as far as it is not on this one, and what was answered last.
fn plain(into: &Session, from: &Session, end: Seq) -> Result<String, EngineError> {
    let log = from.log();
    let known = |seq: Seq| into.log().seq_of(log.id(seq)).filter(|known| into.log().belongs(*known));
    let here: Vec<Seq> = into.log().ancestors(into.log().leaf()).collect();
    let (mut asked, mut answer) = (Vec::new(), String::new());
    for seq in log.path(Some(end)) {
        let Some(record) = log.record(seq).filter(|record| record.kind == Kind::Message) else { continue };
        if known(seq).is_some_and(|known| here.contains(&known)) {
            continue;
        }
        let text = from.message(seq)?.map(|message| message.text()).unwrap_or_default();
        match record.role {
            Role::User => asked.push(text.chars().take(ASKED).collect::<String>()),
            Role::Assistant if !text.trim().is_empty() => answer = text,
            _ => {}
        }
    }
    if asked.is_empty() && answer.is_empty() {
        return Err(EngineError::Invalid("nothing was said there that is not here".into()));
    }
    let asked = asked.iter().map(|text| format!("- {}", text.replace('\n', " "))).collect::<Vec<_>>().join("\n");
    Ok(format!(
        "Another line of work was followed in session {}.\n\nAsked:\n{asked}\n\nAnswered last:\n{answer}",
        from.id()
    ))
}
