//! `serve`: the program that listens, from its first line to its end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

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
        let mut command = world.command(&[&["serve", "--port", "0", "--json"], more].concat());
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

    /// Ends it as a service manager does, and returns its exit code and what it said.
    fn end(mut self) -> (i32, String) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
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
    let short = World::new().with("RAMUS_TOKEN", "short").run(&["serve", "--port", "0"]);
    assert_eq!(short.code, 2, "{}", short.stderr);
    let open = world.file("tokens", "0123456789abcdef0123\n");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    let readable = world.run(&["serve", "--port", "0", "--token-file", &open]);
    assert_eq!(readable.code, 2, "{}", readable.stderr);
}
