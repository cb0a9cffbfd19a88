//! The order in which a format without branches is written.
//!
//! A compaction of ours keeps what comes from some earlier entry on. Formats that can only say "forget what came before"
//! get it in front of that entry: the model is then sent the same, and nothing is written twice.

use hashbrown::{HashMap, HashSet};

use crate::error::Error;
use crate::origin::restore;
use crate::passage::Passage;
use crate::step::{Step, What};

/// Goes through a passage with every compaction in front of what it keeps, except those that `agent` wrote itself.
pub(crate) fn arranged(
    passage: &dyn Passage,
    agent: &str,
    take: &mut dyn FnMut(&Step<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let (moved, places) = moved(passage, agent)?;
    passage.each(&mut |line| {
        let Some(step) = Step::read(line) else { return Ok(()) };
        for compaction in places.get(&*step.id).into_iter().flatten() {
            if let Some(compaction) = Step::read(compaction) {
                take(&compaction)?;
            }
        }
        if moved.contains(&*step.id) { Ok(()) } else { take(&step) }
    })
}

/// The compactions that move, and the entries they move in front of.
type Moved = (HashSet<String>, HashMap<String, Vec<Vec<u8>>>);

fn moved(passage: &dyn Passage, agent: &str) -> Result<Moved, Error> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut moved = HashSet::new();
    let mut places: HashMap<String, Vec<Vec<u8>>> = HashMap::new();
    passage.each(&mut |line| {
        let Some(step) = Step::read(line) else { return Ok(()) };
        if let What::Compaction { first_kept: Some(kept), .. } = &step.what
            && seen.contains(&**kept)
            && restore(step.raw, agent).is_none()
        {
            moved.insert(step.id.clone().into_owned());
            places.entry(kept.clone().into_owned()).or_default().push(line.to_vec());
        }
        seen.insert(step.id.into_owned());
        Ok(())
    })?;
    Ok((moved, places))
}
