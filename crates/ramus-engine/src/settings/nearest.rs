//! Finding what was meant: the known word that is nearest to one nobody knows.

/// How many changes a word may be away from what was meant.
const FARTHEST: usize = 3;

/// Says what may have been meant: the nearest of the known words, or all of them.
pub(super) fn hint<'k>(word: &str, known: impl IntoIterator<Item = &'k str>, called: &str) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = known.iter().min_by_key(|known| distance(known, word));
    match nearest.filter(|known| distance(known, word) <= FARTHEST) {
        Some(known) => format!("did you mean {known:?}?"),
        None => format!("{called} are {}", known.join(", ")),
    }
}

/// The number of single-character changes between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row.get(j + 1).copied().unwrap_or_default();
            let here = (above + 1).min(left + 1).min(diagonal + usize::from(x != *y));
            if let Some(slot) = row.get_mut(j) {
                *slot = left;
            }
            diagonal = above;
            left = here;
        }
        if let Some(slot) = row.last_mut() {
            *slot = left;
        }
    }
    row.last().copied().unwrap_or_default()
}
