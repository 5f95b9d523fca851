//! Runs as JSON: what the REST API sends and accepts, and what the command line prints.
//!
//! Names are camelCase and times are RFC 3339. Messages, parts and artifacts have their A2A shape.
//! Requests refuse unknown keys. Answers may get new keys, which readers must skip.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_agent::ModelUsageReport;
use trackway_domain::{
    Event, ForkPoint, InterruptReason, NodeId, Position, QuestionId, ReplayMismatch, RunId, Seq, SessionId,
    StateName, ValidationError,
};

use super::message_content::{Artifact, Message, Part};

/// `POST /api/runs`: what to start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartRequest {
    pub workflow: String,
    pub input: Value,
    /// The session it joins; a new one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Files that go along with the input. Each becomes a part of the message, and so an artifact of the
    /// session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<AttachedFile>,
}

impl StartRequest {
    /// In a session of its own, without files.
    pub fn new(workflow: impl Into<String>, input: Value) -> Self {
        Self { workflow: workflow.into(), input, session_id: None, files: Vec::new() }
    }
}

/// A file that goes along with an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AttachedFile {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its content in base64.
    pub bytes: String,
}

/// `POST /api/runs/{id}/resume`: an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResumeRequest {
    pub input: Value,
    /// The question it answers; the open one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_id: Option<QuestionId>,
}

/// `POST /api/runs/{id}/fork`: where to continue from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForkRequest {
    /// Number of the last event that the fork shares. If absent, the last point from which the run
    /// could continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Seq>,
    /// The session that the fork joins; that of the original if absent. In another session an ended
    /// run may be forked at its end, so that a new conversation can begin with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// `GET /api/runs/{id}/definition`: the definition of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PinnedDefinition {
    /// The normal form of the workflow definition that the run is pinned to, as the text that was
    /// hashed; null if a program runs it.
    pub definition: Option<String>,
}

/// Which runs a list shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunListFilter {
    pub workflow: Option<String>,
    /// Any of these; every state if empty.
    pub states: Vec<StateName>,
    pub session: Option<SessionId>,
    /// Runs older than this one: the `next` of the page before.
    pub before: Option<RunId>,
    pub limit: usize,
}

/// One page of runs, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunList {
    pub runs: Vec<RunSummary>,
    /// Where the next page begins (`before`); absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<RunId>,
}

/// One run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    pub id: RunId,
    pub session_id: SessionId,
    pub workflow: String,
    pub version: String,
    pub state: StateName,
    /// The program does not fit the log; the run waits for a program that does.
    pub parked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<RunId>,
    pub created_at: String,
    pub updated_at: String,
}

/// One run with all its details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunDetail {
    #[serde(flatten)]
    pub summary: RunSummary,
    pub input: Value,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionView>,
    /// The message of its current status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// Every message but that one, oldest first.
    pub history: Vec<Message>,
    pub artifacts: Vec<Artifact>,
    /// Runs that its messages refer to: its children.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<String>,
    /// The output of a completed run; absent if there is none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// Why it is parked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<ReplayMismatch>,
    /// The run that it was forked from, and the last event that they share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkPoint>,
    /// The session of its caller, if the run has a session of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked_session_id: Option<SessionId>,
    /// The usage of its model calls. Only in the answer for a single run, and absent if it called no
    /// model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ModelUsageReport>,
    /// The log was imported: nothing drives the run until a user adopts it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
    /// Why its log cannot be read to the end. The data ends before the damage, and the state is
    /// `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
    /// The position of an outside agent in it. Only in the answer for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guided: Option<GuidedDetail>,
    /// What is left out because the answer would be too large. The pages of events contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<OmittedDetail>,
    /// Position of its newest event.
    pub pos: Position,
}

/// The position of an outside agent in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GuidedDetail {
    /// Hash of the definition of the newest node.
    pub workflow_hash: String,
    pub branches: usize,
    /// The steps that wait, one for each branch that is not complete.
    pub pending: Vec<PendingStepView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingStepView {
    pub node_id: NodeId,
    pub step: String,
    pub title: String,
}

/// How many of the oldest messages are left out, and which artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedDetail {
    pub messages: usize,
    pub artifacts: Vec<String>,
    /// How many parts of the status message, or of the artifact chunk, are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parts: usize,
    /// Whole fields, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The answer to a resume.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResumeResponse {
    pub run: RunDetail,
    /// The result of the check; absent if no question was open any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ResumeRank>,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ValidationError>,
    /// Position before the answer was recorded: a stream of its effects begins after it.
    pub after: Position,
}

/// The rank of a request among the requests to the same question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumeRank {
    /// 1 for the first request to this question.
    pub request_order: u32,
    pub concurrent_request: bool,
    /// This is the one that resumed the run.
    pub primary_resume: bool,
}

/// An open question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionView {
    pub id: QuestionId,
    pub reason: InterruptReason,
    /// The text of the question.
    pub prompt: Vec<Part>,
    /// JSON Schema that an answer must satisfy.
    pub schema: Value,
    /// What was wrong with the previous answer, if the question is asked again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ValidationError>,
}

/// One thing that happened to a run, for people: a line of `trackway run --json`, the data of one
/// event of `/api/runs/{id}/stream`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunUpdate {
    /// Position in the log; grows.
    pub pos: Position,
    #[serde(flatten)]
    pub what: RunUpdateKind,
    pub run_id: RunId,
    pub at: String,
    /// Nothing follows.
    #[serde(rename = "final")]
    pub last: bool,
    /// What is left out because the update would be too large. The run's events contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<OmittedDetail>,
}

impl RunUpdate {
    /// The runs that it refers to: started children.
    pub fn referenced_child_runs(&self) -> impl Iterator<Item = RunId> {
        let message = match &self.what {
            RunUpdateKind::Status { message, .. } => message.as_ref(),
            RunUpdateKind::Task { .. } | RunUpdateKind::Artifact { .. } => None,
        };
        message.into_iter().flat_map(|message| &message.reference_task_ids).filter_map(|id| id.parse().ok())
    }
}

/// What happened, distinguished by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RunUpdateKind {
    /// The run exists. Always the first.
    Task {
        state: StateName,
        session_id: SessionId,
        workflow: String,
        version: String,
        input: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_id: Option<RunId>,
    },
    Status {
        state: StateName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Message>,
        /// The run waits for an answer to this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<QuestionView>,
        /// The request that resumed the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume: Option<ResumeRank>,
        /// The output of a completed run.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        output: Value,
        /// Why the run is parked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<ReplayMismatch>,
    },
    Artifact {
        artifact: Artifact,
        /// Extends the artifact of the same id instead of replacing it.
        append: bool,
        /// Nothing more will be appended.
        last_chunk: bool,
    },
}

/// One page of a run's recorded events, as they are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventPage {
    /// Format of the events; see `trackway-ports`.
    pub format: u32,
    pub events: Vec<EventRecord>,
    /// Where the next page begins (`after`); absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Position>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    pub pos: Position,
    pub seq: Seq,
    pub at: String,
    pub name: String,
    pub event: Event,
}
