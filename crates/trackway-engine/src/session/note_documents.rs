//! Notes and checkpoints: each is its own document, on whichever branch it was recorded.

use trackway_domain::{DocumentKind, Timestamp, WorkflowRef};

use super::{RunDocument, RunTree, RunTreeEdge, run_tree::RunTreeNote};

/// A note on the session itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionNote<'a> {
    pub at: Timestamp,
    pub markdown: &'a str,
}

pub(super) fn session_notes_of_run(notes_run: &RunTree) -> impl Iterator<Item = SessionNote<'_>> {
    notes_run.checkpoints.iter().map(|note| SessionNote { at: note.at, markdown: &note.checkpoint.notes })
}

/// The run's notes and checkpoints in the order in which they were recorded.
pub(super) fn note_documents_of_run(run_tree: &RunTree) -> Vec<RunDocument> {
    let mut found: Vec<(u64, RunDocument)> = Vec::new();
    for edge in &run_tree.edges {
        found.extend(note_documents_of_edge(run_tree, edge).into_iter().map(|document| (edge.seq, document)));
    }
    for note in &run_tree.checkpoints {
        found.push((note.seq, checkpoint_document(run_tree, note)));
    }
    found.sort_by_key(|(seq, _)| *seq);
    found.into_iter().map(|(_, document)| document).collect()
}

/// The notes that the interpreter declared, or else the notes that came with the answer.
fn note_documents_of_edge(run_tree: &RunTree, edge: &RunTreeEdge) -> Vec<RunDocument> {
    let step = run_tree.find_node(edge.from).and_then(|node| node.step.clone());
    let document = |name: String, kind, value| RunDocument {
        name,
        kind,
        run: run_tree.id(),
        value,
        step: step.clone(),
        node: Some(edge.from),
        at: Some(edge.at),
    };
    let declared: Vec<RunDocument> = edge
        .documents
        .iter()
        .filter(|change| !super::run_documents::is_reducible(change.kind))
        .map(|change| document(change.name.clone(), change.kind, change.value.clone()))
        .collect();
    match &edge.inputs.notes {
        Some(notes) if declared.is_empty() => {
            let name = step.clone().unwrap_or_else(|| "notes".to_owned());
            vec![document(name, DocumentKind::Notes, notes.as_str().into())]
        }
        _ => declared,
    }
}

fn checkpoint_document(run_tree: &RunTree, note: &RunTreeNote) -> RunDocument {
    let node = note.checkpoint.node;
    let name = if run_tree.submission.workflow.is_session_notes_workflow() {
        WorkflowRef::SESSION_NOTES
    } else {
        "checkpoint"
    };
    RunDocument {
        name: name.to_owned(),
        kind: DocumentKind::Checkpoint,
        run: run_tree.id(),
        value: note.checkpoint.notes.as_str().into(),
        step: node.and_then(|id| run_tree.find_node(id)).and_then(|node| node.step.clone()),
        node,
        at: Some(note.at),
    }
}
