//! Pure decisions: what a command does to a run, and what clients see of it.
//!
//! [`decide`] is the only function that makes decisions about a run: it takes a run and a command and
//! returns events, effects and a reply. `fork` and `import` define what a copied log becomes. [`Run`]
//! and [`RunView`] are folds of events: [`Run`] holds what decisions need, [`RunView`] what people see.
//! [`transition`] is the only way from one state to another, live and on replay. Nothing here is async,
//! reads a clock or makes an id by itself.

mod agent_messages;
mod bounded_view;
mod decide;
mod decision_env;
mod effect;
mod first_answer;
#[cfg(test)]
mod fixture;
mod fork;
mod input;
mod refusal;
mod run;
mod session;
mod status_time;
mod transition;
mod update;
mod view;

pub use bounded_view::{BoundedUpdate, BoundedView, OmittedContent, ViewLimits, value_bytes};
pub use decide::{decide, event_for_import, guided_run_accepts};
pub use decision_env::{DecisionEnv, SchemaChecker};
pub use effect::{CommandReply, Decision, DeliveryOutcome, Effect, GuidedReply};
pub use fork::{ForkOptions, ForkRefusal, ForkedRun, fork_run};
pub use input::{input_from_parts, parse_answer, parse_yes_or_no, required_properties};
pub use refusal::{IllegalTransition, Refusal};
pub use run::{FirstAnswerWaiter, OpenChild, QuestionRecord, ReceivedAnswer, Run};
pub use session::{
    Document, GuidedRunStatus, RunTree, RunTreeError, SessionNote, SessionView, TreeEdge, TreeNode,
    reduce_documents,
};
pub use status_time::StatusTime;
pub use transition::{TRANSITIONS, transition};
pub use update::{ResumeRank, StatusUpdate, Update, is_visible, visible_update};
pub use view::RunView;
