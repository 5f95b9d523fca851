//! Claims: a message is processed once.

use std::sync::Arc;

use trackway_domain::Caller;
use trackway_ports::{AppendError, Journal, MessageClaim};

use super::sample_appends::*;

/// The claim that made an append fail.
fn winning_claim(outcome: Result<trackway_ports::AppendReceipt, AppendError>) -> MessageClaim {
    match outcome {
        Err(AppendError::Claimed(claim)) => *claim,
        other => panic!("expected a claim, got {other:?}"),
    }
}

/// Proves X2: a repeated request finds the result of the first and writes nothing.
pub async fn the_first_claim_wins(journal: Arc<dyn Journal>) {
    let caller = Caller::new("tenant", "user");
    let first = message_claim(&caller, "message", run_id(1));
    let mut original = numbered_append(run_id(1), 0, [1]);
    original.message_claim = Some(first.clone());
    append_accepted(&*journal, original).await;

    let mut second = message_claim(&caller, "message", run_id(2));
    second.digest = "another".to_owned();
    second.reply = serde_json::json!(null);
    let key = second.key.clone();
    let mut repeated = numbered_append(run_id(2), 0, [2]);
    repeated.row = Some(run_row(2));
    repeated.message_claim = Some(second);
    assert_eq!(winning_claim(append_and_wait(&*journal, repeated).await), first);

    assert!(load_log(&*journal, run_id(2)).await.is_empty());
    assert_eq!(journal.find_run(run_id(2)).await.unwrap(), None);
    assert_eq!(journal.find_message_claim(key).await.unwrap(), Some(first));
}

/// Proves X2: also if both are pending at the same moment.
pub async fn two_claims_at_once_have_one_winner(journal: Arc<dyn Journal>) {
    let caller = Caller::new("tenant", "user");
    let outcomes: Vec<_> = (1..=50)
        .map(|number| {
            let mut append = numbered_append(run_id(number), 0, [1]);
            append.message_claim = Some(message_claim(&caller, "message", run_id(number)));
            enqueue_append(&*journal, append)
        })
        .collect();
    let mut won = 0;
    for outcome in outcomes {
        match outcome.await.unwrap() {
            Ok(_) => won += 1,
            refused => assert_eq!(winning_claim(refused).run, run_id(1)),
        }
    }
    assert_eq!(won, 1);
    for number in 2..=50 {
        assert!(load_log(&*journal, run_id(number)).await.is_empty());
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
        let mut append = numbered_append(run_id(number), 0, [1]);
        append.message_claim = Some(message_claim(caller, "message", run_id(number)));
        append_accepted(&*journal, append).await;
    }
    for (number, caller) in (1..).zip(&callers) {
        let expected = message_claim(caller, "message", run_id(number));
        let found = journal.find_message_claim(expected.key.clone()).await.unwrap();
        assert_eq!(found, Some(expected));
    }
}

/// Proves X2: the message of an append that lost a race can be handed in again.
pub async fn a_refused_append_claims_nothing(journal: Arc<dyn Journal>) {
    let caller = Caller::new("tenant", "user");
    append_accepted(&*journal, numbered_append(run_id(1), 0, [1])).await;
    let mut late = numbered_append(run_id(1), 0, [2]);
    late.message_claim = Some(message_claim(&caller, "message", run_id(1)));
    assert!(is_conflict(&append_and_wait(&*journal, late.clone()).await));
    let key = late.message_claim.clone().unwrap().key;
    assert_eq!(journal.find_message_claim(key.clone()).await.unwrap(), None);

    late.expected = 1;
    append_accepted(&*journal, late).await;
    assert!(journal.find_message_claim(key).await.unwrap().is_some());
}

/// Proves X2.
pub async fn an_unknown_claim_is_none(journal: Arc<dyn Journal>) {
    let key = message_claim(&Caller::local_without_auth(), "never", run_id(1)).key;
    assert_eq!(journal.find_message_claim(key).await.unwrap(), None);
}
