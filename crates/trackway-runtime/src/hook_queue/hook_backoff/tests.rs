//! Pauses double up to a bound, are spread, and end after a day.

use super::*;

const BEGIN: Timestamp = Timestamp::from_millis(1_000_000);

/// The pause after this many failures, in seconds: the shortest and the longest that the random number gives.
fn pause(failures: u32) -> (f64, f64) {
    let after = |random| {
        let next = next_delivery_attempt_at(BEGIN, BEGIN, failures, random).unwrap();
        next.duration_since(BEGIN).as_secs_f64()
    };
    let half = after(0);
    // The longest pause comes with the largest random number before the range wraps around.
    let longest = after((half * 1_000.0) as u64);
    (half, longest)
}

/// Proves X2: pauses double from a second to a quarter of an hour.
#[test]
fn pauses_double_up_to_a_bound() {
    let table = [(1, 1.0), (2, 2.0), (3, 4.0), (10, 512.0), (11, 900.0), (12, 900.0)];
    for (failures, longest) in table {
        assert_eq!(pause(failures), (longest / 2.0, longest), "after {failures} failures");
    }
    assert_eq!(pause(u32::MAX).1, 900.0);
    assert_eq!(pause(0).1, 1.0);
}

/// Proves X2: for every random number, the pause is in its second half.
#[test]
fn jitter_stays_inside_the_pause() {
    for random in [0, 1, 499, 500, 501, 12_345_678, u64::MAX] {
        let pause = next_delivery_attempt_at(BEGIN, BEGIN, 1, random).unwrap().duration_since(BEGIN);
        assert!((500..=1_000).contains(&pause.as_millis()), "{pause:?} for {random}");
    }
}

/// Proves X2: a last attempt at the end of the day, and none after it.
#[test]
fn delivery_is_given_up_after_a_day() {
    let end = BEGIN + GIVE_UP_AFTER;
    let shortly = Timestamp(end.millis() - 1);
    assert_eq!(next_delivery_attempt_at(shortly, BEGIN, 200, u64::MAX), Some(end));
    assert_eq!(next_delivery_attempt_at(end, BEGIN, 200, 0), None);
    assert_eq!(next_delivery_attempt_at(end + PAUSE_MAX, BEGIN, 1, 0), None);
}

/// Proves X2: a receiver that is down for a day sees about a hundred attempts of one update.
#[test]
fn a_day_has_a_bounded_number_of_attempts() {
    for random in [0, u64::MAX / 3, 7_777_777] {
        let (mut now, mut failures) = (BEGIN, 0_u32);
        while let Some(next) = next_delivery_attempt_at(now, BEGIN, failures + 1, random) {
            assert!(next > now);
            now = next;
            failures += 1;
        }
        assert!((100..250).contains(&failures), "{failures}");
    }
}
