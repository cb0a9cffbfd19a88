//! Settings: tables, what errors say, projects and trust, agents and their rules.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use ramus_engine::EngineError;
use ramus_engine::settings::project::{self, Trust};
use ramus_engine::settings::{Given, Layer, Reach, Settings, Source, choose_model};
use ramus_model::context::State;
use ramus_model::permission::{Action, Question, Rule, decide};
use ramus_model::request::Thinking;
use ramus_provider::wire::Api;

const FILE: &str = r#"
default_model = "openrouter/some/model"

[permission]
edit = "allow"
"docs_*" = "deny"

[permission.bash]
"*" = "ask"
"cargo *" = "allow"
"cargo publish*" = "deny"

[agents.review]
description = "Reads and comments"
prompt = "You review."
model = "anthropic/claude-opus-5"
tools = ["read", "docs_*"]
thinking = "high"
read_only = true
permission = { bash = { "git log *" = "allow" } }

[agents.plan]
thinking = "max"

[providers.openrouter]
kind = "openai"
base_url = "https://openrouter.ai/api/v1"
key_env = "OPENROUTER_API_KEY"
headers = { "x-title" = "ramus", "x-token" = { env = "TOKEN" } }

[mcp.files]
command = "files"
args = ["--root", "."]
env = { LEVEL = "s3cret", SECRET = { env = "FILES_SECRET" } }

[mcp.docs]
url = "https://docs.example/mcp"
key_env = "DOCS_KEY"
enabled = false
"#;

fn defaults() -> Settings {
    Settings::defaults().unwrap()
}

fn read(text: &str) -> Result<Settings, EngineError> {
    defaults().with_user_file(text, "config.toml")
}

#[test]
fn every_table_is_read_and_the_order_of_rules_is_kept() {
    let settings = read(FILE).unwrap();
    let tables = settings.user();
    let expected = [
        ("edit", "*", Action::Allow),
        ("docs_*", "*", Action::Deny),
        ("bash", "*", Action::Ask),
        ("bash", "cargo *", Action::Allow),
        ("bash", "cargo publish*", Action::Deny),
    ];
    assert_eq!(tables.permission, expected.map(|(name, pattern, action)| Rule::new(name, pattern, action)));
    let openrouter = &tables.providers["openrouter"];
    assert_eq!(openrouter.kind, Some(Api::Completions));
    assert_eq!(openrouter.headers["x-token"], Given::Variable("TOKEN".into()));
    assert!(matches!(&tables.mcp["files"].reach, Reach::Program { args, .. } if args == &["--root", "."]));
    assert!(!tables.mcp["docs"].enabled && tables.mcp["files"].enabled);
    // What may be secret is in no message.
    assert!(!format!("{settings:?}").contains("s3cret"), "{settings:?}");
}

#[test]
fn what_is_not_understood_is_told_with_its_line_and_what_was_meant() {
    for (text, line, message, hint) in [
        ("layout = \"pi\"\ndefalt_model = \"a/b\"\n", 2, "has no \"defalt_model\"", "\"default_model\""),
        ("[permision]\n", 1, "has no \"permision\"", "\"permission\""),
        ("[permission]\nbash = \"maybe\"\n", 2, "not allow, ask or deny", ""),
        ("[permission.bash]\n\"x\" = 1\n", 2, "must be text, not integer", ""),
        ("[agents.a]\nprompt = 1\n", 2, "prompt must be text, not integer", ""),
        ("[agents.a]\npromt = \"x\"\n", 2, "an agent has no \"promt\"", "\"prompt\""),
        ("[agents.a]\nthinking = \"hard\"\n", 2, "thinking is off, minimal", ""),
        ("[agents.a]\nmodel = \"gpt\"\n", 2, "PROVIDER/NAME", ""),
        ("[agents.\"a b\"]\n", 1, "is no name", ""),
        ("[providers.x]\nkind = \"http\"\n", 2, "a kind is openai", ""),
        ("[providers.x]\napi_key = \"sk-1\"\n", 2, "key_env", ""),
        ("[providers.x]\nkey_env = \"sk-0123456789\"\n", 2, "names an environment variable", ""),
        ("[mcp.x]\nargs = []\n", 1, "command, args and env, or url", ""),
        ("[mcp.x]\ncommand = \"a\"\nurl = \"b\"\n", 1, "command, args and env, or url", ""),
        ("[mcp.x]\ncomand = \"a\"\n", 2, "an MCP server has no \"comand\"", "\"command\""),
        ("permission = 3\n", 1, "permission must be a table, not integer", ""),
        ("a = \n", 1, "this is not TOML", ""),
    ] {
        let error = read(text).unwrap_err();
        let said = error.to_string();
        assert!(said.starts_with(&format!("config.toml, line {line}: ")) && said.contains(message), "{text:?}: {said}");
        assert!(error.hint().unwrap_or_default().contains(hint), "{text:?}: {:?}", error.hint());
        assert!(!said.contains("0123456789"), "{said}");
    }
}

fn action(settings: &Settings, agent: &str, session: &[Rule], permission: &str, subject: &str) -> Action {
    let permissions = settings.agent(agent).unwrap().permissions(settings, session.iter().cloned());
    let question = Question {
        permission: permission.into(),
        exact: subject.into(),
        subjects: vec![subject.into()],
        ..Question::default()
    };
    decide(&permissions, &[], &question).action
}

#[test]
fn agents_are_defined_by_all_layers_and_read_only_ones_stay_so() {
    let settings = read(FILE).unwrap();
    let names: Vec<String> = settings.agents().into_iter().map(|agent| agent.name).collect();
    assert_eq!(names, ["build", "compaction", "explore", "general", "plan", "review"]);
    let review = settings.agent("review").unwrap();
    assert_eq!((review.thinking, review.source), (Some(Thinking::High), Layer::User));
    assert!(review.has_tool("docs_search") && !review.has_tool("bash"));
    let plan = settings.agent("plan").unwrap();
    assert_eq!(plan.thinking, Some(Thinking::Max));
    assert!(plan.prompt.contains("plan") && plan.is_read_only());
    assert_eq!(action(&settings, "build", &[], "edit", "a.rs"), Action::Allow);
    assert_eq!(action(&settings, "build", &[], "bash", "cargo test"), Action::Allow);
    assert_eq!(action(&settings, "build", &[], "bash", "cargo publish"), Action::Deny);
    // Whatever the user, the project or the session allow.
    let all = [Rule::new("*", "*", Action::Allow)];
    for (permission, subject) in [("edit", "a.rs"), ("write", "a.rs"), ("bash", "rm a.rs"), ("files_put", "a")] {
        assert_eq!(action(&settings, "plan", &all, permission, subject), Action::Deny, "{permission} {subject}");
        assert_eq!(action(&settings, "build", &all, permission, subject), Action::Allow, "{permission} {subject}");
    }
    assert_eq!(action(&settings, "plan", &all, "bash", "git status"), Action::Allow);
    assert_eq!(action(&settings, "review", &all, "bash", "git log -3"), Action::Allow);
    let error = settings.agent("biuld").unwrap_err();
    assert_eq!(error.hint().as_deref(), Some("did you mean \"build\"?"));
}

#[test]
fn a_mode_that_is_no_agent_is_not_replaced_by_one_that_may_do_more() {
    let settings = defaults();
    assert_eq!(settings.resolve_agent(None, "none").unwrap().name, "build");
    assert_eq!(settings.resolve_agent(None, "plan").unwrap().name, "plan");
    assert_eq!(settings.resolve_agent(Some("explore"), "plan").unwrap().name, "explore");
    let error = settings.resolve_agent(None, "review").unwrap_err();
    assert!(error.hint().unwrap().contains("--agent"), "{error}");
}

#[test]
fn the_model_is_named_by_the_call_the_path_the_agent_or_the_settings() {
    let settings = read(FILE).unwrap();
    let (review, build) = (settings.agent("review").unwrap(), settings.agent("build").unwrap());
    let mut path = State::default();
    let chosen = |call, path: &State, agent, takes_over| {
        let chosen = choose_model(call, path, agent, takes_over, &settings).unwrap();
        (chosen.value, chosen.source)
    };
    assert_eq!(chosen(Some("a/b"), &path, &review, true), ("a/b".into(), Source::Call));
    assert_eq!(chosen(None, &path, &review, false), ("anthropic/claude-opus-5".into(), Source::Agent));
    assert_eq!(chosen(None, &path, &build, false), ("openrouter/some/model".into(), Source::Setting(Layer::User)));
    path.models.insert("default".into(), "x/y".into());
    assert_eq!(chosen(None, &path, &review, false), ("x/y".into(), Source::Path));
    // An agent that takes over brings its own model along, if it has one.
    assert_eq!(chosen(None, &path, &review, true), ("anthropic/claude-opus-5".into(), Source::Agent));
    assert_eq!(chosen(None, &path, &build, true), ("x/y".into(), Source::Path));
}

#[test]
fn a_project_reaches_neither_keys_nor_what_is_the_users() {
    let user = read(FILE).unwrap();
    let project = |text: &str| user.clone().with_project_file(text, "project");
    for (text, said) in [
        ("durability = \"os\"", "durability is the user's"),
        ("owner = \"eve\"", "owner is the user's"),
        ("[providers.openai]\nbase_url = \"https://eve.example\"", "the provider openai is the user's"),
        ("[providers.openrouter]\nbase_url = \"https://eve.example\"", "the provider openrouter is the user's"),
        ("[providers.own]\nbase_url = \"https://e\"\nkey_env = \"OPENAI_API_KEY\"", "cannot be given keys"),
        ("[providers.own]\nheaders = { x = { env = \"OPENAI_API_KEY\" } }", "cannot be given keys"),
        ("[mcp.files]\ncommand = \"sh\"", "the MCP server files is the user's"),
        ("[mcp.own]\nurl = \"https://e\"\nkey_env = \"OPENAI_API_KEY\"", "cannot be given keys"),
    ] {
        let error = project(text).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
    let settings = project("default_model = \"own/m\"\n[agents.plan]\nread_only = false\n").unwrap();
    assert_eq!(settings.get("default_model").unwrap(), ("own/m", Layer::Project));
    assert!(settings.agent("plan").unwrap().is_read_only(), "a project unties no hands");
    // The environment, which was there before, still wins.
    let environment = |name: &str| (name == "RAMUS_DEFAULT_MODEL").then(|| "a/b".to_owned());
    let settings = defaults().with_environment(environment).unwrap();
    let settings = settings.with_project_file("default_model = \"own/m\"", "project").unwrap();
    assert_eq!(settings.get("default_model").unwrap(), ("a/b", Layer::Environment));
}

#[test]
fn only_the_bytes_that_were_trusted_are_and_no_link_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let directory = place.to_str().unwrap();
    let (home, file) = (place.join("home"), place.join(".ramus/config.toml"));
    fs::create_dir(&home).unwrap();
    let trust = Trust::of_home(&home);
    assert!(project::find(directory).is_empty());
    fs::create_dir(place.join(".ramus")).unwrap();
    fs::write(&file, "default_model = \"a/b\"\n").unwrap();
    let found = || project::find(directory).remove(0);
    assert!(!trust.holds(&found().unwrap()).unwrap());
    trust.grant(&found().unwrap(), 0).unwrap();
    assert!(trust.holds(&found().unwrap()).unwrap());
    let mode = fs::metadata(home.join("trust.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::write(&file, "default_model = \"a/c\"\n").unwrap();
    assert!(!trust.holds(&found().unwrap()).unwrap(), "any change makes it inert");
    fs::write(&file, "default_model = \"a/b\"\n").unwrap();
    assert!(trust.revoke(&file).unwrap() && !trust.revoke(&file).unwrap());
    assert!(!trust.holds(&found().unwrap()).unwrap());
    // A list that others can write is not believed.
    trust.grant(&found().unwrap(), 0).unwrap();
    fs::set_permissions(home.join("trust.json"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(trust.holds(&found().unwrap()).is_err());
    fs::rename(&file, place.join("elsewhere.toml")).unwrap();
    symlink(place.join("elsewhere.toml"), &file).unwrap();
    assert!(found().unwrap_err().reason.contains("link"));
    fs::remove_dir_all(place.join(".ramus")).unwrap();
    fs::create_dir(place.join("folder")).unwrap();
    fs::write(place.join("folder/config.toml"), "").unwrap();
    symlink(place.join("folder"), place.join(".ramus")).unwrap();
    assert!(found().unwrap_err().reason.contains("link"));
}

#[test]
fn files_count_from_the_root_of_the_project_down() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("project");
    let inner = root.join("a/b");
    for place in [&root, &inner, &root.join("a"), &root.parent().unwrap().to_owned()] {
        fs::create_dir_all(place.join(".ramus")).unwrap();
        fs::write(place.join(".ramus/config.toml"), "").unwrap();
    }
    let found = |directory: &std::path::Path| -> Vec<_> {
        let found = project::find(directory.to_str().unwrap()).into_iter();
        found.map(|file| file.unwrap().path.parent().unwrap().parent().unwrap().to_owned()).collect()
    };
    assert_eq!(found(&inner), std::slice::from_ref(&inner), "without a repository only its own counts");
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(found(&inner), [root.clone(), root.join("a"), inner]);
}

#[test]
fn instructions_of_a_project_come_from_it_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("project");
    fs::create_dir_all(root.join("inner")).unwrap();
    fs::write(folder.path().join("secret"), "the secret").unwrap();
    fs::write(root.join("CLAUDE.md"), "be kind").unwrap();
    symlink("../CLAUDE.md", root.join("inner/AGENTS.md")).unwrap();
    symlink("../secret", root.join("AGENTS.md")).unwrap();
    let (cwd, root) = (root.join("inner").display().to_string(), root.display().to_string());
    let prompt = ramus_engine::run::system_prompt("You are.", &cwd, Some(&root));
    assert!(prompt.starts_with("You are.") && !prompt.contains("the secret"), "{prompt}");
    assert_eq!(prompt.matches("be kind").count(), 2, "{prompt}");
}
