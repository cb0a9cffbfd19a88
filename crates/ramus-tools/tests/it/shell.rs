//! Reading commands: nothing runs that was not listed, nothing denied is allowed, and what is common and harmless is not
//! asked about.

use ramus_model::permission::{Action, Approval, Covered, Layer, Permissions, Rule, Scope, decide};
use ramus_tools::shell::{Reading, defaults, read};

use crate::oracle::{CANARIES, Oracle};

/// The command lines of a file, as they are.
fn commands(file: &str) -> Vec<String> {
    file.lines().filter(|line| !line.starts_with("//") && !line.is_empty()).map(unfold).collect()
}

fn unfold(line: &str) -> String {
    if let Some((count, rest)) = line.strip_prefix('×').and_then(|line| line.split_once(' ')) {
        let (repeated, last) = rest.split_once('×').unwrap();
        return repeated.repeat(count.parse().unwrap()) + last;
    }
    let mut text = line.to_owned();
    for (mark, meant) in [('⏎', "\n"), ('␍', "\r"), ('␋', "\u{b}"), ('␌', "\u{c}"), ('␁', "\u{1}")] {
        text = text.replace(mark, meant);
    }
    while let Some((before, rest)) = text.split_once('⟨') {
        let (number, after) = rest.split_once('⟩').unwrap();
        let letter = char::from_u32(u32::from_str_radix(number, 16).unwrap()).unwrap();
        text = format!("{before}{letter}{after}");
    }
    text
}

fn bypass() -> Vec<String> {
    commands(include_str!("../data/bypass.txt"))
}

/// Says whether a reading accounts for a call: the program is listed, and if all its words are known, with these words.
fn accounts_for(reading: &Reading, call: &[String]) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    reading.commands.iter().any(|command| {
        let words: Vec<Option<&str>> = command.words.iter().map(|word| word.known()).collect();
        let Some(Some(program)) = words.first() else { return false };
        let known: Option<Vec<&str>> = words.iter().skip(1).copied().collect();
        name(program) == call[0] && known.is_none_or(|known| known == call[1..])
    })
}

/// Runs every command of the corpus and returns those whose reading is clear and leaves out something that ran, with how many
/// ran a canary and how many readings were clear.
fn leaks(commands: &[String], view: impl Fn(&str) -> Reading) -> (Vec<String>, usize, usize) {
    let oracle = Oracle::new();
    let (mut leaks, mut ran, mut clear) = (Vec::new(), 0, 0);
    for command in commands {
        let reading = view(command);
        clear += usize::from(reading.unclear.is_none());
        let calls = oracle.run(command);
        let canary = calls.iter().any(|call| CANARIES.contains(&call[0].as_str()));
        ran += usize::from(canary);
        let missing = calls.iter().find(|call| !accounts_for(&reading, call));
        if let (Some(missing), None) = (missing, &reading.unclear) {
            leaks.push(format!("{command:?} ran {missing:?}, listed {:?}", reading.subjects()));
        }
        let action = strictest(&denying_canaries(), &reading, command);
        if canary && action == Action::Allow {
            leaks.push(format!("{command:?} is allowed"));
        }
    }
    // A command that harmed the stubs would have blinded the oracle.
    assert_eq!(oracle.run("alpha x"), [["alpha", "x"]]);
    (leaks, ran, clear)
}

fn denying_canaries() -> Permissions {
    let rule = |name: &&str| Rule::new("bash", format!("{name} *"), Action::Deny);
    let rules = [Rule::new("*", "*", Action::Allow)].into_iter().chain(CANARIES.iter().map(rule));
    Permissions::new().with(Layer::User, rules)
}

fn strictest(permissions: &Permissions, reading: &Reading, command: &str) -> Action {
    let decide = |question| decide(permissions, &[], &question).action;
    reading.questions(command).into_iter().map(decide).max().unwrap()
}

fn by_default(command: &str) -> Action {
    let permissions = Permissions::new().with(Layer::Agent, defaults::rules());
    strictest(&permissions, &read(command), command)
}

#[test]
fn nothing_runs_that_was_not_listed() {
    let all = bypass();
    let total = all.len();
    let (leaks, ran, clear) = leaks(&all, read);
    println!("{total} commands, {ran} ran a canary, {clear} were clear");
    assert!(leaks.is_empty(), "{} of {total}:\n{}", leaks.len(), leaks.join("\n"));
    // The oracle must have had something to see, and the reader something to understand.
    assert!(total >= 1000 && ran >= 700 && clear >= 300, "{ran} ran a canary, {clear} were clear");
}

#[test]
fn a_reader_that_sees_only_the_first_command_is_caught() {
    let few: Vec<String> = bypass().into_iter().step_by(10).collect();
    let first_only = |command: &str| {
        let mut reading = read(command);
        reading.commands.truncate(1);
        reading
    };
    assert!(leaks(&few, first_only).0.len() >= 10);
}

#[test]
fn common_commands_are_not_asked_about() {
    let all = commands(include_str!("../data/safe.txt"));
    let asked: Vec<&String> = all.iter().filter(|command| by_default(command) != Action::Allow).collect();
    assert!(all.len() >= 300);
    assert!(asked.len() * 50 <= all.len(), "{} of {}: {asked:#?}", asked.len(), all.len());
}

#[test]
fn what_changes_something_is_asked_about() {
    let all = commands(include_str!("../data/risky.txt"));
    let not_asked: Vec<&String> = all.iter().filter(|command| by_default(command) != Action::Ask).collect();
    assert!(all.len() >= 150 && not_asked.is_empty(), "{not_asked:#?}");
}

#[test]
fn always_for_pushing_never_reaches_pushing_with_force() {
    let rules = [Rule::new("bash", "git push --force*", Action::Deny)];
    let permissions = Permissions::new().with(Layer::Agent, defaults::rules()).with(Layer::User, rules);
    let always =
        [Approval { scope: Scope::Project, permission: "bash".into(), covered: Covered::Pattern("git push *".into()) }];
    let action = |command: &str| {
        let question = read(command).questions(command).remove(0);
        decide(&permissions, &always, &question).action
    };
    assert_eq!(action("git push origin main"), Action::Allow);
    assert_eq!(action("git status && git push origin main"), Action::Allow);
    for command in [
        "git push --force",
        "git push --force origin",
        "git  push   --force-with-lease",
        "git push \"--force\"",
        "git push --for\\ce",
        "git -C . push --force",
        "/usr/bin/git push --force",
        "git push $x",
        "ls; git push --force",
        "echo $(git push --force)",
        "sudo git push --force",
    ] {
        assert_eq!(action(command), Action::Deny, "{command}");
    }
}

#[test]
fn hostile_sizes_are_refused_quickly() {
    let hostile = ["$(", "(", "a|", "\"$(", "{a,", "`", "<<a ", "a[", "${", "if ", "case x in ", "[[ "];
    for command in hostile.map(|part| part.repeat(16_000 / part.len())) {
        assert!(read(&command).unclear.is_some());
    }
    assert!(read(&"ls;".repeat(100_000)).unclear.is_some());
    assert!(read("").unclear.is_some() && read("# nothing").unclear.is_some());
}

#[test]
fn redirections_are_writes() {
    assert_eq!(read("echo x > a 2>> 'b c' >/dev/null").writes, ["a", "b c"]);
    let question = &read("echo x > a").questions("echo x > a")[1];
    assert_eq!((question.permission.as_str(), question.subjects.as_slice()), ("write", &["a".to_owned()][..]));
}

/// Pieces of command lines: what separates, quotes, expands, redirects and groups, and a few words.
const PIECES: &[&str] = &[
    " ",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "(",
    ")",
    "{ ",
    "; }",
    "\"",
    "'",
    "`",
    "$(",
    ")",
    "<(",
    ">(",
    "$x",
    "${x}",
    "${x:-",
    "}",
    "$((",
    "))",
    "$'",
    "$\"",
    "\\",
    "\\\n",
    "#",
    " #",
    "=",
    "x=1 ",
    "x=",
    "a=(",
    "[",
    "]",
    "[[ ",
    " ]]",
    "[ ",
    " ]",
    "!",
    "! ",
    "<",
    ">",
    ">f",
    "2>&1",
    "<<E\n",
    "\nE\n",
    "<<<",
    "*",
    "?",
    "~",
    "{a,b}",
    "alpha",
    "bravo",
    "alpha",
    "bravo ",
    " charlie",
    "ls",
    "echo ",
    "eval ",
    "env ",
    "sh -c ",
    "time ",
    "if ",
    "; then ",
    "; fi",
    "for i in ",
    "; do ",
    "; done",
    "while ",
    "case a in a) ",
    ";; esac",
    "f() ",
    "function f ",
    "f",
    "exec ",
    "command ",
    "-x",
    "--",
    "$",
    "$@",
    "\t",
    "coproc ",
    "trap ",
    " EXIT",
    "-exec ",
    "find . ",
    "\\;",
    "xargs ",
    "unset ",
    "export ",
    "local ",
    "true",
];

#[test]
fn random_commands_are_no_exception() {
    let cases: usize = std::env::var("RAMUS_ORACLE_CASES").map_or(400, |cases| cases.parse().unwrap());
    let mut state: u64 = std::env::var("RAMUS_ORACLE_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let corpus: Vec<String> = bypass().into_iter().filter(|command| command.len() < 200).collect();
    let mut all = Vec::new();
    while all.len() < cases {
        let mut command: String = match next(4) {
            0 => (0..2 + next(9)).map(|_| PIECES[next(PIECES.len())]).collect(),
            _ => corpus[next(corpus.len())].clone(),
        };
        for _ in 0..next(4) {
            let at = command.floor_char_boundary(next(command.len() + 1));
            match next(3) {
                0 => drop(command.drain(at..command.ceil_char_boundary((at + 1 + next(3)).min(command.len())))),
                _ => command.insert_str(at, PIECES[next(PIECES.len())]),
            }
        }
        // What is unclear is asked about whatever it runs.
        if read(&command).unclear.is_none() {
            all.push(command);
        }
    }
    let (leaks, ran, _) = leaks(&all, read);
    println!("{cases} commands, {ran} ran a canary");
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}
