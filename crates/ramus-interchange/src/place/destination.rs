//! Where a session must be written so that its agent finds it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::environment::Environment;
use super::name::{relative_dashed, slug};
use super::root::{omp_sessions, roots};
use crate::format::Format;
use crate::sink::Start;

/// Where a written session goes and what to do then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Destination {
    /// The directory; none when the agent takes files in from anywhere, or the format is no agent's.
    pub directory: Option<PathBuf>,
    /// The name that the codec gives the file.
    pub file: String,
    /// Files that make the directory the agent's own, to be made where they are missing.
    pub markers: Vec<Marker>,
    /// A command that must be run first, in the working directory and with the file as its last argument.
    pub import: Vec<String>,
    /// The command that resumes the session, to be run in the working directory. Empty when nothing resumes the format.
    pub resume: Vec<String>,
}

/// A small file with a given content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Where it is.
    pub path: PathBuf,
    /// All of it.
    pub content: String,
}

/// Says where a session goes. `peek` returns what is in a small file; none when it is not there.
///
/// The working directory of the session should be spelled as the system spells it, without links: agents look for the
/// spelling that the system gives them.
pub fn destination(
    format: Format,
    environment: &Environment,
    start: &Start,
    peek: &dyn Fn(&Path) -> Option<String>,
) -> Destination {
    let place = format.codec().place(start);
    let root = || roots(format, environment).into_iter().next().map(|root| root.directory);
    let mut markers = Vec::new();
    let directory = match format {
        Format::Claude | Format::Codex | Format::Opal => root().map(|root| root.join(&place.directory)),
        // A directory of the user's own has no directories for projects.
        Format::Pi if environment.variable("PI_CODING_AGENT_SESSION_DIR").is_some() => root(),
        Format::Pi => root().map(|root| root.join(&place.directory)),
        Format::Omp => Some(omp_sessions(environment).join(relative_dashed(&start.cwd, environment))),
        Format::Gemini => root().map(|root| {
            let project = root.join(gemini_project(&root, &start.cwd, peek));
            markers.push(Marker { path: project.join(OWNER), content: start.cwd.clone() });
            project.join("chats")
        }),
        Format::Shepherd => Some(PathBuf::from(&start.cwd)),
        Format::Opencode | Format::Goose | Format::Okcvm | Format::Directory | Format::Atif => None,
    };
    Destination { directory, file: place.file, markers, import: place.import, resume: place.resume }
}

/// The file in which Gemini CLI keeps whose a directory is.
const OWNER: &str = ".project_root";

/// What Gemini CLI calls a project: what `projects.json` says, unless the directory of that name is another's; otherwise the
/// first name that is nobody's.
fn gemini_project(root: &Path, cwd: &str, peek: &dyn Fn(&Path) -> Option<String>) -> String {
    let registry = root.parent().and_then(|home| peek(&home.join("projects.json")));
    let registry: Value = registry.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let projects = registry.get("projects").and_then(Value::as_object);
    let is_free = |name: &str| peek(&root.join(name).join(OWNER)).is_none_or(|owner| owner.trim() == cwd);
    let is_name =
        |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let known = projects.and_then(|projects| projects.get(cwd)?.as_str()).filter(is_name);
    if let Some(known) = known.filter(|name| is_free(name)) {
        return known.to_owned();
    }
    let taken = |name: &str| {
        let mut others = projects.into_iter().flatten().filter(|(directory, _)| *directory != cwd);
        others.any(|(_, slug)| slug.as_str() == Some(name))
    };
    let first = slug(cwd);
    let names = std::iter::once(first.clone()).chain((1..1000).map(|count| format!("{first}-{count}")));
    let mut free = names.filter(|name| !taken(name) && is_free(name));
    // A thousand projects of one name: the hash of the path is what Gemini CLI used before it had names.
    free.next().unwrap_or_else(|| crate::gemini::project_hash(cwd))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn start() -> Start {
        Start {
            id: "9ef40646-dd60-4ed0-9166-ee4ecd4f3a92".to_owned(),
            cwd: "/home/ada/My App".to_owned(),
            created: "2026-11-01T10:20:30.400Z".to_owned(),
            ..Start::default()
        }
    }

    fn placed(format: Format, environment: &Environment, files: &[(&str, &str)]) -> (String, String) {
        let files: BTreeMap<&Path, &str> = files.iter().map(|(path, text)| (Path::new(*path), *text)).collect();
        let found = destination(format, environment, &start(), &|path| files.get(path).map(|text| (*text).to_owned()));
        (found.directory.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(), found.file)
    }

    #[test]
    fn every_agent_finds_what_is_written_for_it() {
        let environment = Environment::new("/home/ada", "/tmp");
        let id = start().id;
        let cases = [
            (Format::Claude, "/home/ada/.claude/projects/-home-ada-My-App", format!("{id}.jsonl")),
            (Format::Codex, "/home/ada/.codex/sessions/2026/11/01", format!("rollout-2026-11-01T10-20-30-{id}.jsonl")),
            (
                Format::Gemini,
                "/home/ada/.gemini/tmp/my-app/chats",
                "session-2026-11-01T10-20-9ef40646.jsonl".to_owned(),
            ),
            (
                Format::Pi,
                "/home/ada/.pi/agent/sessions/--home-ada-My App--",
                format!("2026-11-01T10-20-30-400Z_{id}.jsonl"),
            ),
            (Format::Omp, "/home/ada/.omp/agent/sessions/-My App", format!("2026-11-01T10-20-30-400Z_{id}.jsonl")),
            (Format::Shepherd, "/home/ada/My App", ".shepherd_session.openai.json".to_owned()),
        ];
        for (format, directory, file) in cases {
            assert_eq!(placed(format, &environment, &[]), (directory.to_owned(), file), "{format:?}");
        }
    }

    #[test]
    fn variables_move_what_they_move() {
        let environment = Environment::new("/home/ada", "/tmp")
            .with("CLAUDE_CONFIG_DIR", "/c")
            .with("CODEX_HOME", "/x")
            .with("GEMINI_CLI_HOME", "/g")
            .with("PI_CODING_AGENT_SESSION_DIR", "/p");
        assert_eq!(placed(Format::Claude, &environment, &[]).0, "/c/projects/-home-ada-My-App");
        assert_eq!(placed(Format::Codex, &environment, &[]).0, "/x/sessions/2026/11/01");
        assert_eq!(placed(Format::Gemini, &environment, &[]).0, "/g/.gemini/tmp/my-app/chats");
        assert_eq!(placed(Format::Pi, &environment, &[]).0, "/p");
    }

    #[test]
    fn a_project_of_gemini_keeps_its_name_and_takes_nobody_elses() {
        let environment = Environment::new("/home/ada", "/tmp");
        let name = |files: &[(&str, &str)]| {
            let (directory, _) = placed(Format::Gemini, &environment, files);
            directory.trim_start_matches("/home/ada/.gemini/tmp/").trim_end_matches("/chats").to_owned()
        };
        let (registry, own) = ("/home/ada/.gemini/projects.json", r#"{"projects":{"/home/ada/My App":"older"}}"#);
        assert_eq!(name(&[(registry, own)]), "older");
        assert_eq!(name(&[(registry, own), ("/home/ada/.gemini/tmp/older/.project_root", "/elsewhere")]), "my-app");
        assert_eq!(name(&[(registry, r#"{"projects":{"/other/My App":"my-app"}}"#)]), "my-app-1");
        assert_eq!(name(&[("/home/ada/.gemini/tmp/my-app/.project_root", "/other/My App\n")]), "my-app-1");
        assert_eq!(name(&[(registry, r#"{"projects":{"/home/ada/My App":"../../x"}}"#)]), "my-app");
        assert_eq!(name(&[(registry, "no JSON")]), "my-app");
    }

    #[test]
    fn a_new_project_of_gemini_says_whose_it_is() {
        let found = destination(Format::Gemini, &Environment::new("/h", "/tmp"), &start(), &|_| None);
        let marker = Marker { path: "/h/.gemini/tmp/my-app/.project_root".into(), content: start().cwd };
        assert_eq!(found.markers, [marker]);
    }
}
