//! The reference: the help of every command, and that there is nothing else.

use crate::world::{World, snapshot};

/// The names below `Commands:` in a help text.
pub(crate) fn commands(help: &str) -> Vec<String> {
    let list = help.split("Commands:\n").nth(1).unwrap_or_default().split("\n\n").next().unwrap_or_default();
    let names = list.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_command_explains_itself() {
    let world = World::new();
    let top = world.ok(&["--help"]);
    snapshot!("help", &top);
    for name in commands(&top) {
        let help = world.ok(&[&name, "--help"]);
        snapshot!(format!("help_{name}"), &help);
        for below in commands(&help) {
            let help = world.ok(&[&name, &below, "--help"]);
            snapshot!(format!("help_{name}_{below}"), &help);
        }
    }
}

#[test]
fn bare_ramus_prints_help() {
    let ran = World::new().run(&[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("Usage: ramus"), "{}", ran.stdout);
}

#[test]
fn completions_are_printed_for_every_shell() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(world.ok(&["completions", shell]).contains("replace-segment"), "{shell}");
    }
    assert_eq!(world.json(&["completions", "bash"])["shell"], "bash");
}

#[test]
fn every_command_has_a_manual_page() {
    let world = World::new();
    assert!(world.ok(&["man"]).contains(".TH ramus 1"));
    let directory = world.path("project").join("man1");
    let told = world.json(&["man", "--dir", directory.to_str().unwrap()]);
    let pages = told["pages"].as_array().unwrap();
    for page in ["ramus.1", "ramus-run.1", "ramus-config-set.1"] {
        assert!(pages.iter().any(|named| named == page), "{page}: {told}");
        assert!(std::fs::read_to_string(directory.join(page)).unwrap().contains(".SH SYNOPSIS"), "{page}");
    }
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), pages.len());
}
