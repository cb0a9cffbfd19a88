//! Arguments that make a program run others, or hand out what should stay secret.

use super::super::Word;
use super::{Runs, unclear};

/// Programs that run whatever they are told, in ways that are not followed.
const RUNNERS: &[&str] = &[
    "at",
    "batch",
    "busybox",
    "chroot",
    "chrt",
    "crontab",
    "dbus-run-session",
    "ed",
    "emacs",
    "entr",
    "ex",
    "expect",
    "flock",
    "gdb",
    "gdbserver",
    "ld.so",
    "lldb",
    "linux32",
    "linux64",
    "ltrace",
    "m4",
    "nsenter",
    "nvim",
    "parallel",
    "perf",
    "runuser",
    "screen",
    "script",
    "setarch",
    "setpriv",
    "socat",
    "ssh",
    "start-stop-daemon",
    "strace",
    "su",
    "systemd-run",
    "taskset",
    "tmux",
    "toybox",
    "unshare",
    "vi",
    "view",
    "vim",
    "vimdiff",
    "watch",
    "xterm",
];

/// Programs that run code given with an option, or read from their input.
const INTERPRETERS: &[&str] = &[
    "bun", "deno", "ghc", "guile", "lua", "node", "nodejs", "perl", "php", "python", "python2", "python3", "Rscript",
    "ruby", "tclsh",
];

/// Words that make a program run another one, by how they begin.
const RUNNING: &[(&str, &[&str])] = &[
    ("fd", &["-x", "-X", "--exec"]),
    (
        "git",
        &[
            "-c",
            "--config-env",
            "--exec-path=",
            "bisect",
            "filter-branch",
            "foreach",
            "difftool",
            "mergetool",
            "-O",
            "--open-files-in-pager",
            "-x",
            "--exec",
            "--ex",
            "-u",
            "--upload",
            "--receive",
            "ext::",
            "fsmonitor",
            "hook",
        ],
    ),
    ("make", &["SHELL", ".SHELL", "--eval"]),
    ("man", &["-P", "--pager", "-H", "--html"]),
    ("rg", &["--pre", "--hostname-bin", "-z"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-S", "-o"]),
    ("sort", &["--co"]),
    ("split", &["--fi"]),
    ("tar", &["--to", "--checkpoint-a", "-I", "--use", "--rsh", "--rmt", "-F", "--info-script", "--new-volume"]),
    ("zip", &["-TT", "--unzip"]),
];

/// Parts of paths where credentials are kept.
const SECRETS: &[&str] =
    &[".ssh", ".gnupg", ".aws", ".netrc", ".kube", ".docker", ".pgpass", "id_rsa", "id_ed25519", "shadow", "environ"];

/// Says what else a program runs, as far as its arguments tell.
pub(super) fn runs(name: &str, arguments: &[Word]) -> Runs {
    if RUNNERS.contains(&name) {
        return unclear(format!("`{name}` runs what it is told"));
    }
    if INTERPRETERS.contains(&name) || name.starts_with("python3.") {
        return interpreter(name, arguments);
    }
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => return awk(arguments),
        "sed" | "gsed" => return sed(arguments),
        _ => {}
    }
    let Some((_, options)) = RUNNING.iter().find(|(program, _)| *program == name) else { return Runs::Nothing };
    let names = |word: &&Word| word.is_wild() || options.iter().any(|option| word.text.starts_with(option));
    match arguments.iter().find(names) {
        Some(word) if word.is_wild() => unclear(format!("`{name}` with what is only known when it runs")),
        Some(word) => unclear(format!("`{name} {}` may run other programs", word.text)),
        None => Runs::Nothing,
    }
}

/// Code on the command line can do anything; a file is named, and a rule can name it too.
fn interpreter(name: &str, arguments: &[Word]) -> Runs {
    match arguments.first().map(Word::known) {
        Some(Some("--version" | "-V" | "--help")) if arguments.len() == 1 => Runs::Nothing,
        Some(Some(script)) if !script.starts_with('-') && !script.is_empty() => Runs::Nothing,
        _ => unclear(format!("`{name}` runs code that is not looked into")),
    }
}

/// Programs of awk are followed when they cannot run, read or write anything.
fn awk(arguments: &[Word]) -> Runs {
    let mut rest = arguments;
    while let Some((first, more)) = rest.split_first() {
        match first.known() {
            Some("-F" | "-v") => rest = more.get(1..).unwrap_or_default(),
            Some(text) if text.starts_with("-F") || text.starts_with("-v") => rest = more,
            Some(text) if text.starts_with('-') => return unclear(format!("`awk {text}`")),
            Some(text) if ["system", "|", "getline", ">", "@", "ENVIRON"].iter().any(|part| text.contains(part)) => {
                return unclear("a program of awk that may run others");
            }
            Some(_) if more.iter().any(Word::may_be_option) => return unclear("`awk` with options behind its program"),
            Some(_) => return Runs::Nothing,
            None => return unclear("a program of awk that is only known when it runs"),
        }
    }
    Runs::Nothing
}

/// Scripts of sed are followed when they only print or replace text: others can run programs and write files.
fn sed(arguments: &[Word]) -> Runs {
    let mut script = None;
    let mut rest = arguments;
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        match first.known() {
            Some("-n" | "-E" | "-r" | "-s" | "--quiet" | "--regexp-extended" | "--version") => {}
            Some("-i" | "--in-place") => {}
            Some("-e") if script.is_none() => {}
            Some(text) if text.starts_with('-') => return unclear(format!("`sed {text}`")),
            Some(text) if script.is_none() => script = Some(text),
            Some(_) => {}
            None if script.is_some() && !first.is_wild() => {}
            None => return unclear("`sed` with what is only known when it runs"),
        }
    }
    match script {
        Some(script) if !is_plain_sed(script) => unclear("a script of sed that is not followed"),
        _ => Runs::Nothing,
    }
}

/// Says whether a script is `12,34p`, `5d`, `$=` or `s/this/that/gp`.
fn is_plain_sed(script: &str) -> bool {
    let address =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'$' | b'+' | b'~'));
    if let Some(lines) = script.strip_suffix(['p', 'd', '=']) {
        return address(lines);
    }
    let Some(rest) = script.strip_prefix('s') else { return false };
    let Some(mark) = rest.chars().next().filter(|mark| matches!(mark, '/' | '|' | '#' | ',' | ':')) else {
        return false;
    };
    let mut parts = rest.get(1..).unwrap_or_default().split(mark);
    let three = (parts.next(), parts.next(), parts.next(), parts.next());
    let (Some(this), Some(that), Some(flags), None) = three else { return false };
    let plain = |text: &str| !text.ends_with('\\') && !text.contains('\n');
    plain(this) && plain(that) && flags.bytes().all(|flag| matches!(flag, b'g' | b'p' | b'i' | b'I' | b'0'..=b'9'))
}

/// Says which word names a place where credentials are kept. This keeps honest mistakes from running unasked; what is behind
/// a variable is the sandbox's to stop.
pub(super) fn names_a_secret(words: &[Word]) -> Option<String> {
    let secret = |word: &&Word| {
        word.text
            .split(['/', '=', ':'])
            .any(|part| SECRETS.contains(&part) || part.starts_with("id_ed") || part == ".env")
    };
    words.iter().skip(1).find(secret).map(|word| format!("{} may hold a secret", word.text))
}
