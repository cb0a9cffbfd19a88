//! The score of a hit: BM25 as SQLite's FTS5 computes it, so that a scan and an index rank alike.
//!
//! A phrase that few documents have weighs more than one that many have; a document that has it often scores higher, and
//! a long document less than a short one.

use super::matching::Tally;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// What a phrase weighs that more than half of all documents have.
const LEAST: f64 = 1e-6;

/// What a scan learns about all documents.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    /// How many documents there are.
    pub documents: u64,
    /// How many words they have.
    pub words: u64,
    /// For each way a phrase may stand in a text, how many documents have it.
    pub having: Vec<u64>,
}

impl Corpus {
    /// Adds what another scan learnt.
    pub fn add(&mut self, other: &Self) {
        self.documents += other.documents;
        self.words += other.words;
        self.having.resize(self.having.len().max(other.having.len()), 0);
        for (count, more) in self.having.iter_mut().zip(&other.having) {
            *count += more;
        }
    }

    /// Adds a document.
    pub fn count(&mut self, tally: &Tally) {
        self.documents += 1;
        self.words += u64::from(tally.length);
        self.having.resize(self.having.len().max(tally.counts.len()), 0);
        for (having, count) in self.having.iter_mut().zip(&tally.counts) {
            *having += u64::from(*count > 0);
        }
    }
}

/// Returns the score of a document; the higher, the better.
pub fn score(tally: &Tally, scored: impl Iterator<Item = bool>, corpus: &Corpus) -> f64 {
    let documents = corpus.documents.max(1) as f64;
    let average = (corpus.words as f64 / documents).max(1.0);
    let length = f64::from(tally.length) / average;
    let one = |(count, having): (&u32, &u64)| {
        let having = *having as f64;
        let weight = ((documents - having + 0.5) / (having + 0.5)).ln().max(LEAST);
        let count = f64::from(*count);
        weight * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
    };
    tally.counts.iter().zip(&corpus.having).zip(scored).filter(|(_, scored)| *scored).map(|(pair, _)| one(pair)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_often_and_short_score_higher() {
        let corpus = Corpus { documents: 100, words: 1000, having: vec![2, 50] };
        let of = |counts: [u32; 2], length| {
            score(&Tally { counts: counts.to_vec(), length }, [true, true].into_iter(), &corpus)
        };
        assert!(of([1, 0], 10) > of([0, 1], 10));
        assert!(of([2, 0], 10) > of([1, 0], 10));
        assert!(of([1, 0], 5) > of([1, 0], 50));
        assert!(of([0, 1], 10) > 0.0);
    }
}
