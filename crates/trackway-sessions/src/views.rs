//! Sessions as programs read them. Names and meanings stay stable; fields may be added.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use trackway_agent::{ModelUsageReport, ModelUsageTotals};
use trackway_domain::{AckId, DocumentKind, NodeId, RunId, Seq, SessionId, StateName};
use trackway_engine::{RunDocument, RunTree, RunTreeEdge, RunTreeNode, SessionView};

/// One session of a listing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    pub session_id: SessionId,
    pub runs: usize,
    pub workflows: Vec<String>,
    pub created_at: String,
    /// When something was last recorded in it.
    pub updated_at: String,
}

/// A session with its runs and documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionDetail {
    pub session_id: SessionId,
    pub runs: Vec<SessionRun>,
    pub documents: Vec<SessionDocument>,
    /// The usage of model calls; absent if no model was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<SessionUsage>,
}

/// The model usage of the runs of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionUsage {
    #[serde(flatten)]
    pub total: ModelUsageReport,
    /// By the name of the agent.
    pub agents: BTreeMap<String, ModelUsageTotals>,
}

impl SessionUsage {
    /// Adds the usage of a run of this agent.
    pub(super) fn add_run_usage(&mut self, agent: &str, usage_report: &ModelUsageReport) {
        self.total.merge_usage_report(usage_report);
        self.agents.entry(agent.to_owned()).or_default().add_totals(&usage_report.total);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRun {
    pub run_id: RunId,
    pub workflow_id: String,
    /// Hash of the definition, or version of the program.
    pub workflow_hash: String,
    /// `running` or `complete`.
    pub status: &'static str,
    /// How many ends it has: 1 without a fork.
    pub branches: usize,
    /// The state of the run as doors for tasks show it.
    pub state: StateName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<RunId>,
    /// The session of its caller, if the run has a session of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linked_session_id: Option<SessionId>,
    pub created_at: String,
    pub updated_at: String,
    /// Why a part of it cannot be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionDocument {
    pub name: String,
    pub kind: DocumentKind,
    pub run_id: RunId,
    pub value: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// The lineage of a session: one node per snapshot, one edge per answer that advanced.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionGraph {
    pub nodes: Vec<SessionGraphNode>,
    pub edges: Vec<SessionGraphEdge>,
    /// Runs that can be shown only in part; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedGraphRun>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DamagedGraphRun {
    pub run_id: RunId,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionGraphNode {
    pub id: NodeId,
    /// Its number in the run: the short form that `trackway runs fork --node` takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<Seq>,
    pub parent: Option<NodeId>,
    pub run_id: RunId,
    pub step_id: Option<String>,
    pub title: Option<String>,
    pub is_complete: bool,
    pub workflow_hash: String,
    pub at: String,
    /// SHA-256 of its state token, one for each key of the folder, the newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub state_token_hashes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionGraphEdge {
    pub id: String,
    pub from: NodeId,
    pub to: NodeId,
    pub run_id: RunId,
    pub at: String,
    #[serde(skip)]
    pub ack: AckId,
    /// SHA-256 of the ack token of the answer, one for each key of the folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ack_token_hashes: Vec<String>,
}

impl From<&SessionView> for SessionDetail {
    fn from(view: &SessionView) -> Self {
        Self {
            session_id: view.id.clone(),
            runs: view.runs.iter().map(SessionRun::from).collect(),
            documents: view.session_documents().into_iter().map(SessionDocument::from).collect(),
            usage: None,
        }
    }
}

impl From<&RunTree> for SessionRun {
    fn from(track: &RunTree) -> Self {
        let submission = &track.submission;
        Self {
            run_id: track.id(),
            workflow_id: submission.workflow.name.clone(),
            workflow_hash: submission.workflow.version.clone(),
            status: track.guided_status().as_str(),
            branches: track.branch_count(),
            state: if track.damaged.is_some() { StateName::Unknown } else { track.state() },
            parent_id: submission.parent,
            linked_session_id: submission.linked_session.clone(),
            created_at: track.created_at.to_string(),
            updated_at: track.updated_at.to_string(),
            damaged: track.damaged.clone(),
        }
    }
}

impl From<RunDocument> for SessionDocument {
    fn from(document: RunDocument) -> Self {
        Self {
            name: document.name,
            kind: document.kind,
            run_id: document.run,
            value: document.value,
            step_id: document.step,
            node_id: document.node,
            at: document.at.map(|at| at.to_string()),
        }
    }
}

impl From<&SessionView> for SessionGraph {
    fn from(view: &SessionView) -> Self {
        Self {
            nodes: view.run_nodes().map(|(run, node)| to_graph_node(run, node)).collect(),
            edges: view.run_edges().map(|(run, edge)| to_graph_edge(run, edge)).collect(),
            damaged: view
                .damaged_runs()
                .map(|(run, reason)| DamagedGraphRun { run_id: run.id(), reason: reason.to_owned() })
                .collect(),
        }
    }
}

fn to_graph_node(run: &RunTree, node: &RunTreeNode) -> SessionGraphNode {
    SessionGraphNode {
        id: node.id,
        number: node.id.event_number_of_node(run.id()),
        parent: node.parent,
        run_id: run.id(),
        step_id: node.step.clone(),
        title: node.title.clone(),
        is_complete: node.is_workflow_complete(),
        workflow_hash: node.definition.clone(),
        at: node.at.to_string(),
        state_token_hashes: Vec::new(),
    }
}

fn to_graph_edge(run: &RunTree, edge: &RunTreeEdge) -> SessionGraphEdge {
    SessionGraphEdge {
        id: edge.edge_id(),
        from: edge.from,
        to: edge.to,
        run_id: run.id(),
        at: edge.at.to_string(),
        ack: edge.ack,
        ack_token_hashes: Vec::new(),
    }
}
