//! Two processes on one folder answer the same node at once.

use std::{path::Path, sync::Arc};

use futures_util::future::join_all;
use trackway_domain::AttemptInputs;
use trackway_ports::Journal;
use trackway_runtime::{GuidedNodeView, GuidedRuns};
use trackway_sqlite::SqliteJournal;

use crate::support::{
    DefinitionFolder, advance, answer_request, event_names, load_events, notes_inputs, start_three,
};

/// Calls in flight at each of the two.
const CALLS: usize = 16;

fn open(folder: &Path) -> Arc<dyn Journal> {
    Arc::new(SqliteJournal::open(folder).unwrap())
}

/// All at once, half of them through the one and half through the other.
async fn advance_concurrently(
    guides: &[GuidedRuns; 2],
    inputs: impl Fn(usize) -> AttemptInputs,
    at: &GuidedNodeView,
) -> Vec<GuidedNodeView> {
    let calls = (0..2 * CALLS).map(|number| {
        let (guide, sent) = (guides[number % 2].clone(), answer_request(at, inputs(number)));
        tokio::spawn(async move { advance(&guide, sent).await.unwrap() })
    });
    join_all(calls).await.into_iter().map(Result::unwrap).collect()
}

/// Proves T4: one attempt is recorded, and every caller gets the same response.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_answer_at_once_is_recorded_once() {
    let (library, folder) = (DefinitionFolder::new(), tempfile::tempdir().unwrap());
    let journals = [open(folder.path()), open(folder.path())];
    let guides = [0, 1].map(|index: usize| library.guided_runs(journals[index].clone()));
    let mut at = start_three(&guides[0]).await;
    let run = at.run;
    let mut attempts = 0;
    for _ in 0..10 {
        let told = advance_concurrently(&guides, |_| AttemptInputs::default(), &at).await;
        assert!(told.iter().all(|position| *position == told[0]), "{told:?}");
        attempts += 1;
        // The second step needs an output: from there on all of them are blocked.
        at = told[0].clone();
        let log = load_events(&*journals[1], run).await;
        let recorded = event_names(&log).into_iter().filter(|name| *name == "attempted").count();
        assert_eq!(recorded, attempts);
    }
    join_all(journals.iter().map(|journal| journal.close_store())).await;
}

/// Proves T6: none of several branches at once is lost, and each has its own number.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn other_answers_at_once_are_other_branches() {
    let (library, folder) = (DefinitionFolder::new(), tempfile::tempdir().unwrap());
    let journals = [open(folder.path()), open(folder.path())];
    let guides = [0, 1].map(|index: usize| library.guided_runs(journals[index].clone()));
    let first = start_three(&guides[0]).await;
    let told = advance_concurrently(&guides, |number| notes_inputs(&number.to_string()), &first).await;
    let mut indexes: Vec<_> = told.iter().map(|position| position.branch.index).collect();
    indexes.sort_unstable();
    assert!(indexes.into_iter().eq(0..2 * CALLS as u32));
    for position in &told {
        let branch = position.branch;
        assert_eq!((branch.forked, branch.siblings), (branch.index > 0, branch.index + 1));
    }
    join_all(journals.iter().map(|journal| journal.close_store())).await;
}
