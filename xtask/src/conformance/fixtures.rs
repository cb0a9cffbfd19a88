//! Files that others wrote: our reading of each must be theirs, and must leave the file as it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::digest::{Digest, difference, roles};
use super::expectations::{self, Expectation, Failure, Reference};
use super::oracle::{Answer, Oracle, Oracles};
use super::ramus::{Context as Ours, Ramus};
use super::{Row, Scope, Verdict};

/// Folders with session files in our format.
const FOLDERS: [&str; 2] = ["fixtures/pi", "fixtures/agents/pi"];
/// The programs whose reading is the measure.
pub(super) const REFERENCES: [Oracle; 2] = [Oracle::Pi87, Oracle::Omp13];

/// When a program that is known to hang is given up: no file here takes any of them a second.
const IMPATIENCE: Duration = Duration::from_secs(6);

/// Judges every file under `shared` that `scope` covers.
pub(super) fn judge(
    shared: &Path,
    oracles: &Oracles,
    ramus: &Ramus,
    scope: &Scope,
    show: &mut impl FnMut(Row),
) -> Result<()> {
    for folder in FOLDERS {
        for file in sessions(&shared.join(folder))? {
            let case = file.strip_prefix(shared.join("fixtures")).unwrap_or(&file).display().to_string();
            if !scope.covers(&case) {
                continue;
            }
            judge_file(&case, &file, oracles, ramus, scope, show);
        }
    }
    Ok(())
}

/// Judges one file: our reading against that of every reference.
pub(super) fn judge_file(
    case: &str,
    file: &Path,
    oracles: &Oracles,
    ramus: &Ramus,
    scope: &Scope,
    show: &mut impl FnMut(Row),
) {
    let bench = Bench { oracles, ramus, scope, file };
    match bench.ours() {
        Ok(ours) => {
            for program in REFERENCES {
                show(Row::of(case, program.name(), bench.compare(program, &ours)));
            }
        }
        Err(error) => show(Row::of(case, "ramus", Err(error))),
    }
}

/// One file under judgement.
struct Bench<'a> {
    oracles: &'a Oracles,
    ramus: &'a Ramus,
    scope: &'a Scope,
    file: &'a Path,
}

impl Bench<'_> {
    /// Our reading. Neither the file nor its folder may change.
    fn ours(&self) -> Result<Ours> {
        let (folder, copy) = self.copy(self.file)?;
        let context = self.ramus.context(&copy)?;
        ensure!(fs::read(&copy)? == fs::read(self.file)?, "reading changed the file");
        ensure!(fs::read_dir(folder.path())?.count() == 1, "reading left something beside the file");
        Ok(context)
    }

    fn compare(&self, program: Oracle, ours: &Ours) -> Result<(Verdict, String)> {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        if let Some(expectation) = expectations::find(&name, program) {
            return self.better(expectation, ours);
        }
        let theirs = match self.ask(program, self.file, self.scope.limit())?.0 {
            Answer::Seen(view) => view,
            Answer::Refused(error) => bail!("no expectation says that it fails: {error}"),
            Answer::Hung => bail!("no expectation says that it hangs"),
        };
        if let Some(difference) = difference(&ours.messages, &theirs.messages) {
            bail!("{difference}");
        }
        // The state follows omp 13, the program that the format's description belongs to.
        if program == Oracle::Omp13 {
            ensure!(ours.state == theirs.state, "ours {}; theirs {}", ours.state, theirs.state);
        }
        Ok((Verdict::Same, roles(&ours.messages)))
    }

    /// Checks that the program fails as expected and that our answer is the reference's.
    fn better(&self, expectation: &Expectation, ours: &Ours) -> Result<(Verdict, String)> {
        let limit = if expectation.fails == Failure::Hangs { IMPATIENCE } else { self.scope.limit() };
        let fails = match self.ask(expectation.program, self.file, limit)? {
            (Answer::Refused(_), After::Intact) => Failure::Refuses,
            (Answer::Hung, _) => Failure::Hangs,
            (Answer::Seen(view), After::Lost) if view.messages.is_empty() => Failure::Destroys,
            (Answer::Refused(error), After::Lost) => bail!("it failed with {error:?} and lost the file"),
            (Answer::Seen(view), _) => bail!("expected to fail, but it sees {}", roles(&view.messages)),
        };
        ensure!(fails == expectation.fails, "expected: {:?}, but: {fails:?}", expectation.fails);
        let reference = self.reference(expectation.ours)?;
        if let Some(difference) = difference(&ours.messages, &reference) {
            bail!("{difference} (theirs being the reference, {:?})", expectation.ours);
        }
        let does = match fails {
            Failure::Refuses => "it refuses the file",
            Failure::Hangs => "it never answers",
            Failure::Destroys => "it overwrites the file with an empty session",
        };
        Ok((Verdict::Better, format!("{does}; ours: {} ({})", roles(&ours.messages), expectation.why)))
    }

    fn reference(&self, reference: Reference) -> Result<Vec<Digest>> {
        let (program, file) = match reference {
            Reference::Program(program) => (program, self.file.to_owned()),
            Reference::Neighbour(name) => (Oracle::Omp13, self.file.with_file_name(name)),
        };
        match self.ask(program, &file, self.scope.limit())?.0 {
            Answer::Seen(view) => Ok(view.messages),
            Answer::Refused(error) => bail!("the reference {} fails: {error}", program.name()),
            Answer::Hung => bail!("the reference {} hangs", program.name()),
        }
    }

    /// Lets a program open a copy of `file`, and says what became of the copy.
    fn ask(&self, program: Oracle, file: &Path, limit: Duration) -> Result<(Answer, After)> {
        let (_folder, copy) = self.copy(file)?;
        let answer = self.oracles.dump(program, &copy, limit)?;
        let (before, after) = (fs::read(file)?, fs::read(&copy).unwrap_or_default());
        Ok((answer, if after.starts_with(&before) { After::Intact } else { After::Lost }))
    }

    fn copy(&self, file: &Path) -> Result<(tempfile::TempDir, PathBuf)> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let copy = folder.path().join(file.file_name().context("a fixture without a name")?);
        // Written anew rather than copied: fixtures are read-only, and the mode would be copied too.
        fs::write(&copy, fs::read(file)?).context("cannot copy a fixture")?;
        Ok((folder, copy))
    }
}

/// What became of a file that a program has opened.
enum After {
    /// Every byte is still there, possibly with some added at the end.
    Intact,
    Lost,
}

/// All `.jsonl` files under `folder`, in order.
fn sessions(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
