//! What whoever watches a turn is told.

use ramus_model::message::Usage;
use ramus_model::{EntryId, Seq};
use serde_json::{Map, Value, json};

/// A piece of an answer, and where in it. Whoever comes in the middle, or missed some, so knows what there is already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// What is said or thought.
    pub text: String,
    /// Which answer of the turn it is of, from 1 on.
    pub answer: usize,
    /// Which piece of the answer it is, words and thoughts together, from 1 on.
    pub number: usize,
}

impl std::ops::Deref for Piece {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Something to tell. The names are those of the events that every surface shows.
///
/// What is durable is told when it is, with its position in the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A turn begins.
    TurnStart {
        /// The turn.
        turn: String,
        /// The model that is asked, as `PROVIDER/NAME`.
        model: String,
    },
    /// A turn ended.
    TurnEnd {
        /// The turn.
        turn: String,
        /// Why it ended, in one word.
        finish_reason: String,
        /// What went wrong, if something did.
        error: Option<String>,
        /// Where that is noted.
        seq: Option<Seq>,
    },
    /// Someone stopped a turn.
    TurnCancelled {
        /// The turn.
        turn: String,
        /// Where that is noted.
        seq: Option<Seq>,
    },
    /// The process of an earlier turn was gone before the turn was over.
    TurnInterrupted {
        /// The turn, when it is known which.
        turn: Option<String>,
        /// What was kept of the answer that was coming in, if something was.
        answer: Option<EntryId>,
        /// The calls that were left without a result.
        calls: Vec<String>,
    },
    /// An entry was appended.
    EntryAppended {
        /// Its id.
        entry: EntryId,
        /// What it hangs from.
        parent: Option<EntryId>,
        /// Its position.
        seq: Seq,
    },
    /// An answer begins.
    MessageStart,
    /// More of what the model says.
    MessageDelta(Piece),
    /// The answer is stored.
    MessageEnd {
        /// Why it ended.
        stop_reason: String,
        /// Its position.
        seq: Option<Seq>,
    },
    /// The model begins to think.
    ThinkingStart,
    /// More of what the model thinks.
    ThinkingDelta(Piece),
    /// It thought so far.
    ThinkingEnd,
    /// A call starts.
    ToolStart {
        /// The call's id.
        call: String,
        /// The tool.
        name: String,
        /// The arguments.
        input: Value,
    },
    /// A call ended, and what came of it is stored.
    ToolEnd {
        /// The call's id.
        call: String,
        /// The tool.
        name: String,
        /// What came of it.
        result: Vec<Value>,
        /// Whether it failed.
        is_error: bool,
        /// What programs may want to know about it.
        details: Option<Value>,
        /// How long it ran, in milliseconds; none when it did not, or nobody measured it.
        duration_ms: Option<u64>,
        /// The position of the result.
        seq: Option<Seq>,
    },
    /// A person is asked whether a call may run.
    PermissionAsked {
        /// Which question it is: a call may be asked about more than once.
        question: String,
        /// The call's id.
        call: String,
        /// The tool.
        name: String,
        /// The permission it needs.
        permission: String,
        /// What it would do, byte for byte.
        exact: String,
        /// Why it is asked.
        because: String,
    },
    /// A person answered.
    PermissionAnswered {
        /// Which question it was.
        question: String,
        /// The call's id.
        call: String,
        /// The tool.
        name: String,
        /// Whether it may run.
        is_allowed: bool,
    },
    /// What was used so far.
    Usage(Usage),
    /// The request is sent again.
    Retry {
        /// For the how-manyth time.
        attempt: usize,
        /// After how many milliseconds.
        delay_ms: u64,
        /// Why.
        reason: String,
    },
    /// Nothing has come from the model for a while. It is still waited for.
    Stall {
        /// For how many seconds.
        seconds: u64,
    },
    /// The older part of the path is being summarised.
    CompactionStart,
    /// It was, or could not be and why.
    CompactionEnd {
        /// What went wrong, if something did.
        error: Option<String>,
    },
    /// What a person said waits, or does not any more.
    QueueChanged {
        /// How many texts wait for the next request.
        steer: usize,
        /// How many wait for the end of the turn.
        follow_up: usize,
        /// What waits: for the next request first, in the order in which it counts.
        texts: Vec<String>,
        /// What was taken out and is not said.
        taken_out: Option<String>,
    },
    /// A child session starts.
    ChildStarted {
        /// Its id.
        child: String,
        /// The agent that it is.
        agent: String,
        /// What it does, in a few words.
        description: String,
    },
    /// Something happened in a child session.
    ChildEvent {
        /// Its id.
        child: String,
        /// What.
        event: Box<Event>,
    },
    /// A child session came to its end.
    ChildFinished {
        /// Its id.
        child: String,
        /// Why, in one word.
        finish_reason: String,
    },
    /// The turn changed files.
    SessionDiff {
        /// Each with its path, what became of it, and how many lines came and went.
        diff: Vec<Value>,
        /// Where the log says so.
        seq: Option<Seq>,
    },
    /// The session has another title.
    TitleChanged(String),
    /// The list of what is to be done is another one.
    TodoUpdated(Vec<Value>),
}

impl Event {
    /// Returns the name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TurnStart { .. } => "turn.start",
            Self::TurnEnd { .. } => "turn.end",
            Self::TurnCancelled { .. } => "turn.cancelled",
            Self::TurnInterrupted { .. } => "turn.interrupted",
            Self::EntryAppended { .. } => "entry.appended",
            Self::MessageStart => "message.start",
            Self::MessageDelta(_) => "message.delta",
            Self::MessageEnd { .. } => "message.end",
            Self::ThinkingStart => "thinking.start",
            Self::ThinkingDelta(_) => "thinking.delta",
            Self::ThinkingEnd => "thinking.end",
            Self::ToolStart { .. } => "tool.start",
            Self::ToolEnd { .. } => "tool.end",
            Self::PermissionAsked { .. } => "permission.asked",
            Self::PermissionAnswered { .. } => "permission.answered",
            Self::Usage(_) => "usage.updated",
            Self::Retry { .. } => "retry",
            Self::Stall { .. } => "stall",
            Self::CompactionStart => "compaction.start",
            Self::CompactionEnd { .. } => "compaction.end",
            Self::QueueChanged { .. } => "queue.changed",
            Self::ChildStarted { .. } => "child.started",
            Self::ChildEvent { .. } => "child.event",
            Self::ChildFinished { .. } => "child.finished",
            Self::SessionDiff { .. } => "session.diff",
            Self::TitleChanged(_) => "title.changed",
            Self::TodoUpdated(_) => "todo.updated",
        }
    }

    /// Returns the position of what the event is about, when that is durable.
    pub fn seq(&self) -> Option<Seq> {
        match self {
            Self::EntryAppended { seq, .. } => Some(*seq),
            Self::TurnEnd { seq, .. }
            | Self::TurnCancelled { seq, .. }
            | Self::MessageEnd { seq, .. }
            | Self::SessionDiff { seq, .. }
            | Self::ToolEnd { seq, .. } => *seq,
            _ => None,
        }
    }

    /// Says whether it is a piece of an answer, of this session or of one below it: pieces come often, and are stored whole.
    pub fn is_piece(&self) -> bool {
        matches!(self.innermost(), Self::MessageDelta(_) | Self::ThinkingDelta(_))
    }

    /// Returns about how many bytes it has beside its names.
    pub fn weight(&self) -> usize {
        match self.innermost() {
            Self::MessageDelta(piece) | Self::ThinkingDelta(piece) => piece.text.len(),
            Self::TitleChanged(text) => text.len(),
            Self::ToolStart { input, .. } => weight_of(input),
            Self::ToolEnd { result, details, .. } => result.iter().chain(details).map(weight_of).sum(),
            Self::PermissionAsked { exact, .. } => exact.len(),
            Self::QueueChanged { texts, taken_out, .. } => texts.iter().chain(taken_out).map(String::len).sum(),
            Self::SessionDiff { diff: values, .. } | Self::TodoUpdated(values) => values.iter().map(weight_of).sum(),
            _ => 0,
        }
    }

    /// What happened in the session that it happened in.
    fn innermost(&self) -> &Self {
        let mut event = self;
        while let Self::ChildEvent { event: inner, .. } = event {
            event = inner;
        }
        event
    }

    /// Returns the event as JSON, without the session it belongs to.
    pub fn to_json(&self) -> Value {
        let mut object = Map::from_iter([("type".to_owned(), Value::from(self.name()))]);
        if let Value::Object(members) = self.members() {
            object.extend(members);
        }
        if let Some(seq) = self.seq() {
            object.insert("seq".to_owned(), Value::from(seq.number()));
        }
        Value::Object(object)
    }

    fn members(&self) -> Value {
        match self {
            Self::MessageStart | Self::ThinkingStart | Self::ThinkingEnd | Self::CompactionStart => Value::Null,
            Self::TurnStart { turn, model } => json!({"turn": turn, "model": model}),
            Self::TurnEnd { turn, finish_reason, error, .. } => {
                json!({"turn": turn, "finish_reason": finish_reason, "error": error})
            }
            Self::TurnCancelled { turn, .. } => json!({"turn": turn}),
            Self::TurnInterrupted { turn, answer, calls } => {
                json!({"turn": turn, "answer": answer.as_ref().map(EntryId::as_str), "calls": calls})
            }
            Self::EntryAppended { entry, parent, .. } => {
                json!({"entry": entry.as_str(), "parent": parent.as_ref().map(EntryId::as_str)})
            }
            Self::MessageDelta(piece) | Self::ThinkingDelta(piece) => {
                json!({"text": piece.text, "answer": piece.answer, "piece": piece.number})
            }
            Self::MessageEnd { stop_reason, .. } => json!({"stop_reason": stop_reason}),
            Self::ToolStart { call, name, input } => json!({"call": call, "name": name, "input": input}),
            Self::ToolEnd { call, name, result, is_error, details, duration_ms, .. } => json!({
                "call": call, "name": name, "result": result, "error": is_error, "details": details,
                "duration_ms": duration_ms,
            }),
            Self::PermissionAsked { question, call, name, permission, exact, because } => json!({
                "question": question, "call": call, "name": name, "permission": permission, "exact": exact,
                "because": because,
            }),
            Self::PermissionAnswered { question, call, name, is_allowed } => {
                json!({"question": question, "call": call, "name": name, "allowed": is_allowed})
            }
            Self::Usage(usage) => json!({"usage": {
                "input": usage.input, "output": usage.output,
                "cache_read": usage.cache_read, "cache_write": usage.cache_write,
            }}),
            Self::Retry { attempt, delay_ms, reason } => {
                json!({"attempt": attempt, "delay_ms": delay_ms, "reason": reason})
            }
            Self::Stall { seconds } => json!({"seconds": seconds}),
            Self::CompactionEnd { error } => json!({"error": error}),
            Self::QueueChanged { steer, follow_up, texts, taken_out } => {
                json!({"steer": steer, "follow_up": follow_up, "texts": texts, "taken_out": taken_out})
            }
            Self::ChildStarted { child, agent, description } => {
                json!({"child": child, "agent": agent, "description": description})
            }
            Self::ChildEvent { child, event } => {
                json!({"child": child, "event": event.to_json()})
            }
            Self::ChildFinished { child, finish_reason } => {
                json!({"child": child, "finish_reason": finish_reason})
            }
            Self::SessionDiff { diff, .. } => json!({"diff": diff}),
            Self::TitleChanged(title) => json!({"title": title}),
            Self::TodoUpdated(tasks) => json!({"todos": tasks}),
        }
    }
}

/// About how many bytes a value has.
fn weight_of(value: &Value) -> usize {
    let (mut weight, mut rest) = (0, vec![value]);
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) => weight += text.len(),
            Value::Array(items) => rest.extend(items),
            Value::Object(members) => {
                weight += members.keys().map(String::len).sum::<usize>();
                rest.extend(members.values());
            }
            _ => weight += size_of::<Value>(),
        }
    }
    weight
}
