//! What a returning agent gets: a recap of its position, and a search without tokens.

use std::sync::Arc;

use serde_json::json;
use trackway_domain::{Access, AttemptInputs, Caller, ErrorCode, SessionId};
use trackway_runtime::{GuidedNodeView, GuidedRunError, NodeRecap};
use trackway_testkit::{InterceptedJournal, MemoryJournal, OutageInterceptor};

use crate::support::{
    DefinitionFolder, access, advance, answer_request, notes_inputs, output_inputs, render_stamp,
    start_request, start_three,
};

fn note_texts(recap: &NodeRecap) -> Vec<&str> {
    recap.notes.iter().map(|note| note.text.as_str()).collect()
}

fn checkpoint_texts(recap: &NodeRecap) -> Vec<&str> {
    recap.checkpoints.iter().map(|note| note.text.as_str()).collect()
}

async fn start_in(guide: &trackway_runtime::GuidedRuns, session: &str) -> GuidedNodeView {
    let begin = start_request("three", &json!({ "ticketId": session }));
    guide.start_guided_run(&access(), begin).await.unwrap()
}

/// Proves T14: an inspection shows the notes and checkpoints on the path, the branches after it, and the
/// session's notes; so does an inspection in another run of the session.
#[tokio::test]
async fn recap_contains_recorded_notes() {
    let library = DefinitionFolder::new();
    let guide = library.guided_runs(Arc::new(MemoryJournal::new()));
    let first = start_in(&guide, "ACE-7").await;
    let second = advance(&guide, answer_request(&first, notes_inputs("Notes of one."))).await.unwrap();
    guide
        .record_node_checkpoint(&access(), second.run, second.node, "Half of two.", render_stamp())
        .await
        .unwrap();
    let session = SessionId::new("ACE-7").unwrap();
    guide.record_session_notes(&access(), &session, "A session note.").await.unwrap();
    let third = advance(&guide, answer_request(&second, output_inputs(json!({ "n": 7 })))).await.unwrap();

    let recap = guide.build_node_recap(&access(), &third).await.unwrap();
    assert_eq!(note_texts(&recap), ["Notes of one."]);
    assert_eq!(recap.notes[0].step.as_deref(), Some("one"), "the step that it was written at");
    let mut told = checkpoint_texts(&recap);
    told.sort_unstable();
    assert_eq!(told, ["A session note.", "Half of two."]);
    assert!(recap.branches.is_empty());

    let recap = guide.build_node_recap(&access(), &first).await.unwrap();
    assert!(recap.notes.is_empty(), "nothing was answered on the way to the first step");
    let [grown] = recap.branches.as_slice() else { panic!("{recap:?}") };
    assert_eq!(grown.node, third.node, "the end of the branch");
    assert_eq!(grown.pending, third.pending);
    assert_eq!(grown.notes.as_deref(), Some("Notes of one."));

    // A second branch.
    let fork = advance(&guide, answer_request(&first, notes_inputs("Another way."))).await.unwrap();
    let recap = guide.build_node_recap(&access(), &fork).await.unwrap();
    assert_eq!(note_texts(&recap), ["Another way."]);
    assert_eq!(guide.build_node_recap(&access(), &first).await.unwrap().branches.len(), 2);

    // Another run of the session, and one of another.
    let other = start_in(&guide, "ACE-7").await;
    let recap = guide.build_node_recap(&access(), &other).await.unwrap();
    assert!(checkpoint_texts(&recap).contains(&"A session note."), "{recap:?}");
    assert_eq!(recap.notes[0].workflow.as_deref(), Some("three"), "{recap:?}");
    assert_eq!(recap.notes[0].run, Some(first.run));
    let stranger = start_in(&guide, "ACE-8").await;
    assert_eq!(guide.build_node_recap(&access(), &stranger).await.unwrap(), NodeRecap::default());
}

/// Proves T14: a recap is limited in bytes; the newest is kept, and a mark shows what is cut.
#[tokio::test]
async fn a_recap_is_bounded() {
    let library = DefinitionFolder::new();
    let steps: Vec<_> =
        (0..60).map(|number| json!({ "id": format!("s{number}"), "title": "S", "prompt": "Do." })).collect();
    library.write(
        "long.json",
        &json!({ "trackway": 1, "id": "long", "name": "Long", "description": "Many.", "version": "1", "steps": steps }),
    );
    let guide = library.guided_runs(Arc::new(MemoryJournal::new()));
    let mut at = guide.start_guided_run(&access(), start_request("long", &json!({}))).await.unwrap();
    for number in 0..50 {
        let notes = format!("note {number} {}", "x".repeat(3_000));
        at = advance(&guide, answer_request(&at, notes_inputs(&notes))).await.unwrap();
    }
    let recap = guide.build_node_recap(&access(), &at).await.unwrap();
    let bytes: usize = note_texts(&recap).iter().map(|text| text.len()).sum();
    assert!(bytes <= 12 * 1_024, "{bytes}");
    assert!(recap.is_truncated);
    assert!(note_texts(&recap)[0].starts_with("note 49 "), "{recap:?}");
    assert!(note_texts(&recap)[0].ends_with("more characters)"), "{recap:?}");
}

/// Proves T14: a new chat finds its runs by session, by another id of the context, by run and by words;
/// only its own ones.
#[tokio::test]
async fn a_run_is_found_again_without_tokens() {
    let library = DefinitionFolder::new();
    let guide = library.guided_runs(Arc::new(MemoryJournal::new()));
    let first = guide
        .start_guided_run(&access(), start_request("three", &json!({ "ticketId": "ACE-7", "prId": "PR-55" })))
        .await
        .unwrap();
    let second =
        advance(&guide, answer_request(&first, notes_inputs("The login retries twice."))).await.unwrap();
    let other = start_in(&guide, "ACE-8").await;
    let eve = Access::own_only(Caller::new("local", "eve"));
    let hers =
        guide.start_guided_run(&eve, start_request("three", &json!({ "ticketId": "ACE-7" }))).await.unwrap();

    let find = async |query: &str| {
        let found = guide.find_resumable_runs(&access(), query, &|_| true).await.unwrap();
        found.items.iter().map(|item| (item.run, item.node)).collect::<Vec<_>>()
    };
    let tip = (first.run, second.node);
    for query in ["ACE-7", " ACE-7 ", "PR-55", "pr-55", "login RETRIES", &first.run.to_string()] {
        assert_eq!(find(query).await, [tip], "{query}");
    }
    for query in ["three", "Three one"] {
        assert!(find(query).await.contains(&(other.run, other.node)), "{query}");
    }
    let all = find("").await;
    assert!(all.len() == 2 && all.contains(&tip), "{all:?}");
    for query in ["nothing like it", &hers.run.to_string(), "ACE-9"] {
        assert!(find(query).await.is_empty(), "{query}");
    }
    let item = guide.find_resumable_runs(&access(), "ACE-7", &|_| true).await.unwrap().items.remove(0);
    assert_eq!((item.title.as_str(), item.workflow.as_str()), ("Three", "three"));
    assert_eq!(item.step.as_ref().map(|(id, _)| id.as_str()), Some("two"));
    assert_eq!(note_texts(&item.recap), ["The login retries twice."]);
    let none = guide.find_resumable_runs(&access(), "", &|_| false).await.unwrap();
    assert!(none.items.is_empty(), "a workflow that may not be run is not shown");

    // A complete run is found by name, and is not in the list of unfinished ones.
    let third = advance(&guide, answer_request(&second, output_inputs(json!({ "n": 1 })))).await.unwrap();
    let end = advance(&guide, answer_request(&third, AttemptInputs::default())).await.unwrap();
    assert!(end.pending.is_none());
    assert_eq!(find("").await, [(other.run, other.node)]);
    assert_eq!(find("ACE-7").await, [(first.run, end.node)]);
    // Until another branch of it begins.
    let fork = advance(&guide, answer_request(&first, notes_inputs("again"))).await.unwrap();
    assert_eq!(find("ACE-7").await, [(first.run, fork.node)]);
}

/// Proves T4: notes that differ by white space at their end are the same answer.
#[tokio::test]
async fn white_space_at_the_end_of_notes_makes_no_other_answer() {
    let library = DefinitionFolder::new();
    let guide = library.guided_runs(Arc::new(MemoryJournal::new()));
    let first = start_in(&guide, "S").await;
    let second = advance(&guide, answer_request(&first, notes_inputs("did it"))).await.unwrap();
    for same in ["did it\n", "did it \r\n\n"] {
        assert_eq!(advance(&guide, answer_request(&first, notes_inputs(same))).await, Ok(second.clone()));
    }
    let other = advance(&guide, answer_request(&first, notes_inputs(" did it"))).await.unwrap();
    assert!(other.branch.forked);
    let none = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
    assert_eq!(advance(&guide, answer_request(&first, notes_inputs(" \n"))).await, Ok(none));
    guide.record_node_checkpoint(&access(), first.run, first.node, "half", render_stamp()).await.unwrap();
    let again =
        guide.record_node_checkpoint(&access(), first.run, first.node, "half\n", render_stamp()).await;
    assert!(again.unwrap().is_repeat);
}

/// Proves T8: an agent that is stuck is stopped, and one that then sends a right answer continues.
#[tokio::test]
async fn blocked_answers_to_one_step_have_a_limit() {
    let library = DefinitionFolder::new();
    let guide = library.guided_runs(Arc::new(MemoryJournal::new()));
    let first = start_in(&guide, "S").await;
    let second = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
    let mut refused = 0;
    for number in 0..105 {
        let wrong = answer_request(&second, output_inputs(json!({ "n": format!("{number}") })));
        match advance(&guide, wrong).await {
            Ok(position) => assert!(position.blocked.is_some() && number < 100),
            Err(GuidedRunError::TooManyAttempts { block, .. }) => {
                assert_eq!(block.needs[0].pointer, "/output/n");
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(refused, 5);
    let again = answer_request(&second, output_inputs(json!({ "n": "0" })));
    assert!(advance(&guide, again).await.unwrap().blocked.is_some(), "a recorded one is replayed");
    let third = advance(&guide, answer_request(&second, output_inputs(json!({ "n": 1 })))).await.unwrap();
    assert!(third.advanced);
}

/// Proves T10: a large context is stored once, not with every node, and every node has all of it.
#[tokio::test]
async fn a_context_that_stays_is_stored_once() {
    let (library, journal) = (DefinitionFolder::new(), MemoryJournal::new());
    let steps: Vec<_> = (0..40)
        .map(|number| {
            json!({ "id": format!("s{number}"), "title": "S", "prompt": "{{ ticket }} {{ text | length }}" })
        })
        .collect();
    library.write(
        "big.json",
        &json!({ "trackway": 1, "id": "big", "name": "Big", "description": "Large.", "version": "1", "steps": steps }),
    );
    let guide = library.guided_runs(Arc::new(journal.clone()));
    let context = json!({ "ticket": "A", "text": "x".repeat(100_000), "list": ["y".repeat(50_000)] });
    let mut at = guide.start_guided_run(&access(), start_request("big", &context)).await.unwrap();
    for number in 0..30 {
        let mut inputs = notes_inputs("n");
        if number == 10 {
            inputs.context.insert("text".into(), json!("z".repeat(7)));
            inputs.context.insert("ticket".into(), json!("B"));
        }
        at = advance(&guide, answer_request(&at, inputs)).await.unwrap();
        let prompt = at.pending.clone().unwrap().prompt;
        assert_eq!(prompt, if number < 10 { "A 100000" } else { "B 7" });
    }
    let log = crate::support::load_events(&journal, at.run).await;
    let bytes: usize = log.iter().map(|event| serde_json::to_vec(event).unwrap().len()).sum();
    assert!(bytes < 4 * 150_000, "{bytes} bytes for 30 answers with 150 kB of context");
}

/// Proves X5: if the store is unavailable, a search for runs can be retried.
#[tokio::test]
async fn a_search_in_a_store_that_is_away_can_be_tried_again() {
    let (library, outage) = (DefinitionFolder::new(), Arc::new(OutageInterceptor::new()));
    let journal = InterceptedJournal::new(Arc::new(MemoryJournal::new()), outage.clone());
    let guide = library.guided_runs(Arc::new(journal));
    let first = start_three(&guide).await;
    outage.begin_outage();
    for query in ["", first.session.as_str(), "words"] {
        let refused = guide.find_resumable_runs(&access(), query, &|_| true).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::StoreBusy, "{query:?}: {refused}");
    }
    outage.end_outage();
    assert_eq!(guide.find_resumable_runs(&access(), "", &|_| true).await.unwrap().items.len(), 1);
}
