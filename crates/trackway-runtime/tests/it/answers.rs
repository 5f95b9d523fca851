//! Start, answer, repeat an answer, go back, inspect.

use std::sync::Arc;

use serde_json::json;
use trackway_domain::{Access, AttemptInputs, BranchPosition, Caller, NodeId, ReplyRenderStamp, RunId};
use trackway_runtime::{ConsentStatus, GuidedAdvanceRequest, GuidedAdvanceResponse, GuidedRunError};
use trackway_testkit::MemoryJournal;
use uuid::Uuid;

use crate::support::{
    DefinitionFolder, access, advance, advance_to_end, answer_request, answer_request_at, event_names,
    load_events, notes_inputs, output_inputs, pending_step_id, render_stamp, start_request, start_three,
    three_steps, valid_inputs,
};

/// Proves T3, T9: a run begins at its first step and ends where nothing is pending.
#[tokio::test]
async fn a_run_goes_from_its_first_step_to_its_end() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    assert_eq!((pending_step_id(&first), first.guidance.len()), (Some("one"), 1));
    assert!(first.hash.starts_with("sha256-"), "{}", first.hash);
    let only = BranchPosition { forked: false, index: 0, siblings: 1 };
    assert_eq!((first.branch, first.blocked.clone()), (only, None));
    let second = advance(&guide, answer_request(&first, notes_inputs("did it"))).await.unwrap();
    assert_eq!((pending_step_id(&second), second.branch), (Some("two"), only));
    assert!(second.guidance.is_empty(), "the rules come with a start and a look");
    let end = advance_to_end(&guide, second).await;
    assert_eq!((end.ack, end.pending.clone()), (None, None));
    let log = load_events(&journal, end.run).await;
    let told = ["submitted", "started", "opened", "attempted", "attempted", "attempted"];
    assert_eq!(event_names(&log), [&told[..], &["completed"]].concat());
    let look = guide.inspect_node(&access(), end.run, end.node, render_stamp()).await.unwrap();
    assert_eq!((look.ack, look.pending), (None, None), "a look says that it is complete");
}

/// Proves T4: the same answer again gets the same response, whatever happened since, and writes nothing.
#[tokio::test]
async fn repeated_answer_gets_the_same_view() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    let (blocked, fits) = (output_inputs(json!(1)), output_inputs(json!({ "n": 1 })));
    let second = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
    let stuck = advance(&guide, answer_request(&second, blocked.clone())).await.unwrap();
    let third = advance(&guide, answer_request(&stuck, fits.clone())).await.unwrap();
    let end = advance_to_end(&guide, third.clone()).await;
    let length = load_events(&journal, first.run).await.len();
    let later = ReplyRenderStamp { key: "another".into(), text_version: 9 };
    let again = |advance: GuidedAdvanceRequest| GuidedAdvanceRequest { stamp: later.clone(), ..advance };
    let reopened = library.guided_runs(Arc::new(journal.reopen_as_next_process()));
    for guide in [&guide, &reopened] {
        for (sent, told) in [
            (answer_request(&first, AttemptInputs::default()), &second),
            (answer_request(&second, blocked.clone()), &stuck),
            (answer_request(&stuck, fits.clone()), &third),
            (answer_request(&third, valid_inputs(&third, 1)), &end),
        ] {
            assert_eq!(advance(guide, again(sent)).await.as_ref(), Ok(told));
        }
    }
    assert_eq!(load_events(&journal, first.run).await.len(), length, "nothing was written");
}

/// Proves T6: other inputs, or another ack, at an answered node create another branch.
#[tokio::test]
async fn another_answer_to_the_same_node_is_another_branch() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    let mut seen: Vec<NodeId> = Vec::new();
    let looked = guide.inspect_node(&access(), first.run, first.node, render_stamp()).await.unwrap();
    assert_ne!(looked.ack, first.ack);
    for (index, sent) in [
        answer_request(&first, notes_inputs("a")),
        answer_request(&first, notes_inputs("b")),
        answer_request(&looked, notes_inputs("a")),
        answer_request(&looked, notes_inputs("b")),
    ]
    .into_iter()
    .enumerate()
    {
        let index = u32::try_from(index).unwrap();
        let branch = advance(&guide, sent).await.unwrap();
        assert_eq!(branch.branch, BranchPosition { forked: index > 0, index, siblings: index + 1 });
        assert!(!seen.contains(&branch.node));
        seen.push(branch.node);
        let end = advance_to_end(&guide, branch).await;
        assert_eq!(end.pending, None, "every branch goes on");
    }
    let log = load_events(&journal, first.run).await;
    let completed = event_names(&log).iter().filter(|name| **name == "completed").count();
    assert_eq!(completed, 1, "a run completes once");
    let look = guide.inspect_node(&access(), first.run, first.node, render_stamp()).await.unwrap();
    assert_eq!(look.branch, first.branch, "where it stands itself is as it was");
}

/// Proves T6: a caller that inspects a node, or is blocked at it, gets the same branch as the caller that
/// created it, also after it was moved to another definition.
#[tokio::test]
async fn node_keeps_its_branch() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal));
    let first = start_three(&guide).await;
    advance(&guide, answer_request(&first, notes_inputs("a"))).await.unwrap();
    let second = advance(&guide, answer_request(&first, notes_inputs("b"))).await.unwrap();
    advance(&guide, answer_request(&first, notes_inputs("c"))).await.unwrap();
    let branch = BranchPosition { forked: true, index: 1, siblings: 2 };
    assert_eq!((second.branch, second.advanced), (branch, true));
    for moved in [false, true] {
        if moved {
            let mut changed = three_steps();
            changed["steps"][1]["title"] = json!("Otherwise");
            library.write("three.json", &changed);
            assert!(
                !guide.migrate_to_current_definition(&access(), first.run).await.unwrap().nodes.is_empty()
            );
        }
        let look = guide.inspect_node(&access(), first.run, second.node, render_stamp()).await.unwrap();
        assert_eq!((look.branch, look.advanced), (branch, false), "{moved}");
        let blocked = advance(&guide, answer_request(&look, AttemptInputs::default())).await.unwrap();
        assert!(blocked.blocked.is_some());
        assert_eq!((blocked.branch, blocked.advanced), (branch, false), "{moved}");
    }
}

/// Proves T4: an empty output counts as none if the step expects none, and is checked if the step expects
/// one.
#[tokio::test]
async fn an_empty_output_is_none() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    let second = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
    let again = advance(&guide, answer_request(&first, output_inputs(json!({})))).await.unwrap();
    assert_eq!(again, second, "the same answer");
    let none = advance(&guide, answer_request(&second, AttemptInputs::default())).await.unwrap();
    let empty = advance(&guide, answer_request(&second, output_inputs(json!({})))).await.unwrap();
    assert_ne!(none.blocked.unwrap().code, empty.blocked.unwrap().code);
}

/// Proves T6: a blocked answer does not advance, replays, and is not a fork.
#[tokio::test]
async fn a_blocked_answer_is_no_branch() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal));
    for is_fresh in [true, false] {
        let first = start_three(&guide).await;
        let second = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
        let blocked = advance(&guide, answer_request(&second, AttemptInputs::default())).await.unwrap();
        assert!(blocked.blocked.is_some());
        assert_eq!((blocked.node, &blocked.pending), (second.node, &second.pending));
        assert_ne!(blocked.ack, second.ack, "a fresh one");
        // The ack of the blocked answer is valid for the right answer too.
        let from = if is_fresh { &blocked } else { &second };
        let third = advance(&guide, answer_request(from, output_inputs(json!({ "n": 2 })))).await.unwrap();
        assert_eq!(third.branch, BranchPosition { forked: false, index: 0, siblings: 1 }, "{is_fresh}");
    }
}

/// Proves T6: an inspection writes nothing and offers a fresh ack each time.
#[tokio::test]
async fn inspecting_a_node_records_nothing() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    let one = guide.inspect_node(&access(), first.run, first.node, render_stamp()).await.unwrap();
    let two = guide.inspect_node(&access(), first.run, first.node, render_stamp()).await.unwrap();
    assert!(one.ack != two.ack && one.ack != first.ack);
    assert_eq!((one.pending, one.guidance), (first.pending, first.guidance));
    assert_eq!(load_events(&journal, first.run).await.len(), 3);
}

/// A door that can ask a person asks before anything is recorded; a repetition does not ask again.
#[tokio::test]
async fn consent_is_asked_before_recording() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    let second = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
    let third = advance(&guide, answer_request(&second, output_inputs(json!({ "n": 1 })))).await.unwrap();
    assert!(third.pending.as_ref().is_some_and(|pending| pending.confirm));
    let length = load_events(&journal, first.run).await.len();
    let asked =
        |consent| GuidedAdvanceRequest { consent, ..answer_request(&third, AttemptInputs::default()) };
    let ask = guide.advance_guided_run(&access(), asked(ConsentStatus::NotAskedYet)).await;
    assert!(matches!(ask, Ok(GuidedAdvanceResponse::ConsentNeeded(_))), "{ask:?}");
    assert_eq!(load_events(&journal, first.run).await.len(), length, "nothing was recorded");
    let declined = advance(&guide, asked(ConsentStatus::Answered(false))).await.unwrap();
    let code = declined.blocked.as_ref().map(|block| block.code.as_str());
    assert_eq!((code, declined.node), (Some("confirmation-declined"), third.node));
    let again = advance(&guide, asked(ConsentStatus::NotAskedYet)).await.unwrap();
    assert_eq!(again, declined, "nobody is asked again");
    let agreed = GuidedAdvanceRequest {
        consent: ConsentStatus::Answered(true),
        ..answer_request(&declined, AttemptInputs::default())
    };
    assert_eq!(advance(&guide, agreed).await.unwrap().pending, None);
}

/// Proves T11: another caller's run does not exist.
#[tokio::test]
async fn run_exists_only_for_its_caller() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let first = start_three(&guide).await;
    let unknown = GuidedRunError::UnknownRun { run: first.run };
    let others = [
        Access::own_only(Caller::new("local", "eve")),
        Access::own_only(Caller::new("other", "local")),
        Access::tenant_wide(Caller::new("other", "local")),
    ];
    for other in others {
        let look = guide.inspect_node(&other, first.run, first.node, render_stamp()).await;
        assert_eq!(look, Err(unknown.clone()));
        let sent = answer_request(&first, AttemptInputs::default());
        assert_eq!(guide.advance_guided_run(&other, sent).await, Err(unknown.clone()));
        let noted = guide.record_node_checkpoint(&other, first.run, first.node, "hm", render_stamp()).await;
        assert_eq!(noted, Err(unknown.clone()));
        assert_eq!(guide.migrate_to_current_definition(&other, first.run).await, Err(unknown.clone()));
    }
    assert_eq!(load_events(&journal, first.run).await.len(), 3);
    let of_tenant = Access::tenant_wide(Caller::new("local", "eve"));
    let look = guide.inspect_node(&of_tenant, first.run, first.node, render_stamp()).await.unwrap();
    assert_eq!(look.node, first.node, "unless the whole tenant is open to them");
    guide.advance_guided_run(&of_tenant, answer_request(&first, AttemptInputs::default())).await.unwrap();
}

/// Proves T8: the error names what does not exist.
#[tokio::test]
async fn missing_run_or_node_is_an_error() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal));
    let first = start_three(&guide).await;
    let ack = first.ack.unwrap();
    let run = RunId::new(Uuid::from_u128(5));
    let sent = answer_request_at(run, first.node, ack, AttemptInputs::default());
    assert_eq!(advance(&guide, sent).await, Err(GuidedRunError::UnknownRun { run }));
    let node = NodeId::new(Uuid::from_u128(5));
    let sent = answer_request_at(first.run, node, ack, AttemptInputs::default());
    let unknown = GuidedRunError::UnknownNode { run: first.run, node };
    assert_eq!(advance(&guide, sent).await, Err(unknown));
    let none = guide.start_guided_run(&access(), start_request("thre", &json!({}))).await;
    assert!(matches!(none, Err(GuidedRunError::UnknownWorkflow { .. })), "{none:?}");
}

/// Proves T8: what is too large is refused before anything is written.
#[tokio::test]
async fn what_is_too_large_is_refused() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let large = json!({ "text": "x".repeat(300_000) });
    let refused = guide.start_guided_run(&access(), start_request("three", &large)).await;
    assert!(matches!(refused, Err(GuidedRunError::TooLarge { what: "context", .. })), "{refused:?}");
    let first = start_three(&guide).await;
    let mut inputs = AttemptInputs::default();
    inputs.context.insert("a".into(), json!("x".repeat(200_000)));
    let second = advance(&guide, answer_request(&first, inputs)).await.unwrap();
    let mut inputs = output_inputs(json!({ "n": 1 }));
    inputs.context.insert("b".into(), json!("x".repeat(200_000)));
    let grown = advance(&guide, answer_request(&second, inputs)).await.unwrap();
    let code = grown.blocked.map(|block| block.code);
    assert_eq!(code.as_deref(), Some("context-invalid"), "each is small, and both are too much");
    let large = output_inputs(json!("x".repeat(1_100_000)));
    let refused = advance(&guide, answer_request(&second, large)).await;
    assert!(matches!(refused, Err(GuidedRunError::TooLarge { what: "output", .. })), "{refused:?}");
    assert_eq!(load_events(&journal, first.run).await.len(), 5);
}

/// Proves T11: the context decides which session a run belongs to.
#[tokio::test]
async fn a_session_is_found_by_what_the_context_names() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let guide = library.guided_runs(Arc::new(journal));
    let named = || start_request("three", &json!({ "ticketId": "ACE-7" }));
    let one = guide.start_guided_run(&access(), named()).await.unwrap();
    let two = guide.start_guided_run(&access(), named()).await.unwrap();
    assert_eq!((one.session.as_str(), &one.session), ("ACE-7", &two.session));
    assert_ne!(one.run, two.run);
}
