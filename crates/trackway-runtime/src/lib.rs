//! The async driver: command → decide → commit → tell.
//!
//! A door calls [`Runtime`]; the runtime loads the run, asks `trackway_engine::decide`, appends the
//! events in one transaction and, after the commit and only then, folds them into what is shown,
//! tells watchers, carries out effects and answers. Programs are driven by replay ([`Stage`]);
//! waiting programs are dropped and cost nothing but rows.

mod ancestry;
mod answer_types;
mod api;
mod append;
mod buffer;
mod catalogue;
mod command;
mod commit;
mod core;
mod deliver;
mod depth;
mod drive;
mod errand;
mod error;
mod fork;
mod guide;
mod hooks;
mod lease;
mod live;
mod locked_file;
mod messenger;
mod observer;
mod options;
mod program;
mod reading;
mod replay;
mod runtime;
mod schema;
mod stage;
mod submit;
mod supervise;
mod timers;
mod tool;
mod value_type;
mod wakeups;
mod watch;
mod world;
mod written;

pub use ancestry::ChildLimits;
pub use api::{Answered, Deliver, Hold, NewHook, RunAddress, Submit, Submitted};
pub use append::{CopiedLog, import_logs};
pub use catalogue::{
    Catalogue, Invalid, Known, Listing, NotKnown, Unwatchable, Watching, watch_paths,
};
pub use error::Error;
pub use guide::{
    Advance, Advanced, Checkpointed, Guide, GuideError, GuideOptions, Migrated, Position, Recap,
    RecapDocument, RecapGrowth, RecapNote, Resumable, Resumed, Start,
};
pub use locked_file::{FileStamp, LockedFile};
pub use messenger::{Messenger, Undelivered};
pub use observer::Observer;
pub use options::Options;
pub use program::{
    Extension, Kind, Program, ProgramFuture, ProgramInfo, Registry, RegistryError, Revive, Skill,
    Stop,
};
pub use replay::{ReplayVerdict, replay, replay_with};
pub use runtime::Runtime;
pub use schema::{SchemaBook, SchemaError};
pub use stage::{
    Answer, Archive, Asker, Attempt, ChildError, OpenQuestion, RetryPolicy, Stage, Stay, StepWork,
};
pub use supervise::Supervisor;
pub use tool::{Tool, ToolCall, ToolFuture, ToolInfo, ToolOutput, Tools};
/// What somebody probably meant by a name that is not known.
pub use trackway_definition::nearest;
pub use trackway_domain::Consent;
pub use trackway_engine::CannotFork;
pub use trackway_ports::LeaseTerm;
pub use value_type::ValueType;
pub use watch::Watch;
pub use world::{SteadyClock, SystemClock, SystemIds};
pub use written::{Declined, DefinitionProgram, Offers, Unfit};
