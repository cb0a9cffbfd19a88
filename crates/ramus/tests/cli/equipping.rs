//! What a turn is equipped with: tables of settings, projects that are trusted, agents, models.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use ramus_testkit::model_server::{Format, ModelServer, Plan, Reply};
use serde_json::{Value, json};

use crate::world::{Ran, World, snapshot, transcript};

fn world() -> World {
    World::new().with("PATH", "/usr/local/bin:/usr/bin:/bin")
}

/// A script that runs one command and says what came of it.
pub(crate) fn script_of(world: &World, name: &str, command: &str) -> String {
    let call = json!({"name": "bash", "arguments": {"command": command}});
    let script = json!({"answers": [{"steps": [{"call": call}]}, {"steps": [{"text": "Done."}]}]});
    world.file(name, &script.to_string())
}

fn config(world: &World, text: &str) {
    fs::write(world.path("home/config.toml"), text).unwrap();
}

fn project_config(world: &World, text: &str) {
    fs::create_dir_all(world.path("project/.ramus")).unwrap();
    fs::write(world.path("project/.ramus/config.toml"), text).unwrap();
}

pub(crate) fn last_event(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap()
}

const TABLES: &str = r#"# mine
default_model = "local/small"

[permission]
edit = "allow"

[permission.bash]
"cargo *" = "allow"

[agents.review]
description = "Reads and comments"
read_only = true

[providers.local]
base_url = "http://ada:hunter2@127.0.0.1:9/v1?key=hunter2"
key_env = "LOCAL_KEY"
headers = { x-secret = "hunter2" }

[mcp.files]
command = "files"
args = ["--token", "hunter2"]
env = { TOKEN = "hunter2", OTHER = { env = "OTHER_TOKEN" } }
enabled = false
"#;

#[test]
fn tables_are_shown_and_secrets_are_not() {
    let world = world();
    config(&world, TABLES);
    let said = [transcript(&world, &["config", "show"]), transcript(&world, &["config", "show", "--json"])].join("\n");
    assert!(!said.contains("hunter2"), "{said}");
    snapshot!("settings_tables", world.tame(&said));
    world.ok(&["config", "set", "owner", "ada", "-q"]);
    let text = fs::read_to_string(world.path("home/config.toml")).unwrap();
    assert_eq!(world.json(&["config", "get", "owner"])["value"], "ada", "{text}");
    assert!(text.contains("# mine") && text.contains("[mcp.files]"), "{text}");
}

#[test]
fn a_wrong_file_is_told_by_file_and_line() {
    let world = world();
    config(&world, "[mcp.files]\ncommand = \"x\"\n\n[agents.a]\npromt = \"hi\"\n");
    let ran = world.run(&["list"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("config.toml, line 5: an agent has no \"promt\""), "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean \"prompt\"?"), "{}", ran.stderr);
}

#[test]
fn a_project_counts_when_it_is_trusted_and_not_after_a_change() {
    let world = world();
    project_config(&world, "[permission]\nbash = \"allow\"\n");
    let script = script_of(&world, "script.json", "touch made.txt");
    let made = world.path("project/made.txt");
    let mut said = Vec::new();
    let run = |expected: bool| {
        let ran = world.run(&["run", "go", "--script", &script]);
        assert_eq!(made.exists(), expected, "{}", ran.stderr);
        let _ = fs::remove_file(&made);
        ran.stderr.contains("does not count, because it is not trusted")
    };
    assert!(run(false));
    said.push(transcript(&world, &["trust"]));
    assert!(!run(true));
    project_config(&world, "[permission]\nbash = \"allow\"\n\n[mcp.own]\ncommand = \"own\"\nargs = [\"a\"]\n");
    assert!(run(false), "one byte makes it inert");
    said.push(transcript(&world, &["trust", "--json"]));
    said.push(transcript(&world, &["trust", "--list"]));
    said.push(transcript(&world, &["trust", "--revoke"]));
    assert!(run(false));
    assert_eq!(fs::metadata(world.path("home/trust.json")).unwrap().permissions().mode() & 0o777, 0o600);
    snapshot!("trust", world.tame(&said.join("\n")));
}

#[test]
fn a_project_cannot_take_keys_or_hide_behind_links() {
    let world = world();
    project_config(&world, "[providers.openai]\nbase_url = \"http://127.0.0.1:9\"\n");
    let ran = world.run(&["trust"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("the provider openai is the user's"), "{}", ran.stderr);
    assert!(!world.path("home/trust.json").exists());
    fs::remove_file(world.path("project/.ramus/config.toml")).unwrap();
    let elsewhere = world.file("elsewhere.toml", "[permission]\nbash = \"allow\"\n");
    symlink(elsewhere, world.path("project/.ramus/config.toml")).unwrap();
    let ran = world.run(&["trust"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stderr.contains("it is a link"), "{}", ran.stderr);
}

#[test]
fn an_agent_is_recorded_kept_and_changes_what_is_allowed() {
    let world = world();
    let write = json!({"name": "write", "arguments": {"path": "new.txt", "content": "x"}});
    let script = json!({"answers": [{"steps": [{"call": write}]}, {"steps": [{"text": "Done."}]}]});
    let script = world.file("script.json", &script.to_string());
    let run = |more: &[&str]| {
        let ran =
            world.run(&[&["run", "go", "--script", &script, "--permission", "all=allow", "--json"], more].concat());
        let end = last_event(&ran);
        let made = world.path("project/new.txt");
        let was_made = made.exists();
        let _ = fs::remove_file(made);
        (end["session"].as_str().unwrap().to_owned(), was_made)
    };
    let (session, made) = run(&["--agent", "plan"]);
    assert!(!made, "whatever is allowed, a plan changes nothing");
    let mode = |expected: &str| assert_eq!(world.json(&["context", &session])["mode"], expected);
    mode("plan");
    assert!(!run(&["-s", &session]).1, "the session keeps its agent");
    assert!(run(&["-s", &session, "--agent", "build"]).1);
    mode("build");
    let changes = world.json(&["tree", &session, "--all"]);
    let changes = changes["entries"].as_array().unwrap().iter().filter(|entry| entry["type"] == "mode_change").count();
    assert_eq!(changes, 2, "only what differs is recorded");
    let ran = world.run(&["run", "go", "--script", &script, "--agent", "biuld"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean \"build\"?"), "{}", ran.stderr);
}

#[test]
fn an_agent_of_ones_own_asks_its_own_model_with_its_own_prompt_and_tools() {
    let server = ModelServer::start(Plan::of([Reply::text("Fine."), Reply::text("Again.")])).unwrap();
    let world = world().with("LOCAL_KEY", "k").with("RAMUS_TITLES", "off");
    let url = server.base_url(Format::Chat);
    config(
        &world,
        &format!(
            "default_model = \"openai/other\"\n[agents.review]\nprompt = \"You review things.\"\n\
             model = \"local/gpt-5\"\ntools = [\"read\", \"gr*\"]\n\
             [providers.local]\nkind = \"openai\"\nbase_url = \"{url}\"\nkey_env = \"LOCAL_KEY\"\n"
        ),
    );
    let end = last_event(&world.run(&["run", "look", "--agent", "review", "--json"]));
    let session = end["session"].as_str().unwrap();
    assert_eq!(world.json(&["state", session])["models"]["default"], "local/gpt-5");
    last_event(&world.run(&["run", "again", "-s", session, "--json"]));
    // What a server on this machine can do is asked first; that is not part of it.
    let asked: Vec<_> = server.requests().into_iter().filter(|request| request.line.starts_with("POST")).collect();
    assert_eq!(asked.len(), 2);
    for request in asked {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let tools: Vec<&str> =
            body["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
        assert_eq!(tools, ["read", "grep"]);
        assert!(body["messages"][0]["content"].to_string().contains("You review things."), "{body}");
    }
    assert_eq!(server.illegal(), []);
    let ran = world.run(&["run", "hi", "--model", "nowhere/x"]);
    assert!(ran.stderr.contains("ramus models"), "{}", ran.stderr);
    let ran = World::new().run(&["run", "hi", "--model", "anthropic/claude-sonnet-5"]);
    assert!(ran.stderr.contains("ANTHROPIC_API_KEY") && ran.stderr.contains("ramus models"), "{}", ran.stderr);
}

#[test]
fn rules_of_a_session_are_its_own_and_a_fork_keeps_only_what_they_forbid() {
    let world = world();
    let session = world.ok(&["new", "--permission", "bash=allow", "--permission", "bash:touch forbidden*=deny"]);
    let rules = world.json(&["show", &session])["session"]["permission"].clone();
    assert_eq!(rules[0], json!({"permission": "bash", "pattern": "*", "action": "allow"}));
    assert_eq!(world.json(&["list", "--drafts"])["sessions"][0]["permission"], rules);
    let allowed = script_of(&world, "allowed.json", "touch made.txt");
    let forbidden = script_of(&world, "forbidden.json", "touch forbidden.txt");
    let run = |session: &str, script: &str, file: &str| {
        last_event(&world.run(&["run", "go", "-s", session, "--script", script, "--json"]));
        let file = world.path("project").join(file);
        let made = file.exists();
        let _ = fs::remove_file(file);
        made
    };
    assert!(run(&session, &allowed, "made.txt"));
    assert!(!run(&session, &forbidden, "forbidden.txt"));
    let fork = world.json(&["fork", &session])["session"]["id"].as_str().unwrap().to_owned();
    assert!(!run(&fork, &allowed, "made.txt"), "what the origin was allowed");
    let listed = world.json(&["permissions", &fork]);
    let of_session: Vec<&Value> =
        listed["rules"].as_array().unwrap().iter().filter(|rule| rule["layer"] == "session").collect();
    let expected = json!({"layer": "session", "permission": "bash", "pattern": "touch forbidden*", "action": "deny"});
    assert_eq!(of_session, [&expected]);
    // A file that another program owns allows nothing either.
    let path = world.json(&["show", &session])["session"]["path"].as_str().unwrap().to_owned();
    let copy = world.path("project/copy.jsonl");
    fs::copy(path, &copy).unwrap();
    let listed = world.json(&["permissions", copy.to_str().unwrap()]);
    assert!(
        !listed["rules"].as_array().unwrap().iter().any(|rule| rule["layer"] == "session" && rule["action"] == "allow")
    );
    assert_eq!(world.run(&["new", "--permission", "bash"]).code, 2);
}

/// Answers like Ollama, as often as it is asked.
fn ollama() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let mut first = String::new();
            let _ = reader.read_line(&mut first);
            let body = if first.contains("/api/tags") {
                json!({"models": [{"name": "tiny:1b"}]})
            } else {
                json!({"model_info": {"llama.context_length": 4096}, "capabilities": ["tools"]})
            };
            let body = body.to_string();
            let answer =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
            let _ = reader.get_mut().write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn models_tell_what_can_be_asked_now_and_why_not() {
    let world = world().with("ANTHROPIC_API_KEY", "k").with("OLLAMA_HOST", &ollama());
    let listed = world.json(&["models"]);
    let find = |name: &str| {
        let all = listed["models"].as_array().unwrap().iter();
        all.clone().find(|model| model["name"] == name).unwrap_or_else(|| panic!("{name}: {listed}")).clone()
    };
    let sonnet = find("claude-sonnet-5");
    assert_eq!((&sonnet["available"], &sonnet["reason"]), (&json!(true), &Value::Null));
    assert!(sonnet["window"].as_u64().unwrap() > 0 && sonnet["prices"]["input"].as_u64().unwrap() > 0, "{sonnet}");
    let gpt = find("gpt-5");
    assert_eq!(gpt["available"], false);
    assert!(gpt["reason"].as_str().unwrap().contains("OPENAI_API_KEY"), "{gpt}");
    let tiny = find("tiny:1b");
    assert_eq!(
        (&tiny["provider"], &tiny["window"], &tiny["available"]),
        (&json!("ollama"), &json!(4096), &json!(true))
    );
    let names = |arguments: &[&str]| -> Vec<String> {
        let listed = world.json(&[&["models"], arguments].concat());
        listed["models"].as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["--provider", "ollama"]), ["tiny:1b"]);
    assert_eq!(names(&["ollama/TINY"]), ["tiny:1b"]);
    assert!(names(&["--available"]).iter().all(|name| name.contains("claude") || name == "tiny:1b"));
    let text = world.ok(&["models", "tiny"]);
    assert!(text.contains("ollama/tiny:1b") && text.contains("4,096") && text.contains("free"), "{text}");
}

/// An MCP server in a few lines of shell, with a tool that echoes.
const SERVER: &str = r#"
echo $$ > server.pid
while IFS= read -r line; do
  id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$line")
  answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case $line in
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}' ;;
    *'"method":"tools/list"'*) answer '{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*) answer '{"content":[{"type":"text","text":"echoed '"${GIVEN}/${SOME_TOKEN}"'"}]}' ;;
  esac
done
"#;

#[test]
fn tools_of_servers_are_asked_about_and_a_broken_server_stops_nothing() {
    let world = world().with("SOME_TOKEN", "hunter2").with("GIVEN_HERE", "given");
    let server = world.file("server.sh", SERVER);
    config(
        &world,
        &format!(
            "[mcp.shell]\ncommand = \"/bin/bash\"\nargs = [\"{server}\"]\nenv = {{ GIVEN = {{ env = \"GIVEN_HERE\" }} }}\n\
             [mcp.broken]\ncommand = \"/nowhere/at/all\"\n[mcp.off]\ncommand = \"/nowhere/either\"\nenabled = false\n"
        ),
    );
    let call = json!({"name": "shell_echo", "arguments": {}});
    let script = json!({"answers": [{"steps": [{"call": call}]}, {"steps": [{"text": "Done."}]}]});
    let script = world.file("script.json", &script.to_string());
    let run = |more: &[&str]| {
        let ran = world.run(&[&["run", "go", "--script", &script, "--json"], more].concat());
        last_event(&ran);
        let result = ran.stdout.lines().find(|line| line.contains("tool.end")).unwrap().to_owned();
        (result, ran.stderr)
    };
    let (result, said) = run(&[]);
    assert!(result.contains("--permission shell_echo=allow"), "{result}");
    assert_eq!(said.matches("is left out").count(), 1, "{said}");
    assert!(said.contains("the MCP server broken is left out"), "{said}");
    let (result, _) = run(&["--permission", "shell_echo=allow"]);
    assert!(result.contains("echoed given/") && !result.contains("hunter2"), "{result}");
    let pid = fs::read_to_string(world.path("project/server.pid")).unwrap();
    assert!(!std::path::Path::new("/proc").join(pid.trim()).join("cwd").exists(), "it ended with the turn");
    let (result, said) = run(&["--permission", "all=allow", "--agent", "explore"]);
    assert!(result.contains("there is no tool") && !said.contains("left out"), "{result} {said}");
}
