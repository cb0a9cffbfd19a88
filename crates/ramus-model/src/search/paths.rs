//! Which files a tool call names.

/// The longest value that is taken for a path.
const LONGEST: usize = 1024;
/// How many are kept of one entry.
const MOST: usize = 256;

/// Adds the files that an argument of a tool call names: all of it, when its name says that it is a path; what looks like
/// one, when it is a command or a patch.
pub(super) fn find(key: &str, value: &str, out: &mut Vec<String>) {
    let key = key.to_ascii_lowercase();
    if ["path", "file", "dir", "cwd", "notebook"].iter().any(|name| key.contains(name)) {
        add(value.trim(), out);
    } else if matches!(key.as_str(), "command" | "cmd" | "script" | "args" | "patch" | "input" | "argv") {
        in_command(value, out);
    }
}

/// Adds what looks like a path in a command.
pub(super) fn in_command(command: &str, out: &mut Vec<String>) {
    let parts = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | '|' | ';' | '&' | '=' | ',')
    };
    for token in command.split(parts) {
        let token = token.trim_matches(|c: char| matches!(c, ':' | '[' | ']' | '{' | '}' | '!' | '?'));
        if looks_like_path(token) {
            add(token, out);
        }
    }
}

fn add(path: &str, out: &mut Vec<String>) {
    let fits = !path.is_empty() && path.len() <= LONGEST && !path.contains('\n');
    if fits && out.len() < MOST && !out.iter().any(|known| known == path) {
        out.push(path.to_owned());
    }
}

/// A path has a directory in it, or an extension: letters and digits that start with a letter, behind a name.
fn looks_like_path(token: &str) -> bool {
    if token.starts_with('-') || token.contains("://") {
        return false;
    }
    if token.contains('/') {
        return token.chars().any(char::is_alphanumeric);
    }
    token.rsplit_once('.').is_some_and(|(name, extension)| {
        let is_extension = (1..=10).contains(&extension.len())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_extension && name.chars().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_where_they_are_named() {
        let found = |key: &str, value: &str| {
            let mut out = Vec::new();
            find(key, value, &mut out);
            out
        };
        assert_eq!(found("file_path", " /srv/shop/src/main.rs "), ["/srv/shop/src/main.rs"]);
        assert_eq!(found("path", "Makefile"), ["Makefile"]);
        assert_eq!(
            found("command", "cat src/a.rs Cargo.toml -v && ls ./x | grep 1.5 https://a/b.rs"),
            ["src/a.rs", "Cargo.toml", "./x"]
        );
        assert_eq!(found("content", "see src/a.rs"), [""; 0]);
        assert_eq!(found("path", "two\nlines"), [""; 0]);
    }
}
