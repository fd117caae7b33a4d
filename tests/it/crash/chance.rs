//! Random choices, which are the same again for the same seed.

use std::time::{SystemTime, UNIX_EPOCH};

/// A source of random choices. Contains the state of the generator.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    /// Returns the seed that `ART_CRASH_SEED` names, or a new one.
    pub(super) fn seed() -> u64 {
        match std::env::var("ART_CRASH_SEED") {
            Ok(seed) => seed.parse().expect("`ART_CRASH_SEED` is a number"),
            Err(_) => u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos()),
        }
    }

    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `bound`.
    pub(super) fn number_below(&mut self, bound: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// Returns `true` in `percent` of 100 cases.
    pub(super) fn true_in_percent(&mut self, percent: u64) -> bool {
        self.number_below(100) < percent
    }
}
