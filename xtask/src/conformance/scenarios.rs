//! What ramus is made to write for [`super::written`]: one short conversation per feature of the tree.
//!
//! Turns are complete (no aborted answers, no calls without results): the newest program drops those on purpose, which
//! would be no disagreement about the file.

mod bodies;

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde_json::Value;

use self::bodies::{compaction, message, tool_call, tool_result};
use super::digest::{Digest, roles};
use super::ramus::{Ramus, Talk};

/// A file that a scenario left, and what it says about it.
pub(super) struct Product {
    pub(super) file: PathBuf,
    /// The title that other programs must see.
    pub(super) title: Option<String>,
    /// The roles that our own context must have: the scenario's author, not the code, says what is right.
    roles: &'static str,
}

impl Product {
    /// Fails unless the context is the one that the scenario set out to write.
    pub(super) fn expected(&self, messages: &[Digest]) -> Result<()> {
        let found = roles(messages);
        ensure!(found == self.roles, "our own context is [{found}], meant was [{}]", self.roles);
        Ok(())
    }
}

/// Plays a scenario in a fresh session.
type Scenario = fn(&Ramus) -> Result<Product>;

/// Every scenario by name.
pub(super) const ALL: [(&str, Scenario); 22] = [
    ("chain with tools", chain),
    ("branches", branches),
    ("pointer moved", pointer_moved),
    ("pointer moved twice", pointer_moved_twice),
    ("pointer moved, then append", pointer_moved_then_append),
    ("leaf reset", leaf_reset),
    ("leaf reset, then append", leaf_reset_then_append),
    ("labels", labels),
    ("branch with summary", branch_with_summary),
    ("compaction", compacted),
    ("two compactions", compacted_twice),
    ("fork exported", fork_exported),
    ("fork of a fork exported", fork_of_fork_exported),
    ("segment replaced", segment_replaced),
    ("segment replaced under branches", segment_replaced_under_branches),
    ("segment with the leaf replaced", segment_with_leaf_replaced),
    ("segment kept by a compaction replaced", segment_under_compaction),
    ("segment with a title and a label replaced", segment_with_title),
    ("fork with a replaced segment exported", fork_with_segment_exported),
    ("renamed", renamed),
    ("every kind", every_kind),
    ("version 1 upgraded", version_1_upgraded),
];

fn product(talk: &Talk<'_>, roles: &'static str) -> Result<Product> {
    Ok(Product { file: talk.file()?, title: None, roles })
}

/// Four messages; returns their ids.
fn two_turns(talk: &Talk<'_>) -> Result<[String; 4]> {
    Ok([
        talk.user("Where does the branch begin?")?,
        talk.assistant("At the third ring.")?,
        talk.user("And the leaf?")?,
        talk.assistant("Where the path ends.")?,
    ])
}

fn chain(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    talk.user("Count the leaves. 🌿 «Äste»\t\"quoted\" \\ backslash")?;
    talk.append(&[tool_call("call-1"), tool_result("call-1"), tool_call("call-2"), tool_result("call-2")])?;
    talk.assistant("Two rounds of leaves.")?;
    // Half of a surrogate pair, a NUL, a number that must keep its spelling, and a field nobody knows.
    talk.append(&[message(r#"{"role":"user","content":"cut \ud83d off\u0000","timestamp":1.50e3,"moss":[{}]}"#)])?;
    product(&talk, "user,assistant,toolResult,assistant,toolResult,assistant,user")
}

fn branches(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, _, third, fourth] = two_turns(&talk)?;
    talk.on_entry("branch", &third, &[])?;
    talk.assistant("Another way to say it.")?;
    talk.user("Go on.")?;
    talk.on_entry("branch", &fourth, &[])?;
    talk.user("Back on the first branch.")?;
    talk.assistant("Here we are.")?;
    product(&talk, "user,assistant,user,assistant,user,assistant")
}

fn pointer_moved(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, second, ..] = two_turns(&talk)?;
    talk.on_entry("branch", &second, &[])?;
    product(&talk, "user,assistant")
}

fn pointer_moved_twice(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [first, second, third, _] = two_turns(&talk)?;
    talk.on_entry("branch", &second, &[])?;
    talk.on_entry("branch", &third, &[])?;
    talk.on_entry("label", &first, &["start"])?;
    product(&talk, "user,assistant,user")
}

fn pointer_moved_then_append(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, second, ..] = two_turns(&talk)?;
    talk.on_entry("branch", &second, &[])?;
    talk.user("Rather this way.")?;
    talk.assistant("As you like.")?;
    product(&talk, "user,assistant,user,assistant")
}

fn leaf_reset(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    two_turns(&talk)?;
    talk.on_session("reset-leaf", &[])?;
    product(&talk, "")
}

fn leaf_reset_then_append(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    two_turns(&talk)?;
    talk.on_session("reset-leaf", &[])?;
    talk.user("A new tree.")?;
    talk.assistant("With its own root.")?;
    product(&talk, "user,assistant")
}

fn labels(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [first, second, third, _] = two_turns(&talk)?;
    talk.on_entry("label", &first, &["start"])?;
    talk.on_entry("label", &second, &["draft"])?;
    talk.on_entry("label", &second, &["decision"])?;
    talk.on_entry("label", &third, &["gone"])?;
    talk.on_entry("label", &third, &[])?;
    talk.user("After the labels.")?;
    product(&talk, "user,assistant,user,assistant,user")
}

fn branch_with_summary(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, second, ..] = two_turns(&talk)?;
    talk.on_entry("branch", &second, &["--summary", "The other branch asked about the leaf."])?;
    talk.user("Knowing that, go on.")?;
    talk.assistant("Gladly.")?;
    product(&talk, "user,assistant,branchSummary,user,assistant")
}

fn compacted(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, _, third, _] = two_turns(&talk)?;
    talk.append(&[compaction("They spoke of rings.", &third)])?;
    talk.user("After the summary.")?;
    talk.assistant("Still here.")?;
    product(&talk, "compactionSummary,user,assistant,user,assistant")
}

fn compacted_twice(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, second, _, fourth] = two_turns(&talk)?;
    talk.append(&[compaction("First summary.", &second)])?;
    let after = talk.user("Between the summaries.")?;
    talk.assistant("In between.")?;
    talk.append(&[compaction("Second summary.", &after)])?;
    let last = talk.user("At the end.")?;
    talk.on_entry("branch", &fourth, &[])?;
    talk.user("On a branch behind both.")?;
    talk.on_entry("branch", &last, &[])?;
    talk.assistant("And on the first again.")?;
    product(&talk, "compactionSummary,user,assistant,user,assistant")
}

fn fork_exported(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [first, second, ..] = two_turns(&talk)?;
    talk.on_entry("label", &first, &["start"])?;
    let fork = talk.fork(&second)?;
    fork.user("In the fork.")?;
    fork.assistant("Only here.")?;
    let file = fork.export("fork")?;
    Ok(Product { file, title: None, roles: "user,assistant,user,assistant" })
}

fn fork_of_fork_exported(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, _, third, fourth] = two_turns(&talk)?;
    talk.append(&[compaction("Rings and leaves.", &third)])?;
    let fork = talk.fork(&fourth)?;
    let kept = fork.user("In the fork.")?;
    fork.assistant("A level down.")?;
    fork.append(&[compaction("Down here.", &kept)])?;
    let last = fork.user("After it.")?;
    let second = fork.fork(&last)?;
    second.assistant("Two levels down.")?;
    let file = second.export("fork-of-fork")?;
    Ok(Product { file, title: None, roles: "compactionSummary,user,assistant,user,assistant" })
}

/// Puts one custom message in the place of the entries from `first` to `last`.
fn replace(talk: &Talk<'_>, first: &str, last: &str) -> Result<Value> {
    talk.on_session("replace-segment", &[first, last, "--text", "They agreed where the branch begins."])
}

fn segment_replaced(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, second, third, _] = two_turns(&talk)?;
    talk.user("One more.")?;
    talk.assistant("And an answer.")?;
    replace(&talk, &second, &third)?;
    talk.user("After the replacement.")?;
    product(&talk, "user,custom,assistant,user,assistant,user")
}

fn segment_replaced_under_branches(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, second, third, fourth] = two_turns(&talk)?;
    talk.on_entry("label", &fourth, &["moves along"])?;
    talk.on_entry("branch", &second, &[])?;
    talk.user("A branch from the middle of the segment.")?;
    talk.assistant("It must survive.")?;
    replace(&talk, &second, &third)?;
    product(&talk, "user,custom,user,assistant")
}

fn segment_with_leaf_replaced(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, _, third, fourth] = two_turns(&talk)?;
    replace(&talk, &third, &fourth)?;
    product(&talk, "user,assistant,custom")
}

fn segment_under_compaction(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [_, second, third, _] = two_turns(&talk)?;
    talk.append(&[compaction("They spoke of rings.", &third)])?;
    talk.user("After the summary.")?;
    replace(&talk, &second, &third)?;
    talk.assistant("Nothing that was kept is gone.")?;
    product(&talk, "compactionSummary,custom,assistant,user,assistant")
}

/// Titles and labels are read in file order by everyone: what hangs from a segment must not be said again.
fn segment_with_title(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let first = talk.user("Where does the branch begin?")?;
    let second = talk.assistant("At the third ring.")?;
    talk.on_session("rename", &["An old name"])?;
    talk.on_entry("label", &first, &["an old label"])?;
    talk.user("And the leaf?")?;
    talk.on_session("rename", &["The new name"])?;
    talk.on_entry("label", &first, &["the new label"])?;
    replace(&talk, &second, &second)?;
    let title = Some("The new name".to_owned());
    Ok(Product { title, ..product(&talk, "user,custom,user")? })
}

fn fork_with_segment_exported(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    let [first, second, third, fourth] = two_turns(&talk)?;
    talk.on_entry("label", &first, &["start"])?;
    let fork = talk.fork(&fourth)?;
    replace(&fork, &second, &third)?;
    fork.user("In the fork.")?;
    let file = fork.export("fork-with-segment")?;
    Ok(Product { file, title: None, roles: "user,custom,assistant,user" })
}

fn renamed(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    two_turns(&talk)?;
    talk.on_session("rename", &["First name"])?;
    talk.on_session("rename", &["Grafting « 🌿 »"])?;
    let title = Some("Grafting « 🌿 »".to_owned());
    Ok(Product { title, ..product(&talk, "user,assistant,user,assistant")? })
}

fn every_kind(ramus: &Ramus) -> Result<Product> {
    let talk = Talk::start(ramus)?;
    talk.append(&bodies::kinds_before())?;
    let [first, ..] = two_turns(&talk)?;
    talk.append(&bodies::kinds_after(&first))?;
    talk.assistant("After every kind.")?;
    product(&talk, "user,assistant,user,assistant,custom,custom,assistant")
}

fn version_1_upgraded(ramus: &Ramus) -> Result<Product> {
    let file = ramus.folder().join("version-1.jsonl");
    fs::write(&file, bodies::version_1())?;
    let talk = Talk::in_file(ramus, &file);
    talk.user("Said after the upgrade.")?;
    talk.assistant("Read and written.")?;
    Ok(Product { file, title: None, roles: "compactionSummary,user,assistant,user,assistant" })
}
