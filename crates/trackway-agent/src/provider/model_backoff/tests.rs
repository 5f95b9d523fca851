//! Attempts and pauses, without waiting.

use super::*;

fn busy(retry_after: Option<Duration>) -> ModelError {
    ModelError::Busy { status: 429, reason: "busy".into(), retry_after }
}

#[test]
fn three_attempts_and_less_than_ten_seconds() {
    for random in [0, 1, 7, u64::MAX, 0x1234_5678_9abc_def0] {
        let mut backoff = ModelBackoff::new(random);
        let first = backoff.next_retry_pause(&busy(None)).unwrap();
        let second = backoff.next_retry_pause(&ModelError::Truncated).unwrap();
        assert_eq!(backoff.attempts, 3);
        assert!(first >= PAUSE_FIRST / 2 && first <= PAUSE_FIRST, "{first:?}");
        assert!(second >= PAUSE_FIRST && second <= PAUSE_FIRST * 2, "{second:?}");
        assert_eq!(backoff.next_retry_pause(&busy(None)), None);
    }
}

#[test]
fn a_wait_that_was_asked_for_is_kept_or_not_begun() {
    let mut backoff = ModelBackoff::new(0);
    assert_eq!(backoff.next_retry_pause(&busy(Some(Duration::from_secs(6)))), Some(Duration::from_secs(6)));
    assert_eq!(backoff.next_retry_pause(&busy(Some(Duration::from_secs(6)))), None, "twelve are too many");
    assert_eq!(backoff.next_retry_pause(&busy(Some(Duration::from_secs(3)))), Some(Duration::from_secs(3)));
    assert_eq!(ModelBackoff::new(0).next_retry_pause(&busy(Some(Duration::from_secs(60)))), None);
    assert_eq!(ModelBackoff::new(0).next_retry_pause(&busy(Some(Duration::MAX))), None);
    let short = ModelBackoff::new(0).next_retry_pause(&busy(Some(Duration::ZERO)));
    assert_eq!(short, Some(PAUSE_FIRST / 2), "at once is too early");
}

#[test]
fn permanent_errors_are_not_retried() {
    let lasting = [
        ModelError::Refused { status: 400, reason: "no".into() },
        ModelError::Failed { reason: "no".into(), retryable: false },
        ModelError::Unreadable { reason: "no".into() },
    ];
    for error in lasting {
        assert_eq!(ModelBackoff::new(0).next_retry_pause(&error), None, "{error}");
    }
}
