//! Which terminal a command was started in: the device on stdin, or what the terminal program says about itself.

use std::io::IsTerminal as _;

use ramus_store::Terminal;

/// What terminal programs call their windows, and how those names are told apart.
const VARIABLES: [(&str, &str); 6] = [
    ("KITTY_WINDOW_ID", "kitty"),
    ("TMUX_PANE", "tmux"),
    ("ZELLIJ_PANE_ID", "zellij"),
    ("WEZTERM_PANE", "wezterm"),
    ("TERM_SESSION_ID", "apple"),
    ("WT_SESSION", "wt"),
];

/// Finds out which terminal this is, if it is one.
pub(crate) fn current() -> Option<Terminal> {
    device().or_else(|| {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        VARIABLES.iter().find_map(|(name, prefix)| Terminal::new(&format!("{prefix}-{}", variable(name)?)))
    })
}

fn device() -> Option<Terminal> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return None;
    }
    let name = rustix::termios::ttyname(&stdin, Vec::new()).ok()?;
    let name = name.to_str().ok()?;
    Terminal::new(name.strip_prefix("/dev/").unwrap_or(name))
}
