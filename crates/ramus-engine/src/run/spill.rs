//! Output that is too long for a result: it is kept whole in a blob of the home, the result says under which name, and `read`
//! takes that name for a path.

use std::io::Read as _;
use std::sync::Arc;

use futures_util::FutureExt as _;
use ramus_agent::Outcome;
use ramus_model::permission::Question;
use ramus_model::request::ToolDefinition;
use ramus_model::{Blob, BlobHash};
use ramus_store::LogStore;
use ramus_tools::tool::read;
use ramus_tools::{Effect, Plan, Refusal, Spill, Tool};
use serde_json::{Value, json};

use super::Running;

/// What the path of kept output starts with.
const PREFIX: &str = "blob:sha256:";

/// How much of an output is kept, in bytes: it passes through memory.
const MOST: u64 = 64 << 20;

/// Makes the result of a call, and keeps the rest of its output. Without a place for blobs the result is all there is.
pub(super) async fn kept(store: Option<Arc<dyn LogStore>>, done: ramus_tools::Outcome) -> Outcome {
    let ramus_tools::Outcome { mut content, is_error, mut details, spill, .. } = done;
    if let (Some(store), Some(spill)) = (store, spill) {
        let total = spill.length;
        let noted = tokio::task::spawn_blocking(move || keep(store.as_ref(), spill)).await;
        let note = match noted {
            Ok(Ok((name, length))) => {
                if let Some(details) = details.as_mut().and_then(Value::as_object_mut) {
                    details.insert("spill".into(), json!({"path": name, "bytes": length}));
                }
                let part = if length < total { format!("The first {length} bytes") } else { "All of it".to_owned() };
                format!("\n[{part} can be read with the path {name}]")
            }
            Ok(Err(reason)) => format!("\n[The rest could not be kept: {reason}]"),
            Err(error) => format!("\n[The rest could not be kept: {error}]"),
        };
        content.push(json!({"type": "text", "text": note}));
    }
    Outcome { content, is_error, details }
}

fn keep(store: &dyn LogStore, spill: Spill) -> Result<(String, u64), String> {
    let mut bytes = Vec::new();
    spill.file.take(MOST).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let blobs = store.blobs().ok_or("this home has no blobs")?;
    // The result that names it is written within the time for which collection spares what is new.
    let blob = Blob::new(bytes);
    blobs.put(&blob).map_err(|error| error.to_string())?;
    Ok((format!("{PREFIX}{}", blob.hash()), blob.bytes().len() as u64))
}

impl Running<'_> {
    /// Lets `read` take the names of outputs that were kept.
    pub(super) fn read_what_was_kept(&mut self) {
        if !self.session.has_blobs() {
            return;
        }
        for tool in self.run.tools.iter_mut().filter(|tool| tool.definition().name == "read") {
            *tool = Arc::new(ReadingKept { reading: Arc::clone(tool), store: Arc::clone(&self.engine.store) });
        }
    }
}

/// `read`, which also takes the names of outputs that were kept.
struct ReadingKept {
    reading: Arc<dyn Tool>,
    store: Arc<dyn LogStore>,
}

impl Tool for ReadingKept {
    fn definition(&self) -> ToolDefinition {
        self.reading.definition()
    }

    fn plan(&self, arguments: &Value) -> Result<Plan, Refusal> {
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
        let Some(hash) = path.strip_prefix(PREFIX) else { return self.reading.plan(arguments) };
        let hash = BlobHash::parse(hash.as_bytes())
            .ok_or_else(|| Refusal::Arguments(format!("{path:?} names no output that was kept")))?;
        let number = |name| arguments.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        let (offset, limit) = (number("offset"), number("limit"));
        let question = Question {
            permission: "read".to_owned(),
            exact: arguments.to_string(),
            subjects: vec![path.to_owned()],
            ..Question::default()
        };
        let (store, name) = (Arc::clone(&self.store), path.to_owned());
        Ok(Plan::waiting(vec![question], Effect::Looks, move |_| {
            async move {
                let fetched = tokio::task::spawn_blocking(move || match store.blobs() {
                    Some(blobs) => blobs.fetch(hash).map_err(|error| error.to_string()),
                    None => Ok(None),
                });
                match fetched.await {
                    Ok(Ok(Some(bytes))) => read::show(&name, &bytes, offset, limit),
                    Ok(Ok(None)) => ramus_tools::Outcome::failed(format!("{name} is not kept here")),
                    Ok(Err(error)) => ramus_tools::Outcome::failed(format!("{name}: {error}")),
                    Err(error) => ramus_tools::Outcome::failed(format!("the tool broke: {error}")),
                }
            }
            .boxed()
        }))
    }
}
