//! A small deterministic generator of numbers (SplitMix64).
//!
//! Not for secrets: it exists so that generated data is the same everywhere and for ever, which no crate promises
//! across its releases.

/// A stream of numbers that its seed alone decides.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts the stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number below `bound`, or 0 when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high bits times the bound: even enough for test data, and no division.
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// Returns true in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    fn draw(seed: u64) -> Vec<u64> {
        let mut random = Random::new(seed);
        (0..8).map(|_| random.bits()).collect()
    }

    #[test]
    fn the_seed_alone_decides() {
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = Random::new(1);
        assert!((0..1_000).all(|_| random.below(3) < 3));
        assert_eq!(random.below(0), 0);
    }
}
