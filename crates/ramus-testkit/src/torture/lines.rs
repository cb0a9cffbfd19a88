//! The entries that drivers append: number and seed alone decide every byte, so whoever checks a file needs no record of
//! what was sent.

use crate::random::Random;

/// How long the entries of a run are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// 100 bytes, give or take: as many entries as possible.
    Short,
    /// 100 bytes to 64 KiB, short ones more often.
    Usual,
    /// 1 to 8 MiB: a kill falls inside the write.
    Huge,
}

impl Sizes {
    /// Returns the name that a command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Usual => "usual",
            Self::Huge => "huge",
        }
    }

    /// Finds sizes by their name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Short, Self::Usual, Self::Huge].into_iter().find(|sizes| sizes.name() == name)
    }
}

/// How many letters are drawn for an entry; no divisor of a disk's block, so that blocks cannot be mistaken for each other.
const LETTERS: usize = 1_000;

/// An endless sequence of entries.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// Decides every byte, together with the number of the entry.
    pub seed: u64,
    /// How long entries are.
    pub sizes: Sizes,
}

impl Lines {
    /// Returns the JSON of the message of an entry. Every second one answers, so the second entry publishes a draft.
    pub fn message(&self, number: u64) -> Vec<u8> {
        let mut random = Random::new(self.seed ^ number.wrapping_mul(0xa076_1d64_78bd_642f));
        let length = match self.sizes {
            Sizes::Short => 20,
            Sizes::Usual => {
                let most = 64 << random.below(11);
                random.below(most)
            }
            Sizes::Huge => (1 << 20) + random.below(7 << 20),
        };
        let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
        // Thoughts stay in the line however long they are; texts of that length would be cut.
        let part = if self.sizes == Sizes::Huge { "thinking" } else { "text" };
        let mut json = format!(r#"{{"role":"{role}","content":[{{"type":"{part}","{part}":"{number} "#).into_bytes();
        json.reserve(length + 32);
        let end = json.len() + length;
        // Letters of its own, again and again: quick to make, and no other entry has the same.
        let letters: Vec<u8> =
            (0..LETTERS / 8).flat_map(|_| random.bits().to_le_bytes().map(|byte| b'a' + byte % 26)).collect();
        while json.len() < end {
            json.extend_from_slice(&letters);
        }
        json.truncate(end);
        json.extend_from_slice(br#""}]}"#);
        json
    }

    /// Returns the JSON of an entry without an envelope, as it is handed to `append`.
    pub fn entry(&self, number: u64) -> Vec<u8> {
        [br#"{"type":"message","message":"#.as_slice(), &self.message(number), b"}"].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, Sizes};

    #[test]
    fn entries_are_json_of_the_promised_size() {
        for (sizes, least, most) in [(Sizes::Usual, 70, 66_000), (Sizes::Huge, 1 << 20, 9 << 20)] {
            for number in 0..4 {
                let entry = Lines { seed: 3, sizes }.entry(number);
                assert!((least..most).contains(&entry.len()), "{} bytes", entry.len());
                serde_json::from_slice::<serde_json::Value>(&entry).unwrap();
            }
        }
    }
}
