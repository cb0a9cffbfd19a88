//! The six agents: what they are called, where their programs are, how they are set up and spoken to without a terminal.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use ramus_interchange::Format;
use serde_json::json;

use super::install::Installation;

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Pi,
    Goose,
}

/// Which session a prompt is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Session<'a> {
    New,
    Latest,
    Named(&'a str),
}

impl Agent {
    pub(super) const ALL: [Self; 6] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Pi, Self::Goose];

    /// The format of its sessions.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Claude => Format::Claude,
            Self::Codex => Format::Codex,
            Self::Gemini => Format::Gemini,
            Self::Opencode => Format::Opencode,
            Self::Pi => Format::Pi,
            Self::Goose => Format::Goose,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        self.format().name()
    }

    /// The package on npm.
    pub(super) fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
            Self::Gemini => "@google/gemini-cli",
            Self::Opencode => "opencode-ai",
            Self::Pi => "@earendil-works/pi-coding-agent",
            Self::Goose => "@aaif/goose-binary-linux-x64",
        }
    }

    /// The command that starts it, in an environment that has nothing of anybody's.
    pub(super) fn command(self, installation: &Installation, home: &Path, work: &Path, url: &str) -> Result<Command> {
        let mut command = match self {
            Self::Gemini | Self::Pi => {
                let mut command = Command::new(installation.node());
                command.arg(installation.program(self)?);
                command
            }
            _ => Command::new(installation.program(self)?),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let node = installation.node();
        let folders = node.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&path));
        command.env_clear().current_dir(work);
        command
            .env("PATH", std::env::join_paths(folders)?)
            .env("HOME", home)
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb");
        for (name, folder) in [
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
            ("XDG_CACHE_HOME", ".cache"),
        ] {
            command.env(name, home.join(folder));
        }
        command.envs(self.variables(url));
        Ok(command)
    }

    fn variables(self, url: &str) -> Vec<(&'static str, String)> {
        let given =
            |pairs: &[(&'static str, &str)]| pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        match self {
            Self::Claude => given(&[
                ("ANTHROPIC_BASE_URL", url),
                ("ANTHROPIC_API_KEY", "x"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("DISABLE_AUTOUPDATER", "1"),
                ("IS_SANDBOX", "1"),
            ]),
            Self::Codex => given(&[("MOCK_KEY", "x")]),
            Self::Gemini => {
                given(&[("GEMINI_API_KEY", "x"), ("GOOGLE_GEMINI_BASE_URL", url), ("GEMINI_CLI_NO_RELAUNCH", "true")])
            }
            Self::Opencode => given(&[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")]),
            Self::Pi => given(&[("PI_OFFLINE", "1"), ("PI_SKIP_VERSION_CHECK", "1")]),
            Self::Goose => given(&[("OPENAI_API_KEY", "x"), ("GOOSE_DISABLE_KEYRING", "1")]),
        }
    }

    /// Writes the settings that make it talk to the model at `url` and to nobody else.
    pub(super) fn set_up(self, home: &Path, url: &str) -> Result<()> {
        let (path, text) = match self {
            Self::Claude => return Ok(()),
            Self::Codex => (".codex/config.toml", codex(url)),
            Self::Gemini => (".gemini/settings.json", gemini()),
            Self::Opencode => (".config/opencode/opencode.json", opencode(url)),
            Self::Pi => (".pi/agent/models.json", pi(url)),
            Self::Goose => (".config/goose/config.yaml", goose(url)),
        };
        let path = home.join(path);
        fs::create_dir_all(path.parent().context("settings lie in a folder")?)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The arguments of a prompt.
    pub(super) fn arguments(self, session: Session<'_>, prompt: &str) -> Vec<String> {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let free = "--dangerously-bypass-approvals-and-sandbox";
        let (mut words, which) = match self {
            Self::Claude => (
                list(&["-p", prompt, "--dangerously-skip-permissions", "--model", "claude-sonnet-4-5"]),
                match session {
                    Session::New => Vec::new(),
                    Session::Latest => list(&["--continue"]),
                    Session::Named(id) => list(&["--resume", id]),
                },
            ),
            Self::Codex => match session {
                Session::New => (list(&["exec", "--skip-git-repo-check", free, prompt]), Vec::new()),
                Session::Latest => {
                    (list(&["exec", "resume", "--last", "--skip-git-repo-check", free, prompt]), Vec::new())
                }
                Session::Named(id) => {
                    (list(&["exec", "resume", "--skip-git-repo-check", free, id, prompt]), Vec::new())
                }
            },
            Self::Gemini => (
                list(&["-y", "--skip-trust", "-m", "gemini-2.5-pro", "-p", prompt]),
                match session {
                    Session::New => Vec::new(),
                    Session::Latest => list(&["--resume", "latest"]),
                    Session::Named(id) => list(&["--resume", id]),
                },
            ),
            Self::Opencode => {
                let mut words = list(&["run", "-m", "mock/mock-model"]);
                match session {
                    Session::New => {}
                    Session::Latest => words.push("-c".to_owned()),
                    Session::Named(id) => words.extend(list(&["-s", id])),
                }
                // It puts quotes around arguments with blanks, and joins arguments with one.
                (words, prompt.split(' ').map(str::to_owned).collect())
            }
            Self::Pi => (
                list(&["--provider", "mock", "--model", "mock-model", "-p", prompt]),
                match session {
                    Session::New => Vec::new(),
                    Session::Latest => list(&["--continue"]),
                    Session::Named(id) => list(&["--session", id]),
                },
            ),
            Self::Goose => (
                list(&["run", "-t", prompt]),
                match session {
                    Session::New => list(&["--name", "zoo"]),
                    Session::Latest => list(&["--resume", "--name", "zoo"]),
                    Session::Named(id) => list(&["--resume", "--session-id", id]),
                },
            ),
        };
        words.extend(which);
        words
    }
}

fn codex(url: &str) -> String {
    format!(
        "model = \"mock-model\"\nmodel_provider = \"mock\"\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"{url}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"MOCK_KEY\"\n"
    )
}

fn gemini() -> String {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"disableAutoUpdate": true},
        "privacy": {"usageStatisticsEnabled": false},
    })
    .to_string()
}

fn opencode(url: &str) -> String {
    json!({
        "autoupdate": false,
        "share": "disabled",
        "model": "mock/mock-model",
        "small_model": "mock/mock-model",
        "provider": {"mock": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "x"},
            "models": {"mock-model": {"limit": {"context": 100_000, "output": 8000}, "cost": {"input": 1, "output": 2}}},
        }},
    })
    .to_string()
}

fn pi(url: &str) -> String {
    let model = json!({
        "id": "mock-model", "name": "Mock", "reasoning": false, "input": ["text"], "contextWindow": 100_000,
        "maxTokens": 8000, "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 1},
    });
    let provider =
        json!({"baseUrl": format!("{url}/v1"), "apiKey": "x", "api": "openai-completions", "models": [model]});
    json!({"providers": {"mock": provider}}).to_string()
}

fn goose(url: &str) -> String {
    format!(
        "GOOSE_PROVIDER: openai\nGOOSE_MODEL: gpt-4o\nGOOSE_MODE: auto\nOPENAI_HOST: {url}\nGOOSE_TELEMETRY_ENABLED: false\n\
         extensions:\n  developer: {{enabled: true, type: builtin, name: developer, bundled: true, timeout: 300}}\n"
    )
}
