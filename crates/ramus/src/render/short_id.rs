//! Short names: the part of an id that is enough to tell it from all others.

use super::{Text, style};

/// The shortest prefix that names anything.
const MIN_PREFIX: usize = 4;

/// How much of an id is shown when less would be enough.
pub(crate) const SHOWN: usize = 8;

/// Returns, for each id, how many bytes of it are unique among all of them.
pub(crate) fn unique_lengths(ids: &[&str]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    let id = |at: usize| ids.get(at).copied().unwrap_or_default();
    order.sort_unstable_by_key(|at| id(*at));
    let mut lengths = vec![MIN_PREFIX; ids.len()];
    for pair in order.windows(2) {
        let &[before, after] = pair else { continue };
        let needed = shared(id(before), id(after)) + 1;
        for at in [before, after] {
            if let Some(length) = lengths.get_mut(at) {
                *length = needed.max(*length);
            }
        }
    }
    for (at, length) in lengths.iter_mut().enumerate() {
        *length = boundary(id(at), *length);
    }
    lengths
}

fn shared(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count()
}

/// The first place at or behind `length` where the text can be cut.
fn boundary(text: &str, length: usize) -> usize {
    (length..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Returns how much of an id is shown.
pub(crate) fn shown(id: &str, unique: usize) -> &str {
    id.get(..boundary(id, unique.max(SHOWN))).unwrap_or(id)
}

/// Adds an id: the unique part stands out, the rest of what is shown does not.
pub(crate) fn put(text: &mut Text, id: &str, unique: usize) {
    let shown = shown(id, unique);
    let (head, tail) = shown.split_at_checked(unique).unwrap_or((shown, ""));
    text.styled(style::ID, head).styled(style::DIM, tail);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_unique_and_long_enough() {
        assert_eq!(unique_lengths(&["a1b2c3d4", "a1b2c3ff", "ffff0000"]), [7, 7, 4]);
        // An id that starts another one is named by all of it.
        assert_eq!(unique_lengths(&["abcde", "abcdef"]), [5, 6]);
        assert_eq!(unique_lengths(&["x", "yy"]), [1, 2]);
        assert_eq!(unique_lengths(&["äääx", "äääy"]), [7, 7]);
    }
}
