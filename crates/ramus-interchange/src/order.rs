//! The order of messages that are files: by when they were said, and those of one moment by their names.

use std::cmp::Ordering;

use crate::error::Error;

/// Puts files of messages, which are in the order of their names, into the order in which the messages were said. A message that
/// has no time was said right behind the one before it.
pub(crate) fn by_time(
    names: Vec<String>,
    mut said: impl FnMut(&str) -> Result<Option<f64>, Error>,
) -> Result<Vec<String>, Error> {
    let mut timed = Vec::with_capacity(names.len());
    let mut clock = f64::NEG_INFINITY;
    for name in names {
        clock = said(&name)?.unwrap_or(clock);
        timed.push((clock, name));
    }
    timed.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    Ok(timed.into_iter().map(|(_, name)| name).collect())
}

/// Compares names: numbers in them by what they are, not by how they are spelled.
pub(crate) fn natural(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one.as_bytes(), other.as_bytes());
    while let (Some(first), Some(second)) = (left.first(), right.first()) {
        let order = if first.is_ascii_digit() && second.is_ascii_digit() {
            let (number, rest) = digits(left);
            let (against, behind) = digits(right);
            (left, right) = (rest, behind);
            number.len().cmp(&against.len()).then_with(|| number.cmp(against))
        } else {
            let order = first.cmp(second);
            (left, right) = (left.get(1..).unwrap_or_default(), right.get(1..).unwrap_or_default());
            order
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    left.len().cmp(&right.len()).then_with(|| one.cmp(other))
}

/// The digits that a name starts with, without zeros in front, and what is behind them.
fn digits(name: &[u8]) -> (&[u8], &[u8]) {
    let end = name.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(name.len());
    let (number, rest) = name.split_at(end);
    let start = number.iter().position(|byte| *byte != b'0').unwrap_or(number.len());
    (number.get(start..).unwrap_or_default(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let mut names = vec!["msg_10.json", "msg_2.json", "msg_010.json", "msg_1.json", "b", "msg_1", "msg_.json"];
        names.sort_by(|one, other| natural(one, other));
        assert_eq!(names, ["b", "msg_.json", "msg_1", "msg_1.json", "msg_2.json", "msg_010.json", "msg_10.json"]);
    }
}
