//! `serve`: the program that listens, from its first line to its end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ramus_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::world::World;

/// A server that runs.
struct Serving {
    child: Child,
    address: String,
    token_file: Option<String>,
    login: Option<String>,
}

impl Serving {
    fn start(world: &World, more: &[&str]) -> Self {
        Self::run(world.command(&[&["serve", "--port", "0", "--json"], more].concat()))
    }

    fn run(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&ready["schema_version"], &ready["type"]), (&1.into(), &"ready".into()));
        let address = ready["address"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        let text = |name: &str| ready[name].as_str().map(str::to_owned);
        Self { child, address, token_file: text("token_file"), login: text("login") }
    }

    /// Asks, and returns the status and the answer.
    fn ask(&self, token: Option<&str>, target: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        let head = format!("GET {target} HTTP/1.1\r\nhost: {}\r\n{token}connection: close\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Ends it as a service manager does, and returns its exit code and what it said.
    fn end(mut self) -> (i32, String) {
        self.signal(rustix::process::Signal::TERM);
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code().unwrap(), said)
    }
}

#[test]
fn it_makes_a_token_that_only_the_user_can_read_and_prints_it_once() {
    let world = World::new();
    let session = world.session();
    world.say(&session, "user", "hello");
    let first = Serving::start(&world, &[]);
    let file = first.token_file.clone().unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    assert_eq!(first.ask(None, "/health").0, 200);
    assert_eq!(first.ask(None, "/api/v1/sessions").0, 401);
    let (status, listed) = first.ask(Some(&token), "/api/v1/sessions?drafts=true");
    assert_eq!(status, 200);
    // The same as the command prints.
    let (listed, printed): (Value, Value) = (
        serde_json::from_str(&listed).unwrap(),
        serde_json::from_str(&world.ok(&["list", "--all", "--drafts", "--json"])).unwrap(),
    );
    assert_eq!(listed, printed);
    assert_eq!(first.login, Some(format!("http://{}/login#token={token}", first.address)));
    let (code, said) = first.end();
    assert_eq!((code, said.as_str()), (0, ""));

    let second = Serving::start(&world, &[]);
    assert_eq!(second.ask(Some(&token), "/api/v1/sessions").0, 200);
    assert_eq!(second.login, None);
    assert_eq!(second.end(), (0, String::new()));
}

#[test]
fn a_server_that_could_not_listen_leaves_the_login_to_the_next() {
    let world = World::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (arguments, code) in [(["--host", "0.0.0.0"], 2), (["--port", port.as_str()], 1)] {
        let failed = world.run(&[&["serve"], arguments.as_slice()].concat());
        assert_eq!(failed.code, code, "{}", failed.stderr);
        assert!(!failed.stderr.contains("token="), "{}", failed.stderr);
    }
    let first = Serving::start(&world, &[]);
    let token = std::fs::read_to_string(first.token_file.clone().unwrap()).unwrap();
    assert_eq!(first.login, Some(format!("http://{}/login#token={}", first.address, token.trim())));
    assert_eq!(first.ask(Some(token.trim()), "/api/v1/sessions").0, 200);
    assert_eq!(first.end(), (0, String::new()));
}

#[test]
fn it_answers_under_the_address_or_the_name_that_it_was_given() {
    let world = World::new().with("RAMUS_TOKEN", "0123456789abcdef0123");
    for (host, address) in [("127.0.0.2", "127.0.0.2:"), ("localhost", "127.0.0.1:")] {
        let serving = Serving::start(&world, &["--host", host]);
        assert!(serving.address.starts_with(address), "{}", serving.address);
        assert_eq!(serving.ask(Some("0123456789abcdef0123"), "/api/v1/sessions").0, 200, "{host}");
        assert_eq!(serving.end().0, 0);
    }
    let unknown = world.run(&["serve", "--host", "no such name", "--port", "0"]);
    assert_eq!(unknown.code, 2, "{}", unknown.stderr);
}

#[test]
fn a_token_of_the_environment_is_used_and_not_kept() {
    let world = World::new().with("RAMUS_TOKEN", "0123456789abcdef0123");
    let serving = Serving::start(&world, &[]);
    assert_eq!(serving.token_file, None);
    assert_eq!(serving.ask(Some("0123456789abcdef0123"), "/api/v1/sessions").0, 200);
    let (code, said) = serving.end();
    assert_eq!(code, 0);
    assert!(!said.contains("0123456789abcdef0123"), "{said}");
}

#[test]
fn l8_it_listens_elsewhere_only_when_told_and_with_a_token_worth_the_name() {
    let world = World::new();
    let exposed = world.run(&["serve", "--host", "0.0.0.0", "--port", "0"]);
    assert_eq!(exposed.code, 2, "{}", exposed.stderr);
    assert!(exposed.stderr.contains("--expose"), "{}", exposed.stderr);
    for name in ["https://", "ftp://build.example", "https://build.example/ramus", "*.example"] {
        let wrong = world.run(&["serve", "--port", "0", "--allow-host", name]);
        assert_eq!(wrong.code, 2, "{name}: {}", wrong.stderr);
    }
    let short = World::new().with("RAMUS_TOKEN", "short").run(&["serve", "--port", "0"]);
    assert_eq!(short.code, 2, "{}", short.stderr);
    let open = world.file("tokens", "0123456789abcdef0123\n");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    let readable = world.run(&["serve", "--port", "0", "--token-file", &open]);
    assert_eq!(readable.code, 2, "{}", readable.stderr);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "nothing tells that nothing was changed")]
fn a_token_that_is_taken_out_of_the_file_is_none_any_more() {
    let world = World::new();
    let (ours, theirs) = ("0123456789abcdef0123", "fedcba9876543210fedc");
    let tokens = world.file("tokens", &format!("{ours}\nbob {theirs} view\n"));
    std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(0o600)).unwrap();
    let server = Serving::start(&world, &["--token-file", &tokens]);
    let status = |token: &str| server.ask(Some(token), "/api/v1/sessions").0;
    assert_eq!((status(ours), status(theirs)), (200, 200));
    // What cannot be read changes nothing.
    std::fs::write(&tokens, format!("{ours}\nbob\n")).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(status(theirs), 200);
    std::fs::write(&tokens, format!("{ours}\nbob {theirs} view expires=2020-01-01\nmay {theirs}may\n")).unwrap();
    let began = std::time::Instant::now();
    while status(theirs) != 401 {
        assert!(began.elapsed() < Duration::from_secs(30));
    }
    assert_eq!((status(ours), status(&format!("{theirs}may"))), (200, 200));
    let (code, said) = server.end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("expires=TIME") && !said.contains(theirs), "{said}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "nothing tells that nothing happens")]
fn who_cannot_wait_for_its_end_says_so_again() {
    let world = World::new().with("RAMUS_TOKEN", "0123456789abcdef0123");
    let mut serving = Serving::start(&world, &[]);
    // Somebody who does not say all of it.
    let mut slow = TcpStream::connect(&serving.address).unwrap();
    let head = format!(
        "POST /api/v1/sessions HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer 0123456789abcdef0123\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{",
        serving.address
    );
    slow.write_all(head.as_bytes()).unwrap();
    assert_eq!(serving.ask(None, "/health").0, 200);
    std::thread::sleep(Duration::from_millis(500));
    serving.signal(rustix::process::Signal::INT);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(serving.child.try_wait().unwrap(), None, "whoever is there has some time");
    let again = std::time::Instant::now();
    serving.signal(rustix::process::Signal::INT);
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    assert!(again.elapsed() < Duration::from_secs(5), "{:?}", again.elapsed());
}

/// What a page from elsewhere tries, each in its own way; it tells what it could read.
const DRIVE_BY: &str = r#"
(async () => {
  const base = "http://ADDRESS", session = base + "/api/v1/sessions/SESSION";
  const planted = JSON.stringify({ entries: [{ type: "message", message: { role: "user", content: "planted" } }] });
  const read = {};
  const attempt = async (name, act) => {
    const late = new Promise((resolve) => setTimeout(() => resolve("late"), 30000));
    try { read[name] = await Promise.race([act(), late]); } catch (error) { read[name] = "refused"; }
  };
  const ask = async (url, how) => {
    const answer = await fetch(url, how);
    return answer.type === "opaque" ? "opaque" : answer.status + " " + (await answer.text());
  };
  const element = (name, set) => new Promise((resolve) => {
    const made = document.createElement(name);
    made.onload = () => resolve("loaded");
    made.onerror = () => resolve("refused");
    set(made);
    document.body.append(made);
  });
  for (const credentials of ["omit", "include"]) {
    await attempt("get " + credentials, () => ask(base + "/api/v1/sessions", { credentials }));
    await attempt("blind " + credentials, () => ask(base + "/api/v1/sessions", { mode: "no-cors", credentials }));
    await attempt("post text " + credentials, () =>
      ask(session + "/entries", { method: "POST", mode: "no-cors", credentials, body: planted }));
    await attempt("post json " + credentials, () => ask(session + "/entries", {
      method: "POST", credentials, headers: { "content-type": "application/json" }, body: planted }));
    await attempt("delete " + credentials, () => ask(session, { method: "DELETE", credentials }));
  }
  await attempt("beacon", async () => {
    navigator.sendBeacon(session + "/entries", new Blob([planted], { type: "text/plain" }));
    return "sent";
  });
  await attempt("form", async () => {
    const frame = document.createElement("iframe"); frame.name = "there"; document.body.append(frame);
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", enctype: "text/plain", action: session + "/entries", target: "there" });
    const field = document.createElement("input");
    field.name = planted.slice(0, -1) + ',"x":"'; field.value = '"}';
    form.append(field); document.body.append(form); form.submit();
    return "sent";
  });
  await attempt("script", () => element("script", (made) => { made.src = base + "/openapi.json"; }));
  await attempt("image", () => element("img", (made) => { made.src = session + "/export"; }));
  await attempt("style", () => element("link", (made) => { made.rel = "stylesheet"; made.href = session; }));
  await attempt("frame", async () => {
    await element("iframe", (made) => { made.id = "f"; made.src = base + "/api/v1/sessions"; });
    return document.getElementById("f").contentDocument ? "readable" : "closed";
  });
  await attempt("events", () => new Promise((resolve) => {
    const source = new EventSource(session + "/events", { withCredentials: true });
    source.onmessage = source.onopen = () => resolve("open");
    source.onerror = () => { source.close(); resolve("refused"); };
  }));
  await attempt("socket", () => new Promise((resolve) => {
    const socket = new WebSocket("ws://ADDRESS/api/v1/events");
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
  }));
  await attempt("health", () => ask(base + "/health"));
  return read;
})()
"#;

/// The page that it is tried from.
const ELSEWHERE: &str = "<!doctype html><title>elsewhere</title><body></body>";

/// Serves that page from another port of this machine, for as long as the test runs.
fn neighbour() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n";
            let _ = stream.read(&mut [0; 8192]);
            let _ = write!(stream, "{head}content-length: {}\r\n\r\n{ELSEWHERE}", ELSEWHERE.len());
        }
    });
    format!("http://{address}/")
}

#[test]
fn l6_a_page_from_elsewhere_reads_nothing_and_does_nothing() {
    let Some(mut browser) = Browser::start().unwrap() else {
        eprintln!("skipped: there is no chromium on this machine");
        return;
    };
    let world = World::new();
    let session = world.session();
    world.say(&session, "user", "canary");
    let serving = Serving::start(&world, &["--login"]);
    browser.go_online().unwrap();
    // The user is logged in with this very browser.
    browser.visit(serving.login.as_deref().unwrap()).unwrap();
    browser.wait_until("location.pathname === '/'").unwrap();
    assert_eq!(browser.evaluate("fetch('/api/v1/sessions?drafts=true').then((answer) => answer.status)").unwrap(), 200);
    let before = world.ok(&["show", &session, "--json"]);
    let page = world.file("elsewhere.html", ELSEWHERE);
    let script = DRIVE_BY.replace("ADDRESS", &serving.address).replace("SESSION", &session);
    let expected = json!({
        "get omit": "refused", "get include": "refused", "blind omit": "refused", "blind include": "refused",
        "post text omit": "refused", "post text include": "refused", "post json omit": "refused",
        "post json include": "refused", "delete omit": "refused", "delete include": "refused", "beacon": "sent",
        "form": "sent", "script": "refused", "image": "refused", "style": "refused", "frame": "closed",
        "events": "refused", "socket": "refused", "health": "refused",
    });
    // From another site, and from another port of this machine: that is the same site, so the cookie comes along.
    let neighbour = neighbour();
    for is_neighbour in [false, true] {
        match is_neighbour {
            false => browser.open(std::path::Path::new(&page), "").unwrap(),
            true => browser.visit(&neighbour).unwrap(),
        }
        assert_eq!(browser.evaluate("document.title").unwrap(), "elsewhere");
        let read = browser.evaluate(&script).unwrap();
        assert_eq!(read, expected, "{is_neighbour}");
        assert!(!read.to_string().contains("canary"));
        assert_eq!(world.ok(&["show", &session, "--json"]), before);
    }
    // It is still logged in.
    browser.visit(&format!("http://{}/", serving.address)).unwrap();
    assert_eq!(browser.evaluate("fetch('/api/v1/sessions?drafts=true').then((answer) => answer.status)").unwrap(), 200);
    assert_eq!(serving.end().0, 0);
}

#[test]
fn it_may_have_as_many_connections_as_it_takes_whatever_the_shell_allowed_at_first() {
    let world = World::new();
    let serve = world.command(&["serve", "--port", "0", "--json"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -S -n 256; exec \"$0\" \"$@\""]).arg(serve.get_program()).args(serve.get_args());
    shell.env_clear().envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let serving = Serving::run(shell);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", serving.child.id())).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let mut numbers = files.split_whitespace().map(|number| number.parse().unwrap_or(u64::MAX));
    let (allowed, most) = (numbers.next().unwrap(), numbers.next().unwrap());
    assert_eq!(allowed, most.min(4096 + 1024));
    assert_eq!(serving.ask(None, "/health").0, 200);
    serving.end();
}
