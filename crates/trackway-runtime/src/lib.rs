//! The async driver: command → decide → commit → notify.
//!
//! A door calls [`Runtime`]. The runtime loads the run, calls `trackway_engine::decide` and appends the
//! events in one transaction. After the commit, and only then, it folds them into the committed state,
//! notifies watchers, carries out effects and answers. Programs are driven by replay ([`Stage`]); waiting
//! programs are dropped and cost nothing but rows.

mod answer_types;
mod api;
mod append;
mod append_buffer;
mod catalogue;
mod child_limits;
mod command;
mod commit;
mod commit_observer;
mod core;
mod definition_program;
mod deliver;
mod depth_limit;
mod drive;
mod errand;
mod error;
mod fork;
mod guided_runs;
mod hook_messenger;
mod hooks;
mod input_parsing;
mod lease;
mod live_run;
mod options;
mod program;
mod replay;
mod run_watch;
mod runtime;
mod schema;
mod stage;
mod submit;
mod supervisor;
mod system;
mod timers;
mod tool;
mod value_type;
mod wakeups;

pub use api::{DeliverRequest, DeliverResponse, NewHook, RunAddress, RunPin, SubmitRequest, SubmitResponse};
pub use append::{CopiedLog, import_logs};
pub use catalogue::{
    Catalogue, CatalogueEntry, CatalogueListing, FolderWatch, InvalidFile, WatchError, WorkflowLookupError,
    watch_paths,
};
pub use child_limits::ChildLimits;
pub use commit_observer::CommitObserver;
pub use definition_program::{CatalogueSync, DefinitionProgram, DriveRefusal, RegistrationRefusal};
pub use error::Error;
pub use guided_runs::{
    AdvanceRequest, AdvanceResponse, CheckpointResponse, GuidedRunError, GuidedRunOptions, GuidedRuns,
    GuidedStartRequest, MigrateResponse, NodeView, Recap, RecapBranch, RecapDocument, RecapNote,
    ResumableRun, ResumeResults,
};
pub use hook_messenger::{DeliveryError, HookMessenger};
pub use options::Options;
pub use program::{
    Program, ProgramFuture, ProgramInfo, ProgramKind, ProgramLoader, ProgramRegistry, ProgramSkill,
    ProgramStop, ProtocolExtension, RegistryError,
};
pub use replay::{ReplayVerdict, replay, replay_registered};
pub use run_watch::RunWatch;
pub use runtime::Runtime;
pub use schema::{SchemaCache, SchemaError};
pub use stage::{
    Answer, ChildError, KeepAlive, OpenQuestion, QuestionSource, RetryPolicy, SessionHistory, Stage,
    StepAttempt, StepWork,
};
pub use supervisor::TaskSupervisor;
pub use system::{MonotonicClock, SystemClock, SystemIds};
pub use tool::{Tool, ToolCall, ToolFuture, ToolInfo, ToolOutput, Tools};
/// The known name that is nearest to an unknown one.
pub use trackway_definition::nearest;
pub use trackway_domain::Consent;
pub use trackway_engine::ForkRefusal;
pub use trackway_ports::LeaseMode;
pub use value_type::ValueType;
