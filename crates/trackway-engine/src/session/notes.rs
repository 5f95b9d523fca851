//! Notes and checkpoints: each is its own document, on whichever branch it was recorded.

use trackway_domain::{DocumentKind, Timestamp, WorkflowRef};

use super::{Document, RunTree, TreeEdge, run_tree::TreeNote};

/// A note on the session itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionNote<'a> {
    pub at: Timestamp,
    pub markdown: &'a str,
}

pub(super) fn session_notes(keeper: &RunTree) -> impl Iterator<Item = SessionNote<'_>> {
    keeper.checkpoints.iter().map(|note| SessionNote { at: note.at, markdown: &note.checkpoint.notes })
}

/// The run's notes and checkpoints in the order in which they were recorded.
pub(super) fn note_documents_of_run(track: &RunTree) -> Vec<Document> {
    let mut found: Vec<(u64, Document)> = Vec::new();
    for edge in &track.edges {
        found.extend(note_documents_of_edge(track, edge).into_iter().map(|document| (edge.seq, document)));
    }
    for note in &track.checkpoints {
        found.push((note.seq, checkpoint_document(track, note)));
    }
    found.sort_by_key(|(seq, _)| *seq);
    found.into_iter().map(|(_, document)| document).collect()
}

/// The notes that the interpreter declared, or else the notes that came with the answer.
fn note_documents_of_edge(track: &RunTree, edge: &TreeEdge) -> Vec<Document> {
    let step = track.node(edge.from).and_then(|node| node.step.clone());
    let document = |name: String, kind, value| Document {
        name,
        kind,
        run: track.id(),
        value,
        step: step.clone(),
        node: Some(edge.from),
        at: Some(edge.at),
    };
    let declared: Vec<Document> = edge
        .documents
        .iter()
        .filter(|change| !super::document::is_reducible(change.kind))
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

fn checkpoint_document(track: &RunTree, note: &TreeNote) -> Document {
    let node = note.checkpoint.node;
    let name =
        if track.submission.workflow.is_session_notes() { WorkflowRef::SESSION_NOTES } else { "checkpoint" };
    Document {
        name: name.to_owned(),
        kind: DocumentKind::Checkpoint,
        run: track.id(),
        value: note.checkpoint.notes.as_str().into(),
        step: node.and_then(|id| track.node(id)).and_then(|node| node.step.clone()),
        node,
        at: Some(note.at),
    }
}
