//! Homes and settings: which layer wins, and where it says so.

use crate::world::{World, snapshot, transcript};

#[test]
fn the_latter_layers_win_and_say_so() {
    let world = World::new();
    let session = world.session();
    let mut said = Vec::new();
    for arguments in [
        &["config", "show"][..],
        &["config", "set", "default_model", "demo/small"],
        &["config", "get", "default_model"],
        &["config", "get", "default_model", "--json"],
        &["config", "set", "layout", "omp", "--json"],
        &["config", "show", "--json"],
        &["state", &session],
    ] {
        said.push(transcript(&world, arguments));
    }
    let world = world.with("RAMUS_DEFAULT_MODEL", "loud/large");
    for arguments in [&["config", "show"][..], &["config", "set", "default_model", "demo/tiny"], &["state", &session]] {
        said.push(transcript(&world, arguments));
    }
    snapshot!("settings", world.tame(&said.join("\n")));
}

#[test]
fn a_setting_that_does_not_exist_stops_everything() {
    let world = World::new();
    std::fs::write(world.path("home/config.toml"), "# mine\ndefault_modle = \"a/b\"\n").unwrap();
    let ran = world.run(&["list"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean \"default_model\"?"), "{}", ran.stderr);
}

#[test]
fn comments_survive_a_change() {
    let world = World::new();
    let path = world.path("home/config.toml");
    std::fs::write(&path, "# mine\nowner = \"ada\" # me\n").unwrap();
    world.ok(&["config", "set", "default_model", "a/b", "-q"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "# mine\nowner = \"ada\" # me\ndefault_model = \"a/b\"\n");
    let session = world.json(&["new"])["session"]["id"].as_str().unwrap().to_owned();
    assert_eq!(world.json(&["show", &session])["session"]["owner"], "ada");
    assert_eq!(world.json(&["list", "--drafts", "--owner", "bob"])["sessions"], serde_json::json!([]));
    // Whoever makes a session: a turn, or a parent, whose own owner goes first.
    let script = world.file("script.toml", "answers = [{ steps = [{ text = \"hello\" }] }]");
    world.ok(&["run", "hello", "--script", &script, "-q"]);
    let count = |owner: &str| {
        let list = world.json(&["list", "--drafts", "--owner", owner]);
        list["sessions"].as_array().unwrap().len()
    };
    assert_eq!((count("ada"), count("default")), (2, 0));
    let other = world.json(&["new", "--owner", "bob"])["session"]["id"].as_str().unwrap().to_owned();
    world.ok(&["new", "--parent", &other, "-q"]);
    world.ok(&["new", "--owner", "default", "-q"]);
    assert_eq!((count("ada"), count("bob"), count("default")), (2, 2, 1));
}

#[test]
fn homes_are_found_by_flag_then_variable_then_data_directory() {
    let world = World::new();
    let path = |extra: &[&str], environment: &[(&str, &str)]| {
        let mut command = world.command(&[&["new", "--json"], extra].concat());
        command.envs(environment.iter().copied());
        let output = command.output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        world.tame(answer["session"]["path"].as_str().unwrap())
    };
    let data = world.path("data").display().to_string();
    let flag = world.path("flag").display().to_string();
    assert!(path(&["--home", &flag], &[]).starts_with("[world]/flag/drafts/"));
    assert!(path(&[], &[]).starts_with("[world]/home/drafts/"));
    assert!(path(&[], &[("RAMUS_HOME", ""), ("XDG_DATA_HOME", &data)]).starts_with("[world]/data/ramus/drafts/"));
    assert!(path(&[], &[("RAMUS_HOME", "")]).starts_with("[world]/user/.local/share/ramus/drafts/"));
    assert!(path(&["--home", "relative"], &[]).starts_with("[world]/project/relative/drafts/"));
}

#[test]
fn the_layout_of_directories_is_a_setting() {
    for (layout, directory) in [("pi", "--nowhere-project--"), ("omp", "--nowhere-project--")] {
        let world = World::new().with("RAMUS_LAYOUT", layout);
        let session = world.ok(&["new", "--cwd", "/nowhere/project"]);
        world.say(&session, "assistant", "published");
        assert!(world.path("home/sessions").join(directory).is_dir(), "{layout}");
    }
    let world = World::new().with("RAMUS_LAYOUT", "omp");
    let session = world.ok(&["new", "--cwd", &world.path("user/code").display().to_string()]);
    world.say(&session, "assistant", "published");
    assert!(world.path("home/sessions/-code").is_dir());
}

#[test]
fn durability_is_chosen_by_the_user_alone() {
    let world = World::new();
    assert_eq!(world.json(&["config", "get", "durability"])["value"], "full");
    assert_eq!(world.run(&["config", "set", "durability", "never"]).code, 2);
    world.ok(&["config", "set", "durability", "turn"]);
    let session = world.session();
    world.say(&session, "user", "hello");
    assert_eq!(world.json(&["show", &session])["messages"][0]["text"], "hello");
    let world = world.with("RAMUS_DURABILITY", "os");
    assert_eq!(world.json(&["config", "get", "durability"])["source"], "environment");
    // What a project brings along is not asked.
    for name in ["config.toml", "ramus.toml", ".ramus.toml"] {
        world.file(name, "durability = \"full\"\n");
    }
    assert_eq!(world.json(&["config", "get", "durability"])["value"], "os");
}
