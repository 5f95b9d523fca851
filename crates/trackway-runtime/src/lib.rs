//! The async driver: command → decide → commit → notify.
//!
//! A door calls [`Runtime`]. The runtime loads the run, calls `trackway_engine::decide` and appends the
//! events in one transaction. After the commit, and only then, it folds them into the committed state,
//! notifies watchers, carries out effects and answers. Programs are driven by replay ([`Stage`]); waiting
//! programs are dropped and cost nothing but rows.

mod answer_types;
mod append;
mod append_buffer;
mod catalogue;
mod child_limits;
mod command_execution;
mod commit_handling;
mod commit_observer;
mod definition_program;
mod errand_runner;
mod error;
mod fork;
mod guided_runs;
mod hook_messenger;
mod hook_queue;
mod input_parsing;
mod json_depth_limit;
mod live_run;
mod message_delivery;
mod options;
mod program;
mod program_drive;
mod replay_check;
mod request_types;
mod run_submission;
mod run_watch;
mod runtime;
mod runtime_core;
mod schema_cache;
mod stage;
mod step_note_release;
mod system_clock_and_ids;
mod task_supervisor;
mod timers;
mod tool;
mod value_type;
mod wakeups;
mod worker_lease;

pub use append::{CopiedRunLog, import_copied_logs};
pub use catalogue::{
    Catalogue, CatalogueEntry, CatalogueListing, FolderWatch, FolderWatchError, InvalidDefinitionFile,
    WorkflowLookupError, watch_paths_for_changes,
};
pub use child_limits::ChildLimits;
pub use commit_observer::CommitObserver;
pub use definition_program::{CatalogueSync, DefinitionProgram, DriveRefusal, RegistrationRefusal};
pub use error::Error;
pub use guided_runs::{
    GuidedAdvanceRequest, GuidedAdvanceResponse, GuidedCheckpointResponse, GuidedMigrateResponse,
    GuidedNodeView, GuidedRunError, GuidedRunOptions, GuidedRuns, GuidedStartRequest, NodeRecap,
    NotesOutcome, RecapBranch, RecapDocument, RecapNote, ResumableRun, ResumeResults,
};
pub use hook_messenger::{HookDeliveryError, HookMessenger};
pub use options::Options;
pub use program::{
    Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramLoader, ProgramRegistry, ProgramSkill,
    ProgramStop, ProtocolExtension, RegistryError,
};
pub use replay_check::{ReplayVerdict, replay_program_on_log, replay_with_registered_program};
pub use request_types::{
    DeliverMessageRequest, DeliverMessageResponse, NewHook, RunAddress, RunPin, SubmitRunRequest,
    SubmitRunResponse,
};
pub use run_watch::RunWatch;
pub use runtime::Runtime;
pub use schema_cache::{SchemaCache, SchemaError};
pub use stage::{
    Answer, ChildError, KeepInMemoryGuard, OpenQuestion, QuestionSource, RetryPolicy, SessionHistory, Stage,
    StepAttempt, StepWork,
};
pub use system_clock_and_ids::{MonotonicClock, SystemClock, SystemIds};
pub use task_supervisor::TaskSupervisor;
pub use tool::{
    ArgumentsSchema, Tool, ToolCallContext, ToolFuture, ToolInfo, ToolOrigin, ToolOutput, ToolSource,
    ToolSourceSnapshot, Tools, UnavailableTool,
};
/// The known name that is nearest to an unknown one.
pub use trackway_definition::nearest_known_word;
pub use trackway_domain::ConsentStatus;
pub use trackway_engine::ForkRefusal;
pub use trackway_ports::LeaseMode;
pub use value_type::ValueType;
