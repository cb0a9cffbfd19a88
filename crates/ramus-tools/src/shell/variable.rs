//! Variables: which of them may be set without changing what other programs do. The list says which are harmless; every other
//! name in capitals may be one that some program obeys.

/// Names in capitals that only change how output looks or what a program is told about where it runs.
const HARMLESS: &[&str] = &[
    "CI",
    "CLICOLOR",
    "COLORTERM",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
    "VERBOSE",
];

/// Says whether setting a variable changes nothing but the command itself. Names without capitals are a script's own, except
/// those that name proxies and those that npm obeys.
pub(super) fn is_harmless(name: &str) -> bool {
    let letters = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let first = name.chars().next().is_some_and(|letter| !letter.is_ascii_digit());
    let own = !name.chars().any(|letter| letter.is_ascii_uppercase()) && name != "_";
    let obeyed = name.ends_with("_proxy") || name.starts_with("npm_") || name.starts_with("pip_");
    letters && first && (HARMLESS.contains(&name) || own && !obeyed)
}

/// Splits `NAME=value` when the word is an assignment as `env` reads it.
pub(super) fn assigned(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('=')?;
    Some(name.strip_suffix('+').unwrap_or(name))
}
