//! Keeps values that were shortened on the screen, so that they can be shown in full.

use std::collections::VecDeque;

use trackway::api::Part;

/// Limit (CLI): shortened values of a conversation that `/show` can still show; the log has all of them.
const KEPT_MAX: usize = 100;

/// Numbered from 1.
#[derive(Debug, Default)]
pub(super) struct ClippedPartStore {
    entries: VecDeque<Vec<Part>>,
    /// How many were dropped before the first that is kept.
    dropped_count: usize,
}

impl ClippedPartStore {
    /// Keeps it, and returns its number for `/show`.
    pub(super) fn insert_clipped_parts(&mut self, parts: &[Part]) -> usize {
        if self.entries.len() == KEPT_MAX {
            self.entries.pop_front();
            self.dropped_count += 1;
        }
        self.entries.push_back(parts.to_vec());
        self.dropped_count + self.entries.len()
    }

    pub(super) fn get_clipped_parts(&self, number: usize) -> Option<&[Part]> {
        let at = number.checked_sub(self.dropped_count + 1)?;
        self.entries.get(at).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_and_the_oldest_goes_first() {
        let mut clipped = ClippedPartStore::default();
        let numbers: Vec<usize> = (0..KEPT_MAX + 2).map(|_| clipped.insert_clipped_parts(&[])).collect();
        assert_eq!(numbers, (1..=KEPT_MAX + 2).collect::<Vec<_>>());
        for (number, is_there) in
            [(0, false), (2, false), (3, true), (KEPT_MAX + 2, true), (KEPT_MAX + 3, false)]
        {
            assert_eq!(clipped.get_clipped_parts(number).is_some(), is_there, "{number}");
        }
    }
}
