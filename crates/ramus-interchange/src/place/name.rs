//! How agents make a name of a working directory. Most of it loses something, so no name is ever turned back.

use std::path::Path;

use super::environment::Environment;

/// Claude Code: every character that is not a letter or digit of ASCII becomes `-`. Programs written in JavaScript see
/// UTF-16: a character beyond it is two. A name that is too long for a file system is cut, and a hash of the directory follows.
pub(crate) fn dashed(directory: &str) -> String {
    const LONGEST: usize = 200;
    let mut name = String::with_capacity(directory.len());
    for c in directory.chars() {
        match c.is_ascii_alphanumeric() {
            true => name.push(c),
            false => name.extend(std::iter::repeat_n('-', c.len_utf16())),
        }
    }
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        let step = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
        name.push('-');
        name.push_str(&base36(directory.encode_utf16().fold(0, step).unsigned_abs()));
    }
    name
}

/// A number in digits and small letters.
fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

/// pi: the path without its first separator, the others as `-`, in `--`.
pub(crate) fn between_dashes(directory: &str) -> String {
    format!("--{}--", separators_dashed(directory.strip_prefix(['/', '\\']).unwrap_or(directory)))
}

fn separators_dashed(path: &str) -> String {
    path.replace(['/', '\\', ':'], "-")
}

/// omp: relative to the home or to the temporary directory where it is in one of them, otherwise as pi does.
pub(super) fn relative_dashed(directory: &str, environment: &Environment) -> String {
    let within =
        |root: &Path| Path::new(directory).strip_prefix(root).ok().map(|rest| rest.to_string_lossy().into_owned());
    let home = within(environment.home());
    let temporary = || within(environment.temporary());
    match (home, temporary()) {
        (Some(rest), _) => format!("-{}", separators_dashed(&rest)),
        (None, Some(rest)) if rest.is_empty() => "-tmp".to_owned(),
        (None, Some(rest)) => format!("-tmp-{}", separators_dashed(&rest)),
        (None, None) => between_dashes(directory),
    }
}

/// Gemini CLI: the last part of the path, in small letters, whatever else is in it as one `-`.
pub(crate) fn slug(directory: &str) -> String {
    let name = directory.rsplit('/').find(|part| !part.is_empty()).unwrap_or_default().to_lowercase();
    let mut slug = String::with_capacity(name.len());
    for c in name.chars() {
        match c.is_ascii_alphanumeric() {
            true => slug.push(c),
            false if slug.ends_with('-') => {}
            false => slug.push('-'),
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_becomes_a_name() {
        assert_eq!(dashed("/tmp/x/A.b_c d-é"), "-tmp-x-A-b-c-d--");
        assert_eq!(dashed("/😀"), "---");
        // What JavaScript makes of it.
        let long = dashed(&format!("/home/ada/{}é", "deep/".repeat(50)));
        assert_eq!((long.len(), long.rsplit('-').next()), (207, Some("kg7bzd")));
        assert_eq!(between_dashes("/home/ada/a:b"), "--home-ada-a-b--");
        assert_eq!(between_dashes(r"C:\work"), "--C--work--");
    }

    #[test]
    fn omp_names_are_relative_to_the_home() {
        let environment = Environment::new("/home/ada", "/tmp");
        let name = |directory| relative_dashed(directory, &environment);
        assert_eq!(name("/home/ada"), "-");
        assert_eq!(name("/home/ada/code/app"), "-code-app");
        assert_eq!(name("/home/adam"), "--home-adam--");
        assert_eq!(name("/tmp"), "-tmp");
        assert_eq!(name("/tmp/x/y"), "-tmp-x-y");
        assert_eq!(name("/srv/x"), "--srv-x--");
    }

    #[test]
    fn slugs_have_single_dashes_inside_only() {
        assert_eq!(slug("/home/ada/My  Project (2)/"), "my-project-2");
        assert_eq!(slug("/é"), "project");
        assert_eq!(slug("/"), "project");
    }
}
