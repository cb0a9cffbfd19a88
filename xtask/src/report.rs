//! Results for people: tables that read well in a terminal and in Markdown, and the files under `docs/results`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use jiff::Timestamp;

use crate::process;
use crate::workspace::{self, Workspace};

/// A Markdown table with its columns aligned.
pub(crate) fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> String {
    let heads = heads.map(str::to_owned);
    let widths: Vec<usize> = (0..N)
        .map(|column| {
            let cells = std::iter::once(&heads).chain(rows).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: &[String; N]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join(" | ");
    let body: String = rows.iter().map(line).collect();
    format!("{}| {rule} |\n{body}", line(&heads))
}

/// Writes `docs/results/NAME.md`: a title, where and when it was measured, then `body`.
pub(crate) fn record(workspace: &Workspace, name: &str, title: &str, body: &str) -> Result<PathBuf> {
    record_as(workspace, name, name, title, body)
}

/// Like [`record`], for a command that writes several files.
pub(crate) fn record_as(workspace: &Workspace, name: &str, command: &str, title: &str, body: &str) -> Result<PathBuf> {
    let folder = workspace.root.join("docs").join("results");
    fs::create_dir_all(&folder).context("cannot create docs/results")?;
    let path = folder.join(name).with_extension("md");
    let text = format!(
        "# {title}\n\nWritten by `cargo xtask {command} --record`; do not edit.\n\n{}\n{}\n",
        provenance(workspace),
        body.trim_end()
    );
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("recorded in docs/results/{name}.md");
    Ok(path)
}

fn provenance(workspace: &Workspace) -> String {
    let commit = workspace.commit();
    let date = Timestamp::now().strftime("%Y-%m-%d %H:%M UTC");
    let rustc = process::stdout(std::process::Command::new("rustc").arg("--version")).unwrap_or_default();
    let cores = workspace::cores();
    format!("- commit: {commit}\n- date: {date}\n- compiler: {}\n- cores: {cores}\n", rustc.trim())
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up() {
        let rows = [["Ästchen".to_owned(), "1".to_owned()], ["b".to_owned(), "200".to_owned()]];
        let expected = "| name    | n   |\n| ------- | --- |\n| Ästchen | 1   |\n| b       | 200 |\n";
        assert_eq!(super::table(["name", "n"], &rows), expected);
    }
}
