//! Claims: a message is processed once.

use std::sync::Arc;

use trackway_domain::Caller;
use trackway_ports::{AppendError, Claim, Journal};

use super::samples::*;

/// The claim that made an append fail.
fn lost_to(outcome: Result<trackway_ports::Receipt, AppendError>) -> Claim {
    match outcome {
        Err(AppendError::Claimed(claim)) => *claim,
        other => panic!("expected a claim, got {other:?}"),
    }
}

/// Proves X2: a repeated request finds the result of the first and writes nothing.
pub async fn the_first_claim_wins(journal: Arc<dyn Journal>) {
    let caller = Caller::new("tenant", "user");
    let first = claim(&caller, "message", run(1));
    let mut original = appending(run(1), 0, [1]);
    original.claim = Some(first.clone());
    write(&*journal, original).await;

    let mut second = claim(&caller, "message", run(2));
    second.digest = "another".to_owned();
    second.reply = serde_json::json!(null);
    let key = second.key.clone();
    let mut repeated = appending(run(2), 0, [2]);
    repeated.row = Some(row(2));
    repeated.claim = Some(second);
    assert_eq!(lost_to(append(&*journal, repeated).await), first);

    assert!(log(&*journal, run(2)).await.is_empty());
    assert_eq!(journal.run(run(2)).await.unwrap(), None);
    assert_eq!(journal.claim(key).await.unwrap(), Some(first));
}

/// Proves X2: also if both are pending at the same moment.
pub async fn two_claims_at_once_have_one_winner(journal: Arc<dyn Journal>) {
    let caller = Caller::new("tenant", "user");
    let outcomes: Vec<_> = (1..=50)
        .map(|number| {
            let mut append = appending(run(number), 0, [1]);
            append.claim = Some(claim(&caller, "message", run(number)));
            hand_in(&*journal, append)
        })
        .collect();
    let mut won = 0;
    for outcome in outcomes {
        match outcome.await.unwrap() {
            Ok(_) => won += 1,
            refused => assert_eq!(lost_to(refused).run, run(1)),
        }
    }
    assert_eq!(won, 1);
    for number in 2..=50 {
        assert!(log(&*journal, run(number)).await.is_empty());
    }
}

/// Proves X2: callers choose message ids, so each caller has its own.
pub async fn another_caller_may_use_the_same_message_id(journal: Arc<dyn Journal>) {
    let callers = [
        Caller::new("a", "x"),
        Caller::new("a", "y"),
        Caller::new("b", "x"),
        // If tenant and user were joined, these would equal others.
        Caller::new("ax", ""),
        Caller::new("", "ax"),
    ];
    for (number, caller) in (1..).zip(&callers) {
        let mut append = appending(run(number), 0, [1]);
        append.claim = Some(claim(caller, "message", run(number)));
        write(&*journal, append).await;
    }
    for (number, caller) in (1..).zip(&callers) {
        let expected = claim(caller, "message", run(number));
        let found = journal.claim(expected.key.clone()).await.unwrap();
        assert_eq!(found, Some(expected));
    }
}

/// Proves X2: the message of an append that lost a race can be handed in again.
pub async fn a_refused_append_claims_nothing(journal: Arc<dyn Journal>) {
    let caller = Caller::new("tenant", "user");
    write(&*journal, appending(run(1), 0, [1])).await;
    let mut late = appending(run(1), 0, [2]);
    late.claim = Some(claim(&caller, "message", run(1)));
    assert!(is_conflict(&append(&*journal, late.clone()).await));
    let key = late.claim.clone().unwrap().key;
    assert_eq!(journal.claim(key.clone()).await.unwrap(), None);

    late.expected = 1;
    write(&*journal, late).await;
    assert!(journal.claim(key).await.unwrap().is_some());
}

/// Proves X2.
pub async fn an_unknown_claim_is_none(journal: Arc<dyn Journal>) {
    let key = claim(&Caller::local(), "never", run(1)).key;
    assert_eq!(journal.claim(key).await.unwrap(), None);
}
