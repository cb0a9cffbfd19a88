//! An answer in 100,000 pieces through a whole turn: from a provider that has them all, through the engine, to whoever
//! watches, and into the log.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{self, StreamExt as _};
use ramus_agent::Event;
use ramus_engine::run::{Run, inbox};
use ramus_engine::{Durability, Engine, NewSession};
use ramus_model::delta::{Delta, Finish};
use ramus_model::request::Request;
use ramus_model::usage::ModelName;
use ramus_provider::{Deltas, Provider, Resolved};
use ramus_store::{JsonlStore, Layout};
use serde_json::json;

use crate::milliseconds;

const PIECES: usize = 100_000;

/// Says ` word`, so many times.
#[derive(Debug)]
struct Talker;

impl Provider for Talker {
    fn name(&self) -> &str {
        "bench"
    }

    fn api(&self) -> &'static str {
        "bench"
    }

    fn stream(&self, _: Request) -> Deltas {
        let pieces = (0..PIECES).map(|_| Ok(Delta::Text(" word".to_owned())));
        stream::iter(pieces.chain([Ok(Delta::Finished(Finish::Stop))])).boxed()
    }
}

pub(super) fn measure(directory: &Path) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let store = JsonlStore::new(directory.join("stream"), Layout::Pi);
    let engine = Engine::new(Arc::new(store), "bench").with_durability(Durability::Os);
    let (mut best, mut first) = (f64::MAX, f64::MAX);
    for _ in 0..5 {
        let mut session =
            engine.create(NewSession { cwd: "/".into(), ..NewSession::default() }).map_err(io::Error::other)?;
        let (mut seen, mut begun) = (0_usize, None);
        let start = Instant::now();
        let mut watch = |event: &Event| {
            if matches!(event, Event::MessageDelta(_)) {
                begun.get_or_insert_with(|| start.elapsed());
                seen += 1;
            }
        };
        let result = engine.run(&mut session, turn(), runtime.handle(), inbox(), &mut watch);
        let time = start.elapsed();
        let result = result.map_err(io::Error::other)?;
        assert_eq!((result.finish_reason(), seen), ("stop", PIECES), "{result:?}");
        best = best.min(time.as_secs_f64() * 1e6 / PIECES as f64);
        first = first.min(begun.map_or(f64::MAX, milliseconds));
    }
    println!("{}", json!({"op": "stream", "pieces": PIECES, "micros_each": best, "first_ms": first}));
    Ok(())
}

fn turn() -> Run {
    let model = ModelName { provider: "bench".into(), model: "talker".into() };
    let run = Run::new(Resolved { provider: Arc::new(Talker), model }).with_prompt("Talk.");
    Run { system: "You talk.".into(), ..run }
}
