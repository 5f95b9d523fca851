//! What must be true at the end of a sweep.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};
use trackway_domain::{Event, RunId, StateName, Timestamp};
use trackway_engine::{RunView, visible_update};
use trackway_ports::{Journal, StoredEvent};

use crate::{
    ClientHistory, IdNormalizer, RecordingMessenger, TestWorld, comparable_view, list_runs_to_drive,
    visible_events,
};

use super::artifact_checks::assert_index_follows_logs;

/// What was recorded when a process died.
pub(super) struct RecordedSteps {
    /// Idempotency keys of the steps whose outcome is in a log.
    steps: HashSet<String>,
    /// How many side effects had happened.
    done: usize,
}

/// The final result.
pub(super) struct SweepOutcome {
    logs: BTreeMap<RunId, Vec<StoredEvent>>,
    /// Each run's updates and view, without ids and times: the first run, then the others.
    pub(super) normalized: Vec<Value>,
}

async fn load_logs(journal: &dyn Journal) -> BTreeMap<RunId, Vec<StoredEvent>> {
    let rows = journal.list_runs(Default::default(), None, usize::MAX).await.expect("the store can be read");
    let mut logs = BTreeMap::new();
    for row in rows {
        let log = crate::load_full_log(journal, row.id).await.expect("the store can be read");
        logs.insert(row.id, log);
    }
    logs
}

pub(super) fn load_recorded_steps(world: &TestWorld, done: &[String]) -> RecordedSteps {
    let logs = world.inspect_store(async |journal| load_logs(&*journal).await);
    let key = |run: &RunId, stored: &StoredEvent| match &stored.event {
        Event::StepDone { op, .. } => Some(format!("{run}/{op}")),
        _ => None,
    };
    let steps = logs.iter().flat_map(|(run, log)| log.iter().filter_map(move |stored| key(run, stored)));
    RecordedSteps { steps: steps.collect(), done: done.len() }
}

pub(super) fn load_outcome(world: &TestWorld, children_alike: bool) -> SweepOutcome {
    let logs = world.inspect_store(async |journal| {
        let left = journal.list_outbox(None, 9).await.expect("the store can be read");
        assert!(left.is_empty(), "nothing is owed any more: {left:?}");
        let to_drive = list_runs_to_drive(&*journal).await;
        assert!(to_drive.is_empty(), "nothing is to be driven any more: {to_drive:?}");
        let timer = journal.next_timer_due(Default::default()).await.expect("the store can be read");
        assert_eq!(timer, None, "no timer is left");
        let untold = journal.next_hook_due(Timestamp(i64::MIN)).await.expect("it can be read");
        assert_eq!(untold, None, "nothing is to be delivered any more");
        let logs = load_logs(&*journal).await;
        for (run, log) in &logs {
            let row = journal.find_run(*run).await.expect("the store can be read").expect("its row");
            let view = fold_view(log);
            let shown = (view.state, view.status_at);
            assert_eq!((row.state, row.status_at), shown, "{run} is listed as it is shown");
        }
        logs
    });
    assert_index_follows_logs(world, &logs);
    let mut names = IdNormalizer::new();
    let mut plain = Vec::new();
    for run in order_parents_first(&logs) {
        let log = &logs[&run];
        assert_one_lifecycle(run, log);
        // Which of several children waits first, and whether that is reported before it continues,
        // depends on timing.
        let chance =
            |it: &&StoredEvent| matches!(it.event, Event::ChildWaits { .. } | Event::ChildResumed { .. });
        let log = &log.iter().filter(|it| !chance(it)).cloned().collect::<Vec<_>>();
        let view = fold_view(log);
        if !children_alike {
            assert_eq!(view.state, StateName::Canceled, "{run}, a child of a cancelled family");
        }
        if plain.is_empty() || children_alike {
            plain.push(
                names.normalize(&json!({ "updates": visible_events(log), "view": comparable_view(&view) })),
            );
        }
    }
    SweepOutcome { logs, normalized: plain }
}

/// The first run, then its children in the order of their starts, each followed by its own children.
fn order_parents_first(logs: &BTreeMap<RunId, Vec<StoredEvent>>) -> Vec<RunId> {
    let mut ordered = Vec::new();
    let mut next: Vec<RunId> = logs.keys().next().copied().into_iter().collect();
    while let Some(run) = next.pop() {
        // A child whose parent ended first was never started.
        let Some(log) = logs.get(&run) else { continue };
        ordered.push(run);
        let children = log.iter().rev().filter_map(|stored| match stored.event {
            Event::ChildStarted { child, .. } => Some(child),
            _ => None,
        });
        next.extend(children);
    }
    assert_eq!(ordered.len(), logs.len(), "every run is the first one or a child");
    ordered
}

fn fold_view(log: &[StoredEvent]) -> RunView {
    let Event::Submitted(submission) = &log[0].event else { panic!("a log begins with its submission") };
    let mut view = RunView::from_submission((**submission).clone().into(), log[0].at, log[0].pos);
    log[1..].iter().for_each(|stored| view.apply_event(&stored.event, stored.at, stored.pos));
    view
}

/// A run starts once, enters `working` once for each start and resume, and ends once. This holds for
/// every log.
pub fn assert_one_lifecycle(run: RunId, log: &[StoredEvent]) {
    let names: Vec<_> = log.iter().map(|stored| stored.event.event_name()).collect();
    let count = |name| names.iter().filter(|other| **other == name).count();
    assert_eq!(count("submitted"), 1, "{run}: {names:?}");
    assert!(count("started") <= 1, "{run}: {names:?}");
    let ends = ["completed", "failed", "canceled", "rejected"].map(count);
    assert_eq!(ends.iter().sum::<usize>(), 1, "{run} ends once: {names:?}");
    assert!(log.iter().zip(1..).all(|(stored, seq)| stored.seq == seq), "{run} has no gap");
    assert!(log.is_sorted_by(|a, b| a.pos < b.pos), "{run} is in the order of the store");
    let mut steps = HashMap::new();
    for stored in log {
        if let Event::StepDone { op, .. } = &stored.event {
            let before = steps.insert(op.clone(), stored.seq);
            assert_eq!(before, None, "{run} records {op} once");
        }
    }
}

/// Everything that a watcher saw at any time is a prefix of what is stored now.
pub(super) fn assert_watchers_saw_prefix(visit: &ClientHistory, ending: &SweepOutcome) {
    for (run, lists) in visit.observed_events() {
        let log = &ending.logs[&run];
        for seen in lists {
            assert!(seen.len() <= log.len(), "{run} showed more than there is");
            assert_eq!(seen, log[..seen.len()], "{run} showed something else than there is");
        }
    }
}

/// Every update of the client's run was delivered at least once, and in order: only the last one may be
/// repeated.
pub(super) fn assert_all_updates_delivered(postbox: &RecordingMessenger, ending: &SweepOutcome) {
    let letters = postbox.successful_deliveries();
    let run = letters.first().expect("something was told").run;
    let log = &ending.logs[&run];
    assert!(letters.is_sorted_by_key(|letter| letter.seq), "in order: {letters:?}");
    assert!(letters.iter().all(|letter| letter.run == run && letter.view_seq == letter.seq));
    let mut told: Vec<_> = letters.iter().map(|letter| letter.seq).collect();
    told.dedup();
    let shown = log.iter().filter(|stored| visible_update(&stored.event).is_some());
    assert_eq!(told, shown.map(|stored| stored.seq).collect::<Vec<_>>(), "{run} is told whole");
}

/// No step ran again after its outcome was recorded, and no step ran twice without a crash in between.
pub(super) fn assert_no_step_repeated(recorded: &[RecordedSteps], done: &[String]) {
    for crash in recorded {
        for key in &done[crash.done..] {
            assert!(!crash.steps.contains(key), "{key} was recorded, and done again");
        }
    }
    let mut bounds: Vec<usize> = recorded.iter().map(|crash| crash.done).collect();
    bounds.push(done.len());
    let mut from = 0;
    for to in bounds {
        let mut once = HashSet::new();
        for key in &done[from..to] {
            // A step that failed and was tried again has one line for each attempt.
            assert!(once.insert(key), "{key} was done twice by one process");
        }
        from = to;
    }
}
