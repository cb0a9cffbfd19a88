//! Files that ramus wrote: every program must read our context from them, append without damage, and leave a file
//! from which we read the same plus its message.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::digest::{self, Digest, difference, roles};
use super::oracle::{Answer, Oracle, Oracles, View};
use super::ramus::{Context, Ramus};
use super::scenarios::{self, Product};
use super::{Extent, Row, Scope, Verdict, fixtures};

/// Plays every scenario that `scope` covers and lets the programs judge its file.
pub(super) fn judge(oracles: &Oracles, ramus: &Ramus, scope: &Scope, show: &mut impl FnMut(Row)) -> Result<()> {
    let programs: &[Oracle] = if scope.extent == Extent::Full { &Oracle::ALL } else { fixtures::REFERENCES.as_slice() };
    for (name, play) in scenarios::ALL {
        let case = format!("written/{name}");
        if !scope.covers(&case) {
            continue;
        }
        match play(ramus).and_then(|product| Bench::prepare(oracles, ramus, scope, product)) {
            Ok(bench) => {
                for program in programs {
                    show(Row::of(&case, program.name(), bench.compare(*program)));
                }
            }
            Err(error) => show(Row::of(&case, "ramus", Err(error))),
        }
    }
    Ok(())
}

/// One file of ours under judgement, with what we say about it.
struct Bench<'a> {
    oracles: &'a Oracles,
    ramus: &'a Ramus,
    scope: &'a Scope,
    product: Product,
    bytes: Vec<u8>,
    context: Context,
    labels: Vec<(String, String)>,
}

impl<'a> Bench<'a> {
    fn prepare(oracles: &'a Oracles, ramus: &'a Ramus, scope: &'a Scope, product: Product) -> Result<Self> {
        let bytes = fs::read(&product.file).with_context(|| format!("no {}", product.file.display()))?;
        ramus.healthy(&product.file)?;
        let context = ramus.context(&product.file)?;
        product.expected(&context.messages)?;
        let labels = ramus.labels(&product.file)?;
        Ok(Self { oracles, ramus, scope, product, bytes, context, labels })
    }

    fn compare(&self, program: Oracle) -> Result<(Verdict, String)> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let copy = folder.path().join(self.product.file.file_name().unwrap_or_default());
        fs::write(&copy, &self.bytes)?;
        let view = match self.oracles.append(program, &copy, self.scope.limit())? {
            Answer::Seen(view) => view,
            Answer::Refused(error) => bail!("it fails: {error}"),
            Answer::Hung => bail!("it hangs"),
        };
        self.same_view(program, &view)?;
        match view.unparseable {
            Some(0) => {}
            Some(lines) => bail!("{lines} lines are not JSON after its append"),
            None => bail!("it appended nothing"),
        }
        let kept = same_entries(&self.bytes, &fs::read(&copy)?)?;
        self.same_afterwards(program, &copy)?;
        Ok((Verdict::Same, format!("{}; {kept}", roles(&self.context.messages))))
    }

    /// It must see what we see.
    fn same_view(&self, program: Oracle, view: &View) -> Result<()> {
        if let Some(difference) = difference(&self.context.messages, &view.messages) {
            bail!("{difference}");
        }
        ensure!(view.labels == self.labels, "labels: ours {:?}, theirs {:?}", self.labels, view.labels);
        if program == Oracle::Omp13 {
            let (ours, theirs) = (&self.context.state, &view.state);
            ensure!(ours == theirs, "ours {ours}; theirs {theirs}");
        }
        if let (Some(title), Oracle::Pi73 | Oracle::Pi87) = (&self.product.title, program) {
            ensure!(view.title.as_ref() == Some(title), "title: ours {title:?}, theirs {:?}", view.title);
        }
        Ok(())
    }

    /// Our reading of what it left: the same context with its message at the end, and nothing to complain about.
    fn same_afterwards(&self, program: Oracle, copy: &Path) -> Result<()> {
        let content = [json!({"type": "text", "text": format!("appended by {}", program.name())})];
        let mut expected = self.context.messages.clone();
        expected.push(Digest::of_message(&json!({"role": "user", "content": content})));
        let after = self.ramus.context(copy).context("after its append")?;
        if let Some(difference) = difference(&after.messages, &expected) {
            bail!("after its append: {difference}");
        }
        self.ramus.healthy(copy).context("after its append")
    }
}

/// Checks that every entry we wrote is still there, in order and first; says how the file was changed.
fn same_entries(before: &[u8], after: &[u8]) -> Result<&'static str> {
    if after.starts_with(before) {
        return Ok("appended in place");
    }
    let (ours, theirs) = (entries(before)?, entries(after)?);
    let at = ours.iter().zip(&theirs).take_while(|(ours, theirs)| ours == theirs).count();
    ensure!(at == ours.len(), "it rewrote the file and changed entry {at} of {}", ours.len());
    Ok("rewritten, entries unchanged")
}

/// The entries of a file, without header and title line: those belong to the program that rewrites.
fn entries(bytes: &[u8]) -> Result<Vec<Value>> {
    let text = std::str::from_utf8(bytes).context("the file is not UTF-8")?;
    let lines = text.lines().filter(|line| !line.trim().is_empty()).map(digest::parse);
    let own = |line: &Value| line.get("type").is_none_or(|kind| kind != "session" && kind != "title");
    Ok(lines.collect::<Result<Vec<_>>>()?.into_iter().filter(own).collect())
}

#[cfg(test)]
mod tests {
    use super::same_entries;

    const BEFORE: &[u8] = b"{\"type\":\"session\"}\n{\"type\":\"a\",\"n\":1}\n";

    #[test]
    fn appending_and_rewriting_are_told_apart() {
        let appended = [BEFORE, b"{\"type\":\"b\"}\n"].concat();
        assert_eq!(same_entries(BEFORE, &appended).unwrap(), "appended in place");
        let rewritten = b"{\"type\":\"title\"}\n{\"type\":\"session\"}\n{\"n\":1,\"type\":\"a\"}\n{\"type\":\"b\"}\n";
        assert_eq!(same_entries(BEFORE, rewritten).unwrap(), "rewritten, entries unchanged");
    }

    #[test]
    fn a_lost_entry_is_noticed() {
        assert!(same_entries(BEFORE, b"{\"type\":\"session\"}\n{\"type\":\"b\"}\n").is_err());
    }
}
