//! `trackway sessions graph`: how the runs of a session branched.

use std::{collections::HashMap, sync::Arc};

use trackway::sessions::{SessionDetail, SessionGraph, SessionGraphNode};
use trackway_domain::NodeId;
use trackway_mcp::{AckPlace, KeyRing, NodePlace};
use trackway_sqlite::FolderKeys;

use crate::{
    args::SessionGraphArgs, cli_error::CliError, exit_status::ExitStatus, output_streams, text_format,
};

pub(super) async fn print_session_graph(args: &SessionGraphArgs) -> Result<ExitStatus, CliError> {
    let SessionGraphArgs { session: args, token_hashes } = args;
    let view = super::open_sessions_reader(&args.owner)?.load_session(&args.id).await?;
    let graph = SessionGraph::from(&view);
    if args.owner.json {
        let folder = &args.owner.data.folder;
        let ring = match token_hashes {
            true => KeyRing::open_existing(Arc::new(FolderKeys::in_folder(folder)))
                .await
                .map_err(|error| CliError::from_error(&error))?,
            false => None,
        };
        // Token hashes depend on the keys of the folder: the same session has other hashes elsewhere.
        let graph = match &ring {
            Some(ring) => add_token_hashes(graph, ring),
            None => graph,
        };
        output_streams::write_stdout_json_line(&graph)?;
        return Ok(ExitStatus::Done);
    }
    for line in render_session_graph(&SessionDetail::from(&view), &graph) {
        output_streams::write_stdout_line(&text_format::replace_control_chars(&line))?;
    }
    Ok(ExitStatus::Done)
}

/// Adds the hashes of the tokens, to recognise a token from a chat.
fn add_token_hashes(mut graph: SessionGraph, ring: &KeyRing) -> SessionGraph {
    for node in &mut graph.nodes {
        let place = NodePlace { run: node.run_id, node: node.id };
        node.state_token_hashes = ring.state_token_hashes(place);
    }
    for edge in &mut graph.edges {
        let place = NodePlace { run: edge.run_id, node: edge.from };
        edge.ack_token_hashes = ring.ack_token_hashes(AckPlace { node_ref: place, ack: edge.ack });
    }
    graph
}

fn render_session_graph(session: &SessionDetail, graph: &SessionGraph) -> Vec<String> {
    let mut children: HashMap<Option<NodeId>, Vec<&SessionGraphNode>> = HashMap::new();
    for node in &graph.nodes {
        // The first node of a run may have a parent in another run.
        let parent = node.parent.filter(|_| graph.edges.iter().any(|edge| edge.to == node.id));
        children.entry(parent).or_default().push(node);
    }
    let mut lines = Vec::new();
    for run in &session.runs {
        let damaged = run.damaged.as_ref().map(|reason| format!(", damaged: {reason}"));
        let damaged = damaged.unwrap_or_default();
        lines.push(format!("{} {} ({}{damaged})", run.workflow_id, run.run_id, run.status));
        let roots = children.get(&None).into_iter().flatten();
        for root in roots.filter(|node| node.run_id == run.run_id) {
            render_node_tree(root, &children, &mut lines);
        }
    }
    lines
}

/// A line per node. Only a fork indents its branches, so a long run stays one column.
fn render_node_tree(
    root: &SessionGraphNode,
    children: &HashMap<Option<NodeId>, Vec<&SessionGraphNode>>,
    lines: &mut Vec<String>,
) {
    let mut waiting = vec![(root, "  ".to_owned(), "")];
    while let Some((node, indent, knot)) = waiting.pop() {
        lines.push(format!("{indent}{knot}{}", graph_node_label(node)));
        let below = match knot {
            "├─ " => format!("{indent}│  "),
            "└─ " => format!("{indent}   "),
            _ => indent,
        };
        let next = children.get(&Some(node.id)).map_or(&[][..], Vec::as_slice);
        // Pushed in reverse order, because the stack returns the last one first.
        for (place, child) in next.iter().enumerate().rev() {
            let knot = match next.len() {
                1 => "",
                count if place + 1 == count => "└─ ",
                _ => "├─ ",
            };
            waiting.push((child, below.clone(), knot));
        }
    }
}

/// The step that waits at the node, and the number for `trackway runs fork --node`.
fn graph_node_label(node: &SessionGraphNode) -> String {
    let number = node.number.map(|number| format!(" #{number}")).unwrap_or_default();
    match (&node.title, &node.step_id) {
        (Some(title), Some(step)) => format!("○ {title} [{step}]{number}"),
        _ => format!("● complete{number}"),
    }
}

#[cfg(test)]
mod tests;
