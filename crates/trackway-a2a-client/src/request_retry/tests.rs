//! Which requests are retried, and after how long.

use super::*;
use crate::{AgentRefusal, AgentRefusalKind};

fn status(status: u16, retry_after: Option<u64>) -> ClientError {
    let retry_after = retry_after.map(Duration::from_secs);
    ClientError::Status { status, retry_after, body: String::new() }
}

#[test]
fn only_what_passes_is_tried_again() {
    for (code, expected) in
        [(429, true), (502, true), (503, true), (504, true), (400, false), (401, false), (500, false)]
    {
        for effect in [RepeatEffect::Harmless, RepeatEffect::OnlyOnce] {
            assert_eq!(
                is_transient_error(&status(code, None), effect, ResendPolicy::WhenRefused),
                expected,
                "{code}"
            );
        }
    }
    let timeout = ClientError::Timeout { after: Duration::ZERO };
    assert!(is_transient_error(&timeout, RepeatEffect::Harmless, ResendPolicy::WhenLost));
    assert!(
        !is_transient_error(&timeout, RepeatEffect::OnlyOnce, ResendPolicy::WhenLost),
        "its time is over"
    );
    let refusal = |status| {
        let kind = AgentRefusalKind::Internal;
        let data = serde_json::Value::Null;
        let message = String::new();
        ClientError::Refused(Box::new(AgentRefusal { kind, code: -32603, message, data, status }))
    };
    assert!(!is_transient_error(&refusal(200), RepeatEffect::Harmless, ResendPolicy::WhenLost));
    assert!(is_transient_error(&refusal(503), RepeatEffect::OnlyOnce, ResendPolicy::WhenRefused));
}

#[test]
fn waits_double_up_to_the_longest_and_differ() {
    let backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(10) };
    for (failures, most) in [(0, 1), (1, 2), (2, 4), (3, 8), (4, 10), (31, 10), (32, 10), (99, 10)] {
        let most = Duration::from_secs(most);
        for _ in 0..20 {
            let wait = backoff.backoff_delay_after(failures);
            assert!(most / 2 <= wait && wait <= most, "{failures}: {wait:?}");
        }
    }
    let waits: std::collections::HashSet<_> = (0..20).map(|_| backoff.backoff_delay_after(4)).collect();
    assert!(waits.len() > 1, "clients must not come back together");
}

#[test]
fn an_agent_may_ask_for_a_longer_wait_within_reason() {
    let backoff = Backoff { first: Duration::from_millis(1), longest: Duration::from_millis(1) };
    assert_eq!(retry_delay(&status(503, Some(7)), backoff, 0), Some(Duration::from_secs(7)));
    assert_eq!(retry_delay(&status(503, Some(3_600)), backoff, 0), None);
    assert!(retry_delay(&status(503, None), backoff, 0).unwrap() <= backoff.longest);
}
