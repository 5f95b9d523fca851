//! The model: the expected responses and records, in their simplest form.

use std::collections::{BTreeMap, BTreeSet};

use trackway_domain::{
    AckId, AttemptOutcome, BranchPosition, Event, GuidedNode, GuidedRunEvent, NodeId, RunId, StateName,
};
use trackway_ports::Journal;
use trackway_runtime::{ConsentStatus, GuidedAdvanceRequest, GuidedNodeView, GuidedRuns};

use crate::support::{access, event_names, load_events, pending_step_id, render_stamp};

/// The steps of the workflow, and the end after them.
const STEPS: [Option<&str>; 4] = [Some("one"), Some("two"), Some("three"), None];

#[derive(Debug, Default)]
pub(super) struct Model {
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    id: RunId,
    nodes: Vec<ModelNode>,
    /// Each recorded answer, with its response.
    answers: Vec<(GuidedAdvanceRequest, GuidedNodeView)>,
    notes: BTreeSet<(usize, String)>,
}

/// A node.
#[derive(Debug, Clone)]
pub(super) struct ModelNode {
    pub(super) run: RunId,
    pub(super) id: NodeId,
    parent: Option<NodeId>,
    /// Which of [`STEPS`] is pending.
    place: usize,
    branches: u32,
    /// The response when it was created.
    pub(super) shown: GuidedNodeView,
    /// Acks that were offered for it.
    pub(super) acks: Vec<AckId>,
}

/// The result of an answer.
#[derive(Debug)]
pub(super) enum AdvanceResult {
    AskedFirst,
    Told(Box<GuidedNodeView>),
}

impl ModelNode {
    fn new(shown: GuidedNodeView, parent: Option<NodeId>, place: usize) -> Self {
        assert_eq!(pending_step_id(&shown), STEPS[place]);
        assert_eq!(shown.ack.is_some(), STEPS[place].is_some(), "an ack where something is pending");
        let acks = shown.ack.into_iter().collect();
        Self { run: shown.run, id: shown.node, parent, place, branches: 0, shown, acks }
    }
}

impl Model {
    pub(super) fn on_started(&mut self, told: &GuidedNodeView) {
        assert_eq!(told.branch, BranchPosition { forked: false, index: 0, siblings: 1 });
        assert!(self.runs.iter().all(|run| run.id != told.run), "a run of its own");
        let nodes = vec![ModelNode::new(told.clone(), None, 0)];
        let (answers, notes) = (Vec::new(), BTreeSet::new());
        self.runs.push(Run { id: told.run, nodes, answers, notes });
    }

    /// One of the existing nodes.
    pub(super) fn pick_node(&self, run: usize, node: usize) -> Option<(usize, usize)> {
        let run = run % self.runs.len().max(1);
        let nodes = &self.runs.get(run)?.nodes;
        Some((run, node % nodes.len()))
    }

    pub(super) fn node(&self, run: usize, node: usize) -> ModelNode {
        self.runs[run].nodes[node].clone()
    }

    /// One of the recorded answers.
    pub(super) fn find_answer(
        &self,
        run: usize,
        answer: usize,
    ) -> Option<(GuidedAdvanceRequest, GuidedNodeView)> {
        let answers = &self.runs.get(run % self.runs.len().max(1))?.answers;
        answers.get(answer % answers.len().max(1)).cloned()
    }

    pub(super) fn on_inspected(&mut self, run: usize, node: usize, seen: &GuidedNodeView) {
        let at = &mut self.runs[run].nodes[node];
        assert_eq!((seen.node, pending_step_id(seen)), (at.id, STEPS[at.place]));
        assert_eq!(seen.pending, at.shown.pending);
        assert_eq!(seen.branch, at.shown.branch);
        assert!(seen.ack.is_none_or(|ack| !at.acks.contains(&ack)), "a fresh one");
        at.acks.extend(seen.ack);
    }

    pub(super) fn on_checkpoint(&mut self, run: usize, node: usize, text: String, repeated: bool) {
        let first = self.runs[run].notes.insert((node, text));
        assert_eq!(repeated, !first);
    }

    pub(super) fn on_advanced(
        &mut self,
        run: usize,
        node: usize,
        sent: GuidedAdvanceRequest,
        came: AdvanceResult,
    ) {
        let run = &mut self.runs[run];
        let same = |(known, _): &&(GuidedAdvanceRequest, GuidedNodeView)| {
            (known.node, known.ack, &known.inputs) == (sent.node, sent.ack, &sent.inputs)
        };
        let before = run.answers.iter().find(same).map(|(_, told)| told.clone());
        let at = &mut run.nodes[node];
        let fits = at.place != 1 || sent.inputs.output.is_some();
        let wants_agreement = at.place == 2;
        let told = match came {
            AdvanceResult::AskedFirst => {
                let asks = wants_agreement && fits && sent.consent == ConsentStatus::NotAskedYet;
                assert!(asks && before.is_none(), "nobody had to be asked");
                return;
            }
            AdvanceResult::Told(told) => *told,
        };
        if let Some(before) = before {
            assert_eq!(told, before, "the same answer is told the same");
            return;
        }
        let declined = wants_agreement && sent.consent == ConsentStatus::Answered(false);
        assert!(!(wants_agreement && sent.consent == ConsentStatus::NotAskedYet), "a person is asked");
        assert_eq!(told.blocked.is_some(), !fits || declined);
        if told.blocked.is_some() {
            assert_eq!((told.node, &told.pending), (at.id, &at.shown.pending));
            at.acks.extend(told.ack);
        } else {
            let (index, place) = (at.branches, at.place + 1);
            let branch = BranchPosition { forked: index > 0, index, siblings: index + 1 };
            assert_eq!(told.branch, branch);
            at.branches += 1;
            let parent = at.id;
            assert!(run.nodes.iter().all(|known| known.id != told.node), "a node of its own");
            run.nodes.push(ModelNode::new(told.clone(), Some(parent), place));
        }
        run.answers.push((sent, told));
    }

    /// Everything that the store holds, against every response.
    pub(super) async fn check_store(&self, guide: &GuidedRuns, journal: &dyn Journal) {
        for run in &self.runs {
            let log = load_events(journal, run.id).await;
            let (lineage, edges) = lineage(&log);
            let expected: BTreeMap<_, _> =
                run.nodes.iter().map(|at| (at.id, (at.parent, STEPS[at.place]))).collect();
            let found: BTreeMap<_, _> = lineage
                .iter()
                .map(|(id, node)| {
                    let step = node.pending.as_ref().map(|pending| pending.step.as_str());
                    (*id, (node.parent, step))
                })
                .collect();
            assert_eq!(found, expected);
            assert_eq!(edges, run.nodes.len() - 1, "one for each node but the first");
            let count = |name| event_names(&log).iter().filter(|known| **known == name).count();
            assert_eq!(count("attempted"), run.answers.len());
            assert_eq!(count("checkpointed"), run.notes.len());
            let complete = run.nodes.iter().any(|at| STEPS[at.place].is_none());
            assert_eq!(count("completed"), usize::from(complete));
            let row = journal.find_run(run.id).await.unwrap().expect("its row");
            let state = if complete { StateName::Completed } else { StateName::Working };
            assert_eq!((row.state, row.runnable, row.parked), (state, false, false));
            for at in &run.nodes {
                let seen = guide.inspect_node(&access(), at.run, at.id, render_stamp()).await.unwrap();
                assert_eq!((seen.pending, seen.hash), (at.shown.pending.clone(), at.shown.hash.clone()));
                assert_eq!(seen.branch, at.shown.branch);
            }
        }
    }
}

/// The nodes in a log, and how many answers advanced from one to another.
fn lineage(log: &[Event]) -> (BTreeMap<NodeId, GuidedNode>, usize) {
    let (mut nodes, mut edges) = (BTreeMap::new(), 0);
    for event in log {
        let Event::Guided(guided) = event else { continue };
        match &**guided {
            GuidedRunEvent::Opened { node, .. } => nodes.insert(node.id, node.clone()),
            GuidedRunEvent::Attempted(attempt) => match &attempt.outcome {
                AttemptOutcome::Advanced(node) => {
                    edges += 1;
                    assert_eq!(node.parent, Some(attempt.node));
                    nodes.insert(node.id, node.clone())
                }
                AttemptOutcome::Blocked(_) => None,
            },
            GuidedRunEvent::Checkpointed(_) | GuidedRunEvent::Repinned { .. } => None,
        };
    }
    (nodes, edges)
}
