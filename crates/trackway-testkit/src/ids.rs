//! Ids and random numbers that are the same in every run of a test.

use std::sync::atomic::{AtomicU64, Ordering};

use trackway_ports::IdSource;
use uuid::{Builder, Uuid};

/// Counts. As with real UUIDv7, ids made later sort later; pass the same source to the next process,
/// so that this also holds across a restart.
#[derive(Debug, Default)]
pub struct CountingIds {
    made: AtomicU64,
}

impl CountingIds {
    pub fn new() -> Self {
        Self::default()
    }

    fn next_number(&self) -> u64 {
        self.made.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl IdSource for CountingIds {
    fn new_uuid(&self) -> Uuid {
        let next = self.next_number();
        let mut rest = [0; 10];
        rest[2..].copy_from_slice(&mix_bits(next).to_be_bytes());
        Builder::from_unix_timestamp_millis(next, &rest).into_uuid()
    }

    fn random_u64(&self) -> u64 {
        mix_bits(self.next_number())
    }
}

/// The finaliser of SplitMix64: neighbouring numbers in, unrelated numbers out.
pub fn mix_bits(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ids_sort_later_and_are_of_version_7() {
        let ids = CountingIds::new();
        let made: Vec<Uuid> = (0..1_000).map(|_| ids.new_uuid()).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert!(made.iter().all(|id| id.get_version_num() == 7));
    }
}
