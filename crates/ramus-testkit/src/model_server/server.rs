//! The server itself: a thread with a runtime of its own, so that it serves tests of every kind. Dropped, it is stopped.

mod keys;

pub use keys::Keys;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::flow::After;
use super::format::Format;
use super::http::{self, Inbox};
use super::illegal::Illegal;
use super::plan::{Plan, Reply};
use super::record::{Outcome, Recorded, Verdict};
use super::route::{Answer, route};

/// A model provider on loopback.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    keys: Keys,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    plan: Plan,
    records: Vec<Recorded>,
}

impl ModelServer {
    /// Starts on a free port, and takes any key.
    pub fn start(plan: Plan) -> io::Result<Self> {
        Self::start_on(0, Keys::Any, plan)
    }

    /// Starts on this port; 0 is any that is free.
    pub fn start_on(port: u16, keys: Keys, plan: Plan) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let state = Mutex::new(State { plan, records: Vec::new() });
        let shared = Arc::new(Shared { keys, state, changed: Condvar::new() });
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("model-server".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    // Without a listener nobody can ask, and whoever tries finds out.
                    _ = accept(listener, serving) => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Self { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what a client of this format puts in front of its paths: `/chat/completions`, `/responses`, `/v1/messages`,
    /// `/models/{model}:streamGenerateContent`.
    pub fn base_url(&self, format: Format) -> String {
        let root = format!("http://{}", self.address);
        match format {
            Format::Chat | Format::Responses => format!("{root}/v1"),
            Format::Anthropic => root,
            Format::Gemini => format!("{root}/v1beta"),
        }
    }

    /// Adds a reply to the end of the plan.
    pub fn plan(&self, reply: Reply) {
        self.shared.state().plan.replies.push_back(reply);
    }

    /// Returns how many replies are left.
    pub fn replies_left(&self) -> usize {
        self.shared.state().plan.replies.len()
    }

    /// Returns all requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.state().records.clone()
    }

    /// Returns why requests so far were turned away.
    pub fn illegal(&self) -> Vec<Illegal> {
        let illegal = |record: &Recorded| match &record.verdict {
            Verdict::Illegal(illegal) => Some(illegal.clone()),
            _ => None,
        };
        self.shared.state().records.iter().filter_map(illegal).collect()
    }

    /// Waits until the requests are as `wanted`, and returns whether they ever were.
    pub fn wait_until(&self, patience: Duration, wanted: impl Fn(&[Recorded]) -> bool) -> bool {
        let deadline = Instant::now() + patience;
        let mut state = self.shared.state();
        while !wanted(&state.records) {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return false;
            };
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Serves until the process ends.
    pub fn serve(mut self) {
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // What the thread waits for is that this end of the channel goes.
        drop(self.stop.take());
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A test that failed while it looked has changed nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, number: usize, outcome: Outcome) {
        if let Some(record) = self.state().records.get_mut(number) {
            record.outcome = outcome;
        }
        self.changed.notify_all();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            // A client that breaks off, or speaks no HTTP, has no record to note that in.
            drop(converse(stream, &shared).await);
        });
    }
}

/// Answers requests on a connection until one side has had enough.
async fn converse(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (reader, mut writer) = stream.into_split();
    let mut inbox = Inbox::new(reader);
    while let Some(request) = inbox.request(&mut writer).await? {
        let (number, answer) = {
            let mut state = shared.state();
            let number = state.records.len();
            let routed = route(&request, &shared.keys, &mut state.plan, number);
            state.records.push(Recorded {
                format: routed.format,
                line: format!("{} {}", request.method, request.target),
                headers: request.headers.clone(),
                body: request.body.clone(),
                verdict: routed.verdict,
                outcome: Outcome::Underway,
            });
            (number, routed.answer)
        };
        shared.changed.notify_all();
        let after = send(&mut writer, &mut inbox, answer, |outcome| shared.settle(number, outcome)).await?;
        match after {
            After::Open if !request.closes() => {}
            After::Open | After::Close => break,
            After::Reset => {
                // Without time to linger closing is a reset, unless the end of what was written is announced first.
                writer.as_ref().set_zero_linger()?;
                writer.forget();
                break;
            }
        }
    }
    Ok(())
}

/// Sends an answer, says how that went, and returns what becomes of the connection.
async fn send(
    writer: &mut tokio::net::tcp::OwnedWriteHalf,
    inbox: &mut Inbox,
    answer: Answer,
    settle: impl Fn(Outcome),
) -> io::Result<After> {
    match answer {
        Answer::Whole { status, content_type, headers, body } => {
            let mut bytes = http::head(status, content_type, Some(body.len()), &headers).into_bytes();
            bytes.extend_from_slice(body.as_bytes());
            let written = writer.write_all(&bytes).await;
            settle(if written.is_ok() { Outcome::Whole } else { Outcome::ClosedEarly(0) });
            written.map(|()| After::Open)
        }
        Answer::Stream { content_type, flow } => {
            let cache = ("cache-control", "no-cache".to_owned());
            let head = http::head(200, content_type, None, &[cache]);
            if let Err(error) = writer.write_all(head.as_bytes()).await {
                settle(Outcome::ClosedEarly(0));
                return Err(error);
            }
            let sent = flow.send(writer, inbox).await;
            settle(sent.outcome);
            Ok(sent.after)
        }
    }
}
