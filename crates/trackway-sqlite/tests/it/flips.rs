//! One flipped byte anywhere in the pages of session data: nothing panics, no wrong data is returned,
//! and the damage affects one session.

mod site;

use trackway_sqlite::SqliteJournal;

use self::site::{Found, Site};

/// The distance between flipped bytes. It is prime, so that it meets every part of rows of any
/// length, and large enough that the test takes seconds.
const STRIDE: usize = 701;

/// Proves T12.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flipped_byte_is_one_sessions_damage_or_none() {
    let site = Site::new().await;
    let mut seen = FlipCounts::default();
    for at in site.offsets_to_flip(STRIDE) {
        let bits = if at % 2 == 0 { 0x01 } else { 0x94 };
        site.flip(at, bits);
        let place = format!("byte {at}, bits {bits:#x}");
        match SqliteJournal::open_read_only(site.folder()) {
            Ok(journal) => {
                let found = site.look(&journal).await;
                drop(journal);
                seen.note(&site, &found, &place);
            }
            Err(error) => assert!(site.has_broken_pages(), "{place}: {error:?}"),
        }
    }
    assert!(seen.flips > 120, "{seen:?}");
    assert!(seen.whole > seen.flips / 3, "most damage is healed or does no harm: {seen:?}");
    assert!(seen.one_refused > 10, "{seen:?}");
}

/// The results of the flips.
#[derive(Debug, Default)]
struct FlipCounts {
    flips: usize,
    whole: usize,
    one_refused: usize,
    several_refused: usize,
}

impl FlipCounts {
    /// Checks the results. The reads themselves have checked that no wrong data is returned.
    fn note(&mut self, site: &Site, found: &[Found], place: &str) {
        self.flips += 1;
        let refused: Vec<&Found> = found.iter().filter(|found| found.refused.is_some()).collect();
        match refused.len() {
            0 => self.whole += 1,
            1 => self.one_refused += 1,
            _ => {
                self.several_refused += 1;
                // SQLite itself may report a broken page; then the damage affects more than one row.
                let by_sqlite = |found: &&Found| {
                    found.refused.as_deref().is_some_and(|reason| reason.contains("malformed"))
                };
                let is_about_pages = refused.iter().all(by_sqlite) || site.has_broken_pages();
                assert!(is_about_pages, "{place}: {refused:#?}");
            }
        }
        assert_eq!(found.len(), site.sessions.len(), "{place}");
    }
}
