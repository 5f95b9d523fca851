//! The branches of a run: each end with the steps that lead to it and the documents that they build. What
//! two branches share is shown once, with the first of them.

use std::collections::HashMap;

use trackway_domain::{DocumentKind, NodeId};
use trackway_engine::{Document, RunTree, TreeEdge, TreeNode};

use super::{
    MarkdownPage,
    embedding::{collapse_to_one_line, embed_markdown},
    values,
};

pub(super) fn render_branches(page: &mut MarkdownPage, run: &RunTree) {
    let leaves: Vec<&TreeNode> = run.leaves().collect();
    let tip = run.nodes.last().map(|node| node.id);
    let aside: Vec<Document> =
        run.documents().into_iter().filter(|document| document.node.is_some()).collect();
    // The branch that first showed a node, for branches that begin in the middle of another.
    let mut told: HashMap<NodeId, usize> = HashMap::new();
    for (number, leaf) in leaves.iter().enumerate() {
        let number = number + 1;
        let newest = if Some(leaf.id) == tip && leaves.len() > 1 { ", the newest" } else { "" };
        page.push_heading(3, &format!("Branch {number} of {}{newest}", leaves.len()));
        let path = run.path_to(leaf.id);
        let shared = path.iter().take_while(|edge| told.contains_key(&edge.to)).count();
        let parting = path.get(shared).map(|edge| edge.from);
        if let Some((node, first)) = parting.and_then(|node| told.get(&node).map(|first| (node, first))) {
            let name = run.node(node).map(node_title).unwrap_or_default();
            page.push_paragraph(&format!("Parts from branch {first} at step {}: {name}.", shared + 1));
        }
        for (place, edge) in path.iter().enumerate().skip(shared) {
            let again = told.get(&edge.from).is_some_and(|first| *first != number);
            render_step(page, run, edge, place + 1, &aside, again);
            told.entry(edge.from).or_insert(number);
            told.entry(edge.to).or_insert(number);
        }
        told.entry(leaf.id).or_insert(number);
        render_branch_end(page, leaf, path.len() + 1, &aside);
        for document in run.documents_at_node(leaf.id) {
            page.push_document(4, &document);
        }
    }
}

/// One answered step. Checkpoints of a node that was already shown are not repeated.
fn render_step(
    page: &mut MarkdownPage,
    run: &RunTree,
    edge: &TreeEdge,
    number: usize,
    aside: &[Document],
    again: bool,
) {
    let Some(node) = run.node(edge.from) else { return };
    page.push_heading(4, &format!("{number}. {}", node_title(node)));
    page.push_paragraph(&format!("Step `{}`, answered {}", node_step_id(node), edge.at));
    if !again {
        render_checkpoints(page, aside, node.id);
    }
    for warning in &edge.warnings {
        let (code, message) = (collapse_to_one_line(&warning.code), collapse_to_one_line(&warning.message));
        page.push_paragraph(&format!("Warning `{code}`: {message}"));
    }
    if let Some(notes) = &edge.inputs.notes {
        page.push_paragraph(&embed_markdown(notes, 4));
    }
    if let Some(output) = &edge.inputs.output {
        page.push_value("Output", output);
    }
    page.push_value("Context", &serde_json::Value::Object(edge.inputs.context.clone()));
}

/// Where the branch stops: at its end, or at a step without an answer.
fn render_branch_end(page: &mut MarkdownPage, leaf: &TreeNode, number: usize, aside: &[Document]) {
    if leaf.is_complete() {
        page.push_paragraph(&format!("Complete since {}.", leaf.at));
    } else {
        page.push_heading(4, &format!("{number}. {} (pending)", node_title(leaf)));
        page.push_paragraph(&format!("Step `{}`, waiting since {}", node_step_id(leaf), leaf.at));
    }
    render_checkpoints(page, aside, leaf.id);
}

fn render_checkpoints(page: &mut MarkdownPage, aside: &[Document], node: NodeId) {
    let here =
        |document: &&Document| document.kind == DocumentKind::Checkpoint && document.node == Some(node);
    for document in aside.iter().filter(here) {
        let at = document.at.map(|at| at.to_string()).unwrap_or_default();
        page.push_note(5, &format!("Checkpoint, {at}"), values::as_text(&document.value));
    }
}

fn node_title(node: &TreeNode) -> String {
    collapse_to_one_line(node.title.as_deref().unwrap_or("End"))
}

fn node_step_id(node: &TreeNode) -> String {
    collapse_to_one_line(node.step.as_deref().unwrap_or_default())
}
