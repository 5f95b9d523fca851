//! Pure decisions: what a command does to a run, and what clients see of it.
//!
//! [`decide`] is the only function that makes decisions about a run: it takes a run and a command and
//! returns events, effects and a reply. `fork` and `import` define what a copied log becomes. [`Run`]
//! and [`RunView`] are folds of events: [`Run`] holds what decisions need, [`RunView`] what people see.
//! [`transition`] is the only way from one state to another, live and on replay. Nothing here is async,
//! reads a clock or makes an id by itself.

mod agent_messages;
mod artifact_index;
mod bounded_view;
mod decide;
mod decision_effects;
mod decision_env;
mod first_answer;
#[cfg(test)]
mod fixture;
mod fork;
mod message_input;
mod refusal;
mod run;
mod run_updates;
mod run_view;
mod session;
mod state_transition;
mod status_time;

pub use artifact_index::{
    artifact_index_entries, attached_files, attachment_filename, is_conversation_artifact_id,
    media_type_from_content, media_type_from_filename,
};
pub use bounded_view::{
    BoundedRunUpdate, BoundedRunView, OmittedContent, RunViewLimits, approximate_json_bytes,
};
pub use decide::{check_guided_run_accepts_events, decide, imported_event_if_resumable};
pub use decision_effects::{
    CommandReply, Decision, DecisionEffect, GuidedCommandReply, MessageDeliveryOutcome,
};
pub use decision_env::{DecisionEnv, SchemaChecker};
pub use fork::{ForkOptions, ForkRefusal, ForkedRun, fork_run};
pub use message_input::{input_from_parts, parse_question_answer, parse_yes_or_no, required_properties};
pub use refusal::{CommandRefusal, IllegalTransition};
pub use run::{FirstAnswerWaiter, OpenChild, QuestionRecord, ReceivedFirstAnswer, Run};
pub use run_updates::{AnswerRequestRank, StatusUpdate, VisibleUpdate, is_visible, visible_update};
pub use run_view::{RunView, extend_artifact};
pub use session::{
    GuidedRunStatus, RunDocument, RunTree, RunTreeEdge, RunTreeError, RunTreeNode, SessionNote, SessionView,
    documents_from_changes,
};
pub use state_transition::{TRANSITIONS, transition};
pub use status_time::StatusTime;
