//! Trees as text.

use serde_json::json;
use trackway::sessions::{SessionGraphEdge, SessionRun};
use trackway_domain::{AckId, RunId, SessionId, StateName};

use super::*;

fn id(number: u128) -> NodeId {
    format!("nod_{number:032x}").parse().unwrap()
}

fn run() -> RunId {
    format!("run_{:032x}", 1).parse().unwrap()
}

/// A graph with these edges; the first node is 1, and 9 is complete.
fn render_graph(edges: &[(u128, u128)]) -> Vec<String> {
    let node = |number: u128, parent: Option<u128>| SessionGraphNode {
        id: id(number),
        number: Some(number as u64 + 2),
        parent: parent.map(id),
        run_id: run(),
        step_id: (number != 9).then(|| format!("s{number}")),
        title: (number != 9).then(|| format!("Step {number}")),
        is_complete: number == 9,
        workflow_hash: String::new(),
        at: String::new(),
        state_token_hashes: Vec::new(),
    };
    let edge = |from: u128, to: u128| SessionGraphEdge {
        id: format!("edg_{to}"),
        from: id(from),
        to: id(to),
        run_id: run(),
        at: String::new(),
        ack: AckId::compact_from_uuid(run().uuid()),
        ack_token_hashes: Vec::new(),
    };
    let mut nodes = vec![node(1, None)];
    nodes.extend(edges.iter().map(|(from, to)| node(*to, Some(*from))));
    let edges = edges.iter().map(|(from, to)| edge(*from, *to)).collect();
    let session = SessionDetail {
        session_id: SessionId::new("s").unwrap(),
        runs: vec![SessionRun {
            run_id: run(),
            workflow_id: "wf".to_owned(),
            workflow_hash: String::new(),
            status: "running",
            branches: 1,
            state: StateName::Working,
            parent_id: None,
            linked_session_id: None,
            created_at: String::new(),
            updated_at: String::new(),
            damaged: None,
        }],
        documents: Vec::new(),
        usage: None,
    };
    assert_eq!(json!(session)["documents"], json!([]));
    render_session_graph(&session, &SessionGraph { nodes, edges, damaged: Vec::new() }).split_off(1)
}

/// Proves T12.
#[test]
fn a_long_run_is_a_column_and_a_fork_moves_in() {
    assert_eq!(
        render_graph(&[(1, 2), (2, 9)]),
        ["  ○ Step 1 [s1] #3", "  ○ Step 2 [s2] #4", "  ● complete #11"]
    );
    assert_eq!(
        render_graph(&[(1, 2), (1, 3), (2, 4), (3, 9), (1, 5)]),
        [
            "  ○ Step 1 [s1] #3",
            "  ├─ ○ Step 2 [s2] #4",
            "  │  ○ Step 4 [s4] #6",
            "  ├─ ○ Step 3 [s3] #5",
            "  │  ● complete #11",
            "  └─ ○ Step 5 [s5] #7",
        ]
    );
}
