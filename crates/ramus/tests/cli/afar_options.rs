//! What is sent along to a server: rules, files, scripts; and what of it a server refuses.

use std::fs;

use crate::afar::{Server, TOKEN};
use crate::world::World;

const HELLO: &str = "[[answers]]\nsteps = [{ text = \"Hello from the script.\" }]\n";
const OTHER: &str = "[[answers]]\nsteps = [{ text = \"Hello from the server.\" }]\n";

fn world() -> World {
    World::new().with("PATH", "/usr/local/bin:/usr/bin:/bin").with("RAMUS_TOKEN", TOKEN)
}

#[test]
fn rules_of_a_session_that_is_made_at_a_server_hold_there() {
    let world = world();
    let server = Server::start(&world, &["--port", "0"]);
    let rules = ["--permission", "bash:cargo *=allow", "--permission", "edit=deny"];
    let here = world.ok(&[&["new"], rules.as_slice()].concat());
    let there = world.ok(&[&["--server", &server.address, "new"], rules.as_slice()].concat());
    let rules = |session: &str| world.json(&["permissions", session])["rules"].clone();
    assert_eq!(rules(&there), rules(&here));
    assert!(rules(&there).to_string().contains("cargo *"));
}

#[test]
fn sessions_are_given_away_by_the_user_of_the_home_alone() {
    let world = world();
    let prompter = "fedcba9876543210fedcba9876543210";
    let tokens = world.file("tokens", &format!("{TOKEN}\nbob {prompter} prompt\n"));
    fs::set_permissions(&tokens, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let server = Server::start(&world, &["--port", "0", "--token-file", &tokens]);
    let theirs = world.ok(&["--server", &server.address, "new", "--owner", "bob"]);
    assert_eq!(world.json(&["show", &theirs])["session"]["owner"], "bob");
    let bob = |arguments: &[&str]| {
        let mut command = world.command(&[&["--server", &server.address], arguments].concat());
        command.env("RAMUS_TOKEN", prompter).output().unwrap()
    };
    assert!(bob(&["new", "--owner", "bob"]).status.success());
    let own = bob(&["list", "--all", "--drafts", "--owner", "bob", "--json"]);
    assert!(own.status.success() && String::from_utf8_lossy(&own.stdout).contains(theirs.trim()), "{own:?}");
    // Nobody is told that there is nothing where they may not look.
    let others = world.run(&["--server", &server.address, "list", "--all", "--owner", "bob"]);
    assert!(others.code == 1 && others.stderr.contains("one owner"), "{}", others.stderr);
    for refused in
        [&["new", "--owner", "default"][..], &["new", "--permission", "bash=allow"], &["list", "--owner", "may"]]
    {
        let ran = bob(refused);
        assert_eq!(ran.status.code(), Some(1), "{refused:?}");
    }
}

#[test]
fn the_page_of_a_share_is_the_same_wherever_it_is_made() {
    let world = world();
    let session = world.branched();
    let server = Server::start(&world, &["--port", "0"]);
    let (here, there, shared) = (world.path("here.html"), world.path("there.html"), world.path("shared.html"));
    world.ok(&["share", &session, "--dry-run", "--html", here.to_str().unwrap()]);
    let afar = ["--server", &server.address, "share", &session];
    world.ok(&[&afar[..], &["--dry-run", "--html", there.to_str().unwrap()]].concat());
    assert_eq!(world.json(&["share", "--list"])["shares"].as_array().unwrap().len(), 0);
    world.ok(&[&afar[..], &["--yes", "--html", shared.to_str().unwrap()]].concat());
    let page = fs::read_to_string(here).unwrap();
    assert!(page.contains("names.sort()"));
    assert_eq!(page, fs::read_to_string(there).unwrap());
    assert_eq!(page, fs::read_to_string(shared).unwrap());
}

#[test]
fn a_script_is_played_by_servers_that_play_scripts() {
    let world = world();
    let (mine, theirs) = (world.file("mine.toml", HELLO), world.file("theirs.toml", OTHER));
    let run = ["run", "hello", "--script", &mine];
    let here = world.run(&run);
    let server = Server::start(&world, &["--port", "0", "--script", &theirs]);
    let there = world.run(&[&["--server", &server.address], &run[..]].concat());
    assert_eq!((there.code, &there.stdout), (0, &here.stdout), "{}", there.stderr);
    assert!(there.stderr.contains("scripted"), "{}", there.stderr);
    let models = Server::start(&world, &["--port", "0"]);
    let refused = world.run(&[&["--server", &models.address], &run[..]].concat());
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("plays no scripts"), "{}", refused.stderr);
    let chat = world.run_with("hello\n", &["--server", &server.address, "chat", "--script", &mine]);
    assert_eq!(chat.code, 2, "{}", chat.stderr);
    let missing = world.run(&["--server", &server.address, "run", "hello", "--script", "nosuch.toml"]);
    assert_eq!((missing.code, missing.stderr.contains("cannot read")), (3, true), "{}", missing.stderr);
}

#[test]
fn files_are_sent_along() {
    let world = world();
    let script = world.file("script.toml", HELLO);
    let server = Server::start(&world, &["--port", "0", "--script", &script]);
    let notes = world.file("notes.txt", "remember the milk\n");
    let picture = world.path("bytes.bin");
    fs::write(&picture, [0_u8, 159, 146, 150]).unwrap();
    let afar = ["--server", &server.address, "run", "look", "--attach", &notes];
    let ran = world.run(&[&afar[..], &["--attach", picture.to_str().unwrap()]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let said = world.json(&["show", "last"])["messages"][0]["text"].as_str().unwrap().to_owned();
    assert!(said.contains("remember the milk") && said.contains("name=\"notes.txt\""), "{said}");
    assert!(said.contains("name=\"bytes.bin\" bytes=\"4\" blob=\"sha256:"), "{said}");
    // The server could not read a path of this machine, so none is told.
    assert!(!said.contains("path="), "{said}");
    let twice = world.run(&[&afar[..], &["--attach", &notes]].concat());
    assert_eq!((twice.code, twice.stderr.contains("two attachments")), (1, true), "{}", twice.stderr);
    fs::write(&picture, vec![0_u8; 24 << 20]).unwrap();
    let large = world.run(&[&afar[..], &["--attach", picture.to_str().unwrap()]].concat());
    assert_eq!((large.code, large.stderr.contains("24 MiB")), (1, true), "{}", large.stderr);
}

#[test]
fn a_chat_at_a_server_lists_the_tools_of_its_turns() {
    let world = world();
    let script = world.file("script.toml", HELLO);
    let here = world.run_with("/tools\n", &["chat", "--script", &script]);
    let server = Server::start(&world, &["--port", "0", "--script", &script]);
    let there = world.run_with("/tools\n", &["--server", &server.address, "chat"]);
    assert!(here.stdout.contains("bash"), "{}", here.stdout);
    assert_eq!((there.code, there.stdout), (here.code, here.stdout), "{}", there.stderr);
    let plan = world.run_with("/agent plan\n/tools\n", &["--server", &server.address, "chat"]);
    let here = world.run_with("/agent plan\n/tools\n", &["chat", "--script", &script]);
    assert_eq!(plan.stdout, here.stdout, "{}", plan.stderr);
}
