//! The branches of a run: each end with the steps that lead to it and the documents that they add up
//! to. What two branches share is told once, with the first of them.

use std::collections::HashMap;

use trackway_domain::{DocumentKind, NodeId};
use trackway_engine::{Document, RunTrack, TrackEdge, TrackNode};

use super::{
    Page,
    source::{inside, one_line},
    values,
};

pub(super) fn show(page: &mut Page, run: &RunTrack) {
    let leaves: Vec<&TrackNode> = run.leaves().collect();
    let tip = run.nodes.last().map(|node| node.id);
    let aside: Vec<Document> =
        run.documents().into_iter().filter(|document| document.node.is_some()).collect();
    // The branch in which a node was told of, for those that begin in the middle of another.
    let mut told: HashMap<NodeId, usize> = HashMap::new();
    for (number, leaf) in leaves.iter().enumerate() {
        let number = number + 1;
        let newest = if Some(leaf.id) == tip && leaves.len() > 1 { ", the newest" } else { "" };
        page.heading(3, &format!("Branch {number} of {}{newest}", leaves.len()));
        let path = run.path(leaf.id);
        let shared = path.iter().take_while(|edge| told.contains_key(&edge.to)).count();
        let parting = path.get(shared).map(|edge| edge.from);
        if let Some((node, first)) =
            parting.and_then(|node| told.get(&node).map(|first| (node, first)))
        {
            let name = run.node(node).map(title).unwrap_or_default();
            page.paragraph(&format!("Parts from branch {first} at step {}: {name}.", shared + 1));
        }
        for (place, edge) in path.iter().enumerate().skip(shared) {
            let again = told.get(&edge.from).is_some_and(|first| *first != number);
            step(page, run, edge, place + 1, &aside, again);
            told.entry(edge.from).or_insert(number);
            told.entry(edge.to).or_insert(number);
        }
        told.entry(leaf.id).or_insert(number);
        end(page, leaf, path.len() + 1, &aside);
        for document in run.documents_at(leaf.id) {
            page.document(4, &document);
        }
    }
}

/// One answered step. Checkpoints of a node that was told of before are not told again.
fn step(
    page: &mut Page,
    run: &RunTrack,
    edge: &TrackEdge,
    number: usize,
    aside: &[Document],
    again: bool,
) {
    let Some(node) = run.node(edge.from) else { return };
    page.heading(4, &format!("{number}. {}", title(node)));
    page.paragraph(&format!("Step `{}`, answered {}", step_id(node), edge.at));
    if !again {
        checkpoints(page, aside, node.id);
    }
    for warning in &edge.warnings {
        let (code, message) = (one_line(&warning.code), one_line(&warning.message));
        page.paragraph(&format!("Warning `{code}`: {message}"));
    }
    if let Some(notes) = &edge.inputs.notes {
        page.paragraph(&inside(notes, 4));
    }
    if let Some(output) = &edge.inputs.output {
        page.value("Output", output);
    }
    page.value("Context", &serde_json::Value::Object(edge.inputs.context.clone()));
}

/// Where the branch stops: at its end, or at a step that nobody has answered.
fn end(page: &mut Page, leaf: &TrackNode, number: usize, aside: &[Document]) {
    if leaf.is_complete() {
        page.paragraph(&format!("Complete since {}.", leaf.at));
    } else {
        page.heading(4, &format!("{number}. {} (pending)", title(leaf)));
        page.paragraph(&format!("Step `{}`, waiting since {}", step_id(leaf), leaf.at));
    }
    checkpoints(page, aside, leaf.id);
}

fn checkpoints(page: &mut Page, aside: &[Document], node: NodeId) {
    let here = |document: &&Document| {
        document.kind == DocumentKind::Checkpoint && document.node == Some(node)
    };
    for document in aside.iter().filter(here) {
        let at = document.at.map(|at| at.to_string()).unwrap_or_default();
        page.note(5, &format!("Checkpoint, {at}"), values::text(&document.value));
    }
}

fn title(node: &TrackNode) -> String {
    one_line(node.title.as_deref().unwrap_or("End"))
}

fn step_id(node: &TrackNode) -> String {
    one_line(node.step.as_deref().unwrap_or_default())
}
