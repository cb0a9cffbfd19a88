//! MCP servers, real ones: a program that is talked to and an address that is asked. What they bring, what they may not do,
//! and that nothing of them is left.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ramus_tools::mcp::{Reach, Server, Servers, Trouble};
use ramus_tools::process::Start;
use ramus_tools::{Cancel, Outcome, Tool};
use serde_json::{Value, json};

/// How long anything may take on a machine that is busy.
const LONG: Duration = Duration::from_secs(30);

/// A server in a few lines of shell.
const SCRIPT: &str = r##"
say() { printf '%s\n' "$1"; }
answer() { say '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }
text() { answer '{"content":[{"type":"text","text":"'"$1"'"}]}'; }
tool() { printf '{"name":"%s","description":"%s","inputSchema":{"type":"object","properties":{"said":{"type":"string"}}}}' "$1" "$2"; }
while IFS= read -r line; do
  id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$line")
  case $line in
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      answer '{"tools":['"$(tool echo Echoes),$(tool picture Shows),$(tool long Floods),$(tool env Tells),$(tool fail Fails),$(tool slow Waits),$(tool 'od/d name' Odd)"']}' ;;
    *'"method":"notifications/cancelled"'*) echo cancelled > cancelled.txt ;;
    *'"method":"tools/call"'*)
      case $line in
        *'"name":"echo"'*) text "you said $(sed -n 's/.*"said":"\([^"]*\)".*/\1/p' <<<"$line")" ;;
        *'"name":"picture"'*)
          answer '{"content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"},{"type":"image","data":"!","mimeType":"image/png"},{"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"resource_link","uri":"file:///a","name":"a"}]}' ;;
        *'"name":"long"'*) text "$(head -c 100000 /dev/zero | tr '\0' x)" ;;
        *'"name":"env"'*) text "key=$API_KEY given=$GIVEN" ;;
        *'"name":"fail"'*) answer '{"content":[{"type":"text","text":"no"}],"isError":true}' ;;
        *'"name":"slow"'*) touch started.txt ;;
        *) say '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32602,"message":"no such tool"}}' ;;
      esac ;;
  esac
done
"##;

fn program(directory: &Path, name: &str, script: &str) -> Server {
    let file = directory.join(format!("{name}.sh"));
    std::fs::write(&file, script).unwrap();
    let environment = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("GIVEN", "yes")];
    let start = Start {
        words: vec!["/bin/bash".into(), file.into()],
        directory: directory.to_owned(),
        environment: environment.map(|(name, value)| (name.into(), value.into())).to_vec(),
    };
    Server { name: name.into(), reach: Reach::Program(start) }
}

fn tool(servers: &Servers, name: &str) -> Arc<dyn Tool> {
    let named = |tool: &Arc<dyn Tool>| tool.definition().name == name;
    servers.tools().into_iter().find(named).unwrap_or_else(|| panic!("there is no {name}"))
}

async fn call(servers: &Servers, name: &str, arguments: Value) -> Outcome {
    tool(servers, name).plan(&arguments).unwrap().run(Cancel::new()).await
}

/// Waits until something is so.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_a_program_are_offered_asked_about_and_called() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, troubles) = Servers::connect(vec![program(folder.path(), "shell", SCRIPT)], LONG).await;
    assert_eq!(troubles, []);
    let names: Vec<String> = servers.tools().iter().map(|tool| tool.definition().name).collect();
    let expected = ["echo", "picture", "long", "env", "fail", "slow", "od_d_name"].map(|name| format!("shell_{name}"));
    assert_eq!(names, expected);
    let arguments = json!({"said": "hello"});
    let plan = tool(&servers, "shell_echo").plan(&arguments).unwrap();
    let [question] = plan.questions.as_slice() else { panic!("{:?}", plan.questions) };
    assert_eq!((question.permission.as_str(), question.exact.clone()), ("shell_echo", arguments.to_string()));
    assert_eq!(plan.run(Cancel::new()).await.as_text(), "you said hello");
    let shown = call(&servers, "shell_picture", json!({})).await.content;
    assert_eq!(shown[0], json!({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}));
    let told: Vec<&str> = shown[1..].iter().map(|part| part["text"].as_str().unwrap()).collect();
    assert_eq!(told, ["[a picture that cannot be shown]", "[sound, which cannot be shown]", "[a: file:///a]"]);
    let long = call(&servers, "shell_long", json!({})).await.as_text();
    assert!(long.len() < 40_000 && long.ends_with("of 100000 bytes are shown]"), "{}", long.len());
    assert_eq!(call(&servers, "shell_env", json!({})).await.as_text(), "key= given=yes");
    assert!(call(&servers, "shell_fail", json!({})).await.is_error);
    let odd = call(&servers, "shell_od_d_name", json!({})).await;
    assert!(odd.is_error && odd.as_text().contains("no such tool"), "{}", odd.as_text());
    assert!(tool(&servers, "shell_echo").plan(&json!("text")).is_err());
    servers.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_cancelled_is_cancelled_there_too() {
    let folder = tempfile::tempdir().unwrap();
    let (servers, troubles) = Servers::connect(vec![program(folder.path(), "shell", SCRIPT)], LONG).await;
    assert_eq!(troubles, []);
    let cancel = Cancel::new();
    let running = tokio::spawn(tool(&servers, "shell_slow").plan(&json!({})).unwrap().run(cancel.clone()));
    until("it never started", || folder.path().join("started.txt").exists()).await;
    cancel.cancel();
    let outcome = running.await.unwrap();
    assert!(outcome.is_cancelled && outcome.is_error);
    until("the server was not told", || folder.path().join("cancelled.txt").exists()).await;
    servers.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_server_is_left_when_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    // It ignores being asked to end, and has a child that left its group.
    let script = format!("trap '' TERM\nsetsid sleep 1000 & echo $! > child.txt\necho $$ > server.txt\n{SCRIPT}");
    let (servers, troubles) = Servers::connect(vec![program(folder.path(), "shell", &script)], LONG).await;
    assert_eq!(troubles, []);
    let pids = ["server.txt", "child.txt"].map(|name| std::fs::read_to_string(folder.path().join(name)).unwrap());
    let is_alive = |pid: &String| {
        let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    };
    assert!(pids.iter().all(is_alive));
    servers.end().await;
    until("something is left", || !pids.iter().any(is_alive)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_do_not_work_are_left_out_and_the_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = Server {
        name: "nowhere".into(),
        reach: Reach::Program(Start {
            words: vec!["/nowhere/at/all".into()],
            directory: folder.path().to_owned(),
            environment: Vec::new(),
        }),
    };
    let wanted = vec![
        nowhere,
        program(folder.path(), "dies", "echo 'no such database' >&2; exit 1"),
        program(folder.path(), "shell", SCRIPT),
    ];
    let (servers, mut troubles) = Servers::connect(wanted, LONG).await;
    // These never answer, however long they are waited for; they are waited for at the same time.
    let mute = ["silent", "babbles"].map(|name| program(folder.path(), name, "echo hello; sleep 1000"));
    let (nobody, more) = Servers::connect(mute.to_vec(), Duration::from_secs(1)).await;
    assert!(nobody.tools().is_empty());
    troubles.extend(more);
    assert_eq!(troubles.len(), 4, "{troubles:?}");
    let said = |name: &str| {
        let trouble = |trouble: &&Trouble| trouble.server == name;
        troubles.iter().find(trouble).map(ToString::to_string).unwrap_or_default()
    };
    assert!(said("nowhere").contains("does not start"), "{}", said("nowhere"));
    assert!(said("dies").contains("it says: no such database"), "{}", said("dies"));
    assert!(said("silent").contains("the MCP server silent is left out"), "{}", said("silent"));
    assert_eq!(call(&servers, "shell_echo", json!({"said": "x"})).await.as_text(), "you said x");
    servers.end().await;
}

/// Answers over HTTP, one request to a connection, and keeps the first lines and headers of what it was asked.
fn address() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|count| count > 0) {}
            let length =
                head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            let _ = reader.read_exact(&mut body);
            let request: Value = serde_json::from_slice(&body).unwrap_or_default();
            kept.lock().unwrap().push(format!("{head}{request}"));
            let result = match request["method"].as_str() {
                Some("initialize") => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "web", "version": "1"}}),
                Some("tools/list") => json!({"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]}),
                Some("tools/call") => json!({"content": [], "structuredContent": {"answer": 42}}),
                _ => Value::Null,
            };
            let answer = if result.is_null() {
                let status = if head.starts_with("POST") { "202 Accepted" } else { "405 Method Not Allowed" };
                format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            } else {
                let body = json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
                format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
            };
            let _ = reader.get_mut().write_all(answer.as_bytes());
        }
    });
    (url, asked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_an_address_are_called_with_its_headers() {
    let (url, asked) = address();
    let headers = vec![("authorization".to_owned(), "Bearer secret".to_owned())];
    let server = Server { name: "web".into(), reach: Reach::Address { url, headers } };
    assert!(!format!("{server:?}").contains("secret"));
    let (servers, troubles) = Servers::connect(vec![server], LONG).await;
    assert_eq!(troubles, []);
    assert_eq!(call(&servers, "web_ask", json!({})).await.as_text(), r#"{"answer":42}"#);
    let asked = asked.lock().unwrap().clone();
    assert!(asked.iter().all(|request| request.contains("authorization: Bearer secret")), "{asked:?}");
    servers.end().await;
}
