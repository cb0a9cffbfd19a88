//! Turns at a server, what lets a client in, and what it says when it is not let in.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::afar::{Server, TOKEN};
use crate::equipping::script_of;
use crate::person;
use crate::running::events;
use crate::world::World;

fn world() -> World {
    World::new().with("PATH", "/usr/local/bin:/usr/bin:/bin")
}

const SCRIPT: &str = r#"
[[answers]]
steps = [{ text = "Let me look. " }, { call = { name = "read", arguments = { path = "a.txt" } } }]
[[answers]]
steps = [{ text = "It says hello." }]
"#;

#[test]
fn a_turn_is_shown_as_if_it_ran_here() {
    let world = world().with("RAMUS_TOKEN", TOKEN);
    world.file("a.txt", "hello world\n");
    let script = world.file("script.toml", SCRIPT);
    let server = Server::start(&world, &["--port", "0", "--script", &script]);
    let here = world.run(&["run", "what is in it?", "--script", &script]);
    let there = world.run(&["--server", &server.address, "run", "what is in it?"]);
    assert_eq!((there.code, &there.stdout), (0, &here.stdout), "{}", there.stderr);
    assert!(there.stderr.contains("read a.txt") && there.stderr.contains("tokens"), "{}", there.stderr);
    let told = events(&world.run(&["--server", &server.address, "run", "-c", "again", "--json"]).stdout);
    let end = told.last().unwrap();
    assert_eq!((&end["type"], &end["finish_reason"]), (&Value::from("turn_end"), &Value::from("stop")));
    for name in ["turn.start", "message.delta", "tool.start", "tool.end", "entry.appended", "turn.end"] {
        assert!(told.iter().any(|event| event["type"] == name), "{name} is missing in {told:?}");
    }
    // What was answered again is beside the first answer.
    let session = end["session"].as_str().unwrap();
    let before = world.json(&["show", session])["session"]["leaves"].as_array().unwrap().len();
    let again = world.run(&["--server", &server.address, "run", "-s", session, "--regenerate"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(world.json(&["show", session])["session"]["leaves"].as_array().unwrap().len(), before + 1);
}

#[test]
fn a_chat_at_a_server_takes_line_after_line() {
    let world = world().with("RAMUS_TOKEN", TOKEN);
    world.file("a.txt", "hello world\n");
    let script = world.file("script.toml", SCRIPT);
    let server = Server::start(&world, &["--port", "0", "--script", &script]);
    let ran = world.run_with("what is in it?\n/label here\n/tree\n/cost\n", &["--server", &server.address, "chat"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("It says hello.") && ran.stdout.contains("here"), "{}", ran.stdout);
    assert!(ran.stdout.contains("tokens"), "{}", ran.stdout);
}

#[test]
fn what_a_turn_asks_is_asked_here() {
    let world = world().with("RAMUS_TOKEN", TOKEN);
    let script = script_of(&world, "script.json", "touch made.txt");
    let server = Server::start(&world, &["--port", "0", "--script", &script]);
    let made = world.path("project").join("made.txt");
    // Nobody can be asked.
    assert_eq!(world.run(&["--server", &server.address, "run", "go"]).code, 0);
    assert!(!made.exists());
    person::run(&world, &["--server", &server.address, "run", "go"], &["n"]);
    assert!(!made.exists());
    person::run(&world, &["--server", &server.address, "run", "go"], &["y"]);
    assert!(made.exists());
}

#[test]
fn an_interrupt_cancels_the_turn_at_the_server() {
    let world = world().with("RAMUS_TOKEN", TOKEN);
    let script = script_of(&world, "script.json", "sleep 60");
    let server = Server::start(&world, &["--port", "0", "--script", &script]);
    let arguments = ["--server", &server.address, "run", "wait", "--permission", "bash=allow", "--json"];
    let mut child = world.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("tool.start") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the turn ended before the call");
    }
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let started = Instant::now();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(events(&rest).last().unwrap()["finish_reason"], "cancelled");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "this is what it is about: nobody is there for a while")]
fn a_turn_that_ended_with_its_server_is_told_as_that() {
    let world = world().with("RAMUS_TOKEN", TOKEN);
    let script = script_of(&world, "script.json", "sleep 60");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let serve = ["--port", port.as_str(), "--script", &script];
    let server = Server::start(&world, &serve);
    let arguments = ["--server", &server.address, "run", "wait", "--permission", "bash=allow", "--json"];
    let mut child = world.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("tool.start") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the turn ended before the call");
    }
    // It is killed, and started anew after a while.
    drop(server);
    std::thread::sleep(Duration::from_secs(2));
    let _server = Server::start(&world, &serve);
    let (mut rest, mut said) = (String::new(), String::new());
    out.read_to_string(&mut rest).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_ne!(child.wait().unwrap().code(), Some(0), "{rest}");
    assert!(said.contains("the server ended while this turn ran"), "{said}");
}

#[test]
fn who_follows_a_session_is_told_what_is_added() {
    let world = world().with("RAMUS_TOKEN", TOKEN);
    let session = world.branched();
    let server = Server::start(&world, &["--port", "0"]);
    let arguments = ["--server", &server.address, "tail", &session, "-n", "1", "--follow", "--json"];
    let mut child = world.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let said = world.say(&session, "user", "one more");
    line.clear();
    out.read_line(&mut line).unwrap();
    assert_eq!(line.trim_end(), world.ok(&["entry", &format!("{session}@{said}")]));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_token_is_given_in_several_ways_and_kept_when_it_is_the_right_one() {
    let world = World::new();
    world.branched();
    let server = Server::start(&world, &["--port", "0"]);
    let list = ["--server", &server.address, "list", "--all", "--drafts"];
    let expected = world.ok(&["list", "--all", "--drafts"]);
    let refused = world.run(&list);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("login"), "{}", refused.stderr);
    let file = world.file("token", &format!("{TOKEN}\n"));
    let open = world.run(&[&["--token-file", &file], list.as_slice()].concat());
    assert_eq!(open.code, 2, "others may read it: {}", open.stderr);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(world.ok(&[&["--token-file", &file], list.as_slice()].concat()), expected);
    for sign in ['#', '?'] {
        let login = format!("{}/login{sign}token={TOKEN}", server.address);
        assert_eq!(world.ok(&["--server", &login, "list", "--all", "--drafts"]), expected);
    }
    let wrong = world.run_with("ffffffffffffffffffff\n", &["--server", &server.address, "login"]);
    assert_eq!(wrong.code, 1, "{}", wrong.stderr);
    assert!(!wrong.stderr.contains("ffffffff"), "{}", wrong.stderr);
    let right = world.run_with(&format!("{TOKEN}\n"), &["--server", &server.address, "login"]);
    assert_eq!(right.code, 0, "{}", right.stderr);
    assert!(!format!("{}{}", right.stdout, right.stderr).contains(TOKEN));
    let kept = std::fs::metadata(world.path("home/servers.json")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);
    assert_eq!(world.ok(&list), expected);
    let in_environment = world.command(&["list", "--all", "--drafts"]).env("RAMUS_SERVER", &server.address).output();
    assert_eq!(String::from_utf8(in_environment.unwrap().stdout).unwrap().trim_end(), expected);
    world.ok(&["--server", &server.address, "login", "--forget"]);
    assert_eq!(world.run(&list).code, 1);
}

#[test]
fn a_socket_in_the_file_system_is_a_server_too() {
    let world = World::new().with("RAMUS_TOKEN", TOKEN);
    world.branched();
    let path = world.path("s");
    let server = Server::start(&world, &["--socket", path.to_str().unwrap()]);
    assert_eq!(server.address, format!("unix:{}", path.display()));
    let there = world.ok(&["--server", &server.address, "list", "--all", "--drafts", "--json"]);
    assert_eq!(there, world.ok(&["list", "--all", "--drafts", "--json"]));
}

#[test]
fn what_is_no_server_is_told_apart() {
    let world = World::new().with("RAMUS_TOKEN", TOKEN);
    for wrong in ["localhost:1", "ftp://a", "http://a/b", "unix:"] {
        let ran = world.run(&["--server", wrong, "list"]);
        assert_eq!(ran.code, 2, "{wrong}: {}", ran.stderr);
    }
    let nobody = world.run(&["--server", "http://127.0.0.1:9", "list"]);
    assert_eq!(nobody.code, 1, "{}", nobody.stderr);
    assert!(nobody.stderr.contains("cannot reach") && nobody.stderr.contains("ramus serve"), "{}", nobody.stderr);
    let body = r#"{"hello":"there"}"#;
    let plain = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let other = r#"{"schema_version":9,"sessions":[]}"#;
    let newer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{other}", other.len());
    let away = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n".to_owned();
    for (answer, expected) in [(plain, "no ramus server"), (newer, "version 9"), (away, "sends elsewhere")] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let ran = world.run(&["--server", &address, "list", "--all"]);
        answering.join().unwrap();
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
        assert!(!ran.stderr.contains(TOKEN));
    }
}

/// Makes a certificate for 127.0.0.1 and an authority that signs it; none without the program that does.
fn certificate(world: &World) -> Option<()> {
    let openssl = |arguments: &[&str]| {
        let mut command = Command::new("openssl");
        let made = command.args(arguments).current_dir(world.path("user")).stderr(Stdio::null()).stdout(Stdio::null());
        made.status().ok()?.success().then_some(())
    };
    std::fs::write(world.path("user/names"), "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n").unwrap();
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    openssl(
        &[&["req", "-x509"], &key[..], &["-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test"]]
            .concat(),
    )?;
    openssl(&[&["req"], &key[..], &["-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=127.0.0.1"]].concat())?;
    let sign = ["x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
    openssl(&[&sign[..], &["-out", "cert.pem", "-days", "2", "-extfile", "names"]].concat())
}

#[test]
fn what_is_encrypted_is_understood_by_whoever_trusts_the_certificate() {
    let world = World::new().with("RAMUS_TOKEN", TOKEN);
    world.branched();
    if certificate(&world).is_none() {
        eprintln!("skipped: there is no openssl on this machine");
        return;
    }
    let path = |name: &str| world.path("user").join(name).display().to_string();
    let (cert, key, authority) = (path("cert.pem"), path("key.pem"), path("ca.pem"));
    let server = Server::start(&world, &["--port", "0", "--tls-cert", &cert, "--tls-key", &key]);
    assert!(server.address.starts_with("https://127.0.0.1:"), "{}", server.address);
    let list = ["list", "--all", "--drafts", "--json"];
    let trusted = world.ok(&[&["--server", &server.address, "--cacert", &authority], list.as_slice()].concat());
    assert_eq!(trusted, world.ok(&list));
    let stranger = world.run(&[&["--server", &server.address], list.as_slice()].concat());
    assert_eq!(stranger.code, 1, "{}", stranger.stderr);
    assert!(stranger.stderr.contains("cannot reach"), "{}", stranger.stderr);
    let plain = world.run(&["--server", &server.address.replace("https", "http"), "list"]);
    assert_eq!(plain.code, 1, "{}", plain.stderr);
    // What is wrong with the files is said before anything listens.
    let broken = world.file("broken.pem", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
    let none = world.file("none.pem", "nothing\n");
    for (cert, key, expected) in [
        (&broken, &key, "not PEM"),
        (&none, &key, "no certificate"),
        (&cert, &none, "no private key"),
        (&authority, &key, "cannot be used"),
    ] {
        let ran = world.run(&["serve", "--port", "0", "--tls-cert", cert, "--tls-key", key]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    }
}

#[test]
fn a_certificate_that_is_its_own_authority_is_trusted_when_it_is_named() {
    let world = World::new().with("RAMUS_TOKEN", TOKEN);
    world.branched();
    let own = |name: &str| {
        let path = |end: &str| world.path("user").join(format!("{name}.{end}")).display().to_string();
        let (cert, key) = (path("pem"), path("key"));
        // No more than a user would say.
        let mut command = Command::new("openssl");
        command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        command.args(["-keyout", &key, "-out", &cert, "-subj", "/CN=localhost"]);
        command.args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
        let made = command.stderr(Stdio::null()).stdout(Stdio::null()).status();
        made.is_ok_and(|status| status.success()).then_some((cert, key))
    };
    let (Some((cert, key)), Some((other, _))) = (own("own"), own("other")) else {
        eprintln!("skipped: there is no openssl on this machine");
        return;
    };
    let server = Server::start(&world, &["--port", "0", "--tls-cert", &cert, "--tls-key", &key]);
    let list = ["list", "--all", "--drafts", "--json"];
    let trusted = world.ok(&[&["--server", &server.address, "--cacert", &cert], list.as_slice()].concat());
    assert_eq!(trusted, world.ok(&list));
    // Another one of the same name is not it.
    let stranger = world.run(&[&["--server", &server.address, "--cacert", &other], list.as_slice()].concat());
    assert_eq!(stranger.code, 1, "{}", stranger.stderr);
}
