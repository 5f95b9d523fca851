//! The branches of a run: each end with the steps that lead to it and the documents that they build. What
//! two branches share is shown once, with the first of them.

use std::collections::HashMap;

use trackway_domain::{DocumentKind, NodeId};
use trackway_engine::{RunDocument, RunTree, RunTreeEdge, RunTreeNode};

use super::{
    MarkdownPage,
    embedded_markdown::{collapse_to_one_line, embed_markdown_below_heading},
    markdown_values,
};

pub(super) fn render_run_branches(page: &mut MarkdownPage, run: &RunTree) {
    let leaves: Vec<&RunTreeNode> = run.leaf_nodes().collect();
    let tip = run.nodes.last().map(|node| node.id);
    let aside: Vec<RunDocument> =
        run.run_documents().into_iter().filter(|document| document.node.is_some()).collect();
    // The branch that first showed a node, for branches that begin in the middle of another.
    let mut told: HashMap<NodeId, usize> = HashMap::new();
    for (number, leaf) in leaves.iter().enumerate() {
        let number = number + 1;
        let newest = if Some(leaf.id) == tip && leaves.len() > 1 { ", the newest" } else { "" };
        page.push_heading(3, &format!("Branch {number} of {}{newest}", leaves.len()));
        let path = run.answers_on_path_to(leaf.id);
        let shared = path.iter().take_while(|edge| told.contains_key(&edge.to)).count();
        let parting = path.get(shared).map(|edge| edge.from);
        if let Some((node, first)) = parting.and_then(|node| told.get(&node).map(|first| (node, first))) {
            let name = run.find_node(node).map(node_title).unwrap_or_default();
            page.push_paragraph(&format!("Parts from branch {first} at step {}: {name}.", shared + 1));
        }
        for (place, edge) in path.iter().enumerate().skip(shared) {
            let again = told.get(&edge.from).is_some_and(|first| *first != number);
            render_answered_step(page, run, edge, place + 1, &aside, again);
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
fn render_answered_step(
    page: &mut MarkdownPage,
    run: &RunTree,
    edge: &RunTreeEdge,
    number: usize,
    checkpoint_documents: &[RunDocument],
    is_repeated: bool,
) {
    let Some(node) = run.find_node(edge.from) else { return };
    page.push_heading(4, &format!("{number}. {}", node_title(node)));
    page.push_paragraph(&format!("Step `{}`, answered {}", node_step_id(node), edge.at));
    if !is_repeated {
        render_node_checkpoints(page, checkpoint_documents, node.id);
    }
    for warning in &edge.warnings {
        let (code, message) = (collapse_to_one_line(&warning.code), collapse_to_one_line(&warning.message));
        page.push_paragraph(&format!("Warning `{code}`: {message}"));
    }
    if let Some(notes) = &edge.inputs.notes {
        page.push_paragraph(&embed_markdown_below_heading(notes, 4));
    }
    if let Some(output) = &edge.inputs.output {
        page.push_titled_value("Output", output);
    }
    page.push_titled_value("Context", &serde_json::Value::Object(edge.inputs.context.clone()));
}

/// Where the branch stops: at its end, or at a step without an answer.
fn render_branch_end(
    page: &mut MarkdownPage,
    leaf: &RunTreeNode,
    number: usize,
    checkpoint_documents: &[RunDocument],
) {
    if leaf.is_workflow_complete() {
        page.push_paragraph(&format!("Complete since {}.", leaf.at));
    } else {
        page.push_heading(4, &format!("{number}. {} (pending)", node_title(leaf)));
        page.push_paragraph(&format!("Step `{}`, waiting since {}", node_step_id(leaf), leaf.at));
    }
    render_node_checkpoints(page, checkpoint_documents, leaf.id);
}

fn render_node_checkpoints(page: &mut MarkdownPage, checkpoint_documents: &[RunDocument], node: NodeId) {
    let here =
        |document: &&RunDocument| document.kind == DocumentKind::Checkpoint && document.node == Some(node);
    for document in checkpoint_documents.iter().filter(here) {
        let at = document.at.map(|at| at.to_string()).unwrap_or_default();
        page.push_titled_markdown(
            5,
            &format!("Checkpoint, {at}"),
            markdown_values::string_value_or_empty(&document.value),
        );
    }
}

fn node_title(node: &RunTreeNode) -> String {
    collapse_to_one_line(node.title.as_deref().unwrap_or("End"))
}

fn node_step_id(node: &RunTreeNode) -> String {
    collapse_to_one_line(node.step.as_deref().unwrap_or_default())
}
